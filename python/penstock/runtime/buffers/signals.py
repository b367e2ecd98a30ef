"""Signals among the records of a stream: watermarks, idleness, latency markers.

A *watermark* t says that no record with a timestamp up to t will follow; MAX_WATERMARK is the end of the input. An
*idle* channel does not hold back the watermark. Inside a chain signals are calls; in a buffer each is ``(index of the
record after it, kind, payload)``.

Sources of the semantics: ``Watermark``, ``StreamStatus``, ``LatencyMarker`` (Flink 1.11).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

MIN_WATERMARK = -0x8000000000000000
"""Long.MIN_VALUE: no watermark yet."""
MAX_WATERMARK = 0x7FFFFFFFFFFFFFFF
"""Long.MAX_VALUE: the end of time, and of the input."""

WATERMARK, STATUS, LATENCY = 0, 1, 2
"""Kinds of signals; the payload is the watermark, or 1 for active and 0 for idle, or a latency marker."""

Signal = tuple[int, int, Any]
Signals = list[Signal]
Advance = Callable[[int], None]
"""Takes a watermark."""


class LatencyMarker(NamedTuple):
    """Travels from a source through the operators, which measure how long it took (Flink: LatencyMarker). At a branch
    it goes one way."""

    time: int
    operator_id: str
    subtask: int
