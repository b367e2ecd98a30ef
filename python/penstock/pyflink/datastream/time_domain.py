"""The names of PyFlink's ``pyflink.datastream.time_domain``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.time_domain import TimeDomain

__all__ = [
    "TimeDomain",
]
