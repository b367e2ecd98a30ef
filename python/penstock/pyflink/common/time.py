"""The names of PyFlink's ``pyflink.common.time``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.time import Duration, Time
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import Instant

__all__ = [
    "Duration",
    "Instant",
    "Time",
    "get_gateway",
]
