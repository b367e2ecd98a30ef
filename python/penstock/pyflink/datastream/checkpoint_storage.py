"""The names of PyFlink's ``pyflink.datastream.checkpoint_storage``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import (
    CheckpointStorage,
    CustomCheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)

__all__ = [
    "CheckpointStorage",
    "CustomCheckpointStorage",
    "FileSystemCheckpointStorage",
    "JobManagerCheckpointStorage",
    "get_gateway",
]
