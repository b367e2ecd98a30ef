"""Connectors under PyFlink's path: only the base of sources so far."""
