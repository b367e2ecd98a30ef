"""CheckpointingMode under PyFlink's path."""

from __future__ import annotations

from penstock.datastream.program.program import CheckpointingMode

__all__ = ["CheckpointingMode"]
