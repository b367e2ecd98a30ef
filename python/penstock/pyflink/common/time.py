"""The names of PyFlink's ``pyflink.common.time``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.time import Duration, Instant, Time
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "Duration",
    "Instant",
    "Time",
    "get_gateway",
]
