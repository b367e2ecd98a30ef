"""Which PyFlink the names are those of."""

from __future__ import annotations

__version__ = "2.3.0"  # the newest PyFlink whose names are here; those of 1.20 are here too
