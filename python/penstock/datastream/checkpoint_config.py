"""CheckpointConfig and what it takes, under PyFlink's path."""

from __future__ import annotations

from penstock.datastream.externalized_checkpoint_retention import ExternalizedCheckpointCleanup
from penstock.datastream.program.checkpoint_config import CheckpointConfig

__all__ = ["CheckpointConfig", "ExternalizedCheckpointCleanup"]
