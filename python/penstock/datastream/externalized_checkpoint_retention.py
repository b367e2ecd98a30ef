"""ExternalizedCheckpointRetention: what becomes of Flink's checkpoints. None are taken here. Source of the names:
``pyflink.datastream.ExternalizedCheckpointRetention``."""

from __future__ import annotations

from enum import Enum


class ExternalizedCheckpointRetention(Enum):
    """What becomes of checkpoints when their job is cancelled."""

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2


ExternalizedCheckpointCleanup = ExternalizedCheckpointRetention
"""Its name in 1.x."""
