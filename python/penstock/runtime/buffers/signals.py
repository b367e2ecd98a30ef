"""Signals among the records of a stream: watermarks, idleness, latency markers. In a buffer each is ``(index of the
record after it, kind, payload)``. An idle channel does not hold back the watermark. Source: Flink 1.11."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

MIN_WATERMARK = -0x8000000000000000  # Long.MIN_VALUE: no watermark yet
MAX_WATERMARK = 0x7FFFFFFFFFFFFFFF  # Long.MAX_VALUE: the end of time, and of the input
WATERMARK, STATUS, LATENCY = 0, 1, 2
"""Kinds of signals; the payload is the watermark, or 1 for active and 0 for idle, or a latency marker."""

Signal = tuple[int, int, Any]
Signals = list[Signal]
Advance = Callable[[int], None]  # takes a watermark


class ChannelStatus(NamedTuple):
    """The status of a channel after its signals so far."""

    watermark: int = MIN_WATERMARK
    active: bool = True


class LatencyMarker(NamedTuple):
    """Travels from a source through the operators, which measure how long it took. At a branch it goes one way."""

    time: int
    operator_id: str
    subtask: int
