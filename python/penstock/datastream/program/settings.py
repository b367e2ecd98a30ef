"""Enumerations of the environment's settings."""

from __future__ import annotations

from enum import Enum


class CheckpointingMode(Enum):
    """What a restored job guarantees of its state."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1


class TimeCharacteristic(Enum):
    """What time means to operators that do not say so themselves (Flink 1.11; event time only in later versions)."""

    ProcessingTime = 0
    IngestionTime = 1
    EventTime = 2
