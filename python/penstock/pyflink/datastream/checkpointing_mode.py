"""The names of PyFlink's ``pyflink.datastream.checkpointing_mode``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.datastream.checkpointing_mode import CheckpointingMode
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "CheckpointingMode",
    "get_gateway",
]
