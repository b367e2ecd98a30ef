"""RuntimeExecutionMode: how a program is to be run."""

from __future__ import annotations

from enum import Enum


class RuntimeExecutionMode(Enum):
    """STREAMING: every update is emitted; BATCH: one result per key at the end; AUTOMATIC: by the sources'
    boundedness."""

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2

    @property
    def batch(self) -> bool:
        """Whether a program runs in BATCH mode; under AUTOMATIC it does unless one of its sources never ends."""
        return self is not RuntimeExecutionMode.STREAMING
