"""The windows themselves: an interval of time, and the one global window."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from penstock.runtime.buffers.signals import MAX_WATERMARK


class Window(Protocol):
    """What every window has, also one of a program's own (PyFlink: ``Window``)."""

    def max_timestamp(self) -> int:
        """The last time in it."""
        ...


class TimeWindow(NamedTuple):
    """The times from ``start`` to before ``end``, in milliseconds (PyFlink: ``TimeWindow``)."""

    start: int
    end: int

    def max_timestamp(self) -> int:
        """The last time in it; at most Long.MAX_VALUE, so that the end of the input reaches it."""
        return min(self.end - 1, MAX_WATERMARK)

    def intersects(self, other: TimeWindow) -> bool:
        """Whether the windows overlap or touch."""
        return self.start <= other.end and self.end >= other.start

    def cover(self, other: TimeWindow) -> TimeWindow:
        """The smallest window around both."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """Start of the window of a size, aligned to an offset, that holds a time.

        Flink takes Java's remainder, which is negative below the offset, and so puts some times into a window that does
        not hold them.
        """
        return timestamp - (timestamp - offset) % window_size


class GlobalWindow:
    """The one window of GlobalWindows; there is a single object of it in a process, so it compares by identity."""

    __slots__ = ()

    def max_timestamp(self) -> int:
        """Long.MAX_VALUE."""
        return MAX_WATERMARK

    def __reduce__(self) -> str:
        return "GLOBAL_WINDOW"

    def __repr__(self) -> str:
        return "GlobalWindow"


GLOBAL_WINDOW = GlobalWindow()
GLOBAL = (GLOBAL_WINDOW,)
