"""What travels among the records of a stream: watermarks and idleness.

A *watermark* t says that no record with a timestamp of t or less is to come; MAX_WATERMARK is the end of the input. An
*idle* channel has nothing to say for now and holds nobody back. Inside a chain signals are calls; in a buffer each is
``(index of the record it stands before, kind, payload)``.

Source of the semantics: ``Watermark`` and ``StreamStatus`` (Flink 1.11).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

MIN_WATERMARK = -0x8000000000000000
"""Long.MIN_VALUE: nothing is known of the time."""
MAX_WATERMARK = 0x7FFFFFFFFFFFFFFF
"""Long.MAX_VALUE: the end of time, and of the input."""

WATERMARK, STATUS = 0, 1
"""Kinds of signals; the payload is the watermark, or 1 for active and 0 for idle."""

Signal = tuple[int, int, int]
Signals = list[Signal]
Advance = Callable[[int], None]
"""Takes a watermark."""


def _nobody(watermark: int) -> None:
    """Nobody asks for the time."""


def advance_all(targets: Sequence[Advance]) -> Advance:
    """One function in front of several that take a watermark in their order."""
    if not targets:
        return _nobody
    if len(targets) == 1:
        return targets[0]

    def advance(watermark: int) -> None:
        for target in targets:
            target(watermark)

    return advance
