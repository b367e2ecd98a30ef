"""The names of PyFlink's ``pyflink.datastream.checkpoint_config``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.time import Duration
from penstock.datastream.checkpointing_mode import CheckpointingMode
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import (
    CheckpointConfig,
    CheckpointStorage,
    ExternalizedCheckpointCleanup,
    ExternalizedCheckpointRetention,
)

__all__ = [
    "CheckpointConfig",
    "CheckpointStorage",
    "CheckpointingMode",
    "Duration",
    "ExternalizedCheckpointCleanup",
    "ExternalizedCheckpointRetention",
    "get_gateway",
]
