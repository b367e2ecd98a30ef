"""The names of PyFlink's ``pyflink.datastream.slot_sharing_group``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.datastream.slot_sharing_group import MemorySize, SlotSharingGroup
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "MemorySize",
    "SlotSharingGroup",
    "get_gateway",
]
