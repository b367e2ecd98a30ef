"""The names of PyFlink's ``pyflink.datastream.checkpoint_config``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.time import Duration
from penstock.datastream.checkpoint_config import CheckpointConfig, ExternalizedCheckpointCleanup
from penstock.datastream.checkpoint_storage import CheckpointStorage
from penstock.datastream.checkpointing_mode import CheckpointingMode
from penstock.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "CheckpointConfig",
    "CheckpointStorage",
    "CheckpointingMode",
    "Duration",
    "ExternalizedCheckpointCleanup",
    "ExternalizedCheckpointRetention",
    "get_gateway",
]
