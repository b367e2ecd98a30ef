"""What PyFlink's own tests, and those of programs written like them, import as ``pyflink.testing``."""
