"""Savepoints of the real PyFlink: decoded, and their programs run again."""
