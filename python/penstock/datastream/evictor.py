"""Evictors, for ``windowed.evictor(…)``. They stand in :mod:`penstock.runtime.windows`, as they travel and run."""

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
