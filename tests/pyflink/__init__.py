"""The drop-in for PyFlink's programs: the names that PyFlink has, programs that import them, and where it deviates."""
