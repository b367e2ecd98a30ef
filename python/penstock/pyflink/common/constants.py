"""The names of PyFlink's ``pyflink.common.constants``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import DEFAULT_OUTPUT_TAG, MAX_LONG_VALUE, MIN_LONG_VALUE

__all__ = [
    "DEFAULT_OUTPUT_TAG",
    "MAX_LONG_VALUE",
    "MIN_LONG_VALUE",
]
