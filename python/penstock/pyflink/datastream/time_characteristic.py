"""The names of PyFlink's ``pyflink.datastream.time_characteristic``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.datastream.time_characteristic import TimeCharacteristic
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "TimeCharacteristic",
    "get_gateway",
]
