"""Runs PyFlink's own tests on Penstock."""
