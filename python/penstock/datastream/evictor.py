"""Evictors, for ``windowed.evictor(…)``. They are defined in :mod:`penstock.runtime.windows`, as they run in tasks."""

from __future__ import annotations

from penstock.runtime.windows.evictors import (
    CountEvictor,
    DeltaEvictor,
    Evictor,
    EvictorContext,
    TimeEvictor,
    TimestampedValue,
)

__all__ = ["CountEvictor", "DeltaEvictor", "Evictor", "EvictorContext", "TimeEvictor", "TimestampedValue"]
