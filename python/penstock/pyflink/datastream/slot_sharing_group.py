"""The names of PyFlink's ``pyflink.datastream.slot_sharing_group``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import MemorySize, SlotSharingGroup

__all__ = [
    "MemorySize",
    "SlotSharingGroup",
    "get_gateway",
]
