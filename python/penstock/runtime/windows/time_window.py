"""The windows themselves: an interval of time, a number of elements, and the one global window."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple, Protocol, TypeVar

from penstock.runtime.buffers.signals import MAX_WATERMARK

W_contra = TypeVar("W_contra", contravariant=True)


class Window(Protocol):
    """The interface of every window, also one of a program's own (PyFlink: ``Window``)."""

    def max_timestamp(self) -> int:
        """The last time in it."""
        ...


class MergeCallback(Protocol[W_contra]):
    """Takes what ``merge_windows`` merges (PyFlink: ``MergingWindowAssigner.MergeCallback``)."""

    def merge(self, to_be_merged: Collection[W_contra], merge_result: W_contra, /) -> None:
        """Some windows become another one."""
        ...


class TimeWindow(NamedTuple):
    """The times from ``start`` to before ``end``, in milliseconds (PyFlink: ``TimeWindow``)."""

    start: int
    end: int

    def max_timestamp(self) -> int:
        """The last time in it; at most Long.MAX_VALUE, so that the end of the input reaches it."""
        last = self.end - 1
        return last if last < MAX_WATERMARK else MAX_WATERMARK

    def intersects(self, other: TimeWindow) -> bool:
        """Whether the windows overlap or touch."""
        return self.start <= other.end and self.end >= other.start

    def cover(self, other: TimeWindow) -> TimeWindow:
        """The smallest window around both."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """Start of the window of a size, aligned to an offset, that holds a time. Flink takes Java's remainder,
        which is negative below the offset, and so puts some times into a window that does not hold them."""
        return timestamp - (timestamp - offset) % window_size

    @staticmethod
    def merge_windows(windows: Iterable[TimeWindow], callback: MergeCallback[TimeWindow]) -> None:
        """Merge windows that overlap or touch, in any order; the callback gets every group of more than one.
        O(n log n)."""
        group: list[TimeWindow] = []
        whole: TimeWindow | None = None
        for window in sorted(set(windows)):
            if whole is not None and whole.intersects(window):
                whole = whole.cover(window)
                group.append(window)
                continue
            if whole is not None and len(group) > 1:
                callback.merge(group, whole)
            group, whole = [window], window
        if whole is not None and len(group) > 1:
            callback.merge(group, whole)


class CountWindow(NamedTuple):
    """The window of that number among those that hold some elements each (PyFlink: ``CountWindow``)."""

    id: int

    def max_timestamp(self) -> int:
        return MAX_WATERMARK


class GlobalWindow:
    """The one window of GlobalWindows; there is a single object of it in a process, so it compares by identity."""

    __slots__ = ()

    def __new__(cls) -> GlobalWindow:
        return _MADE[0] if _MADE else super().__new__(cls)

    @staticmethod
    def get() -> GlobalWindow:
        return GLOBAL_WINDOW

    def max_timestamp(self) -> int:
        return MAX_WATERMARK

    def __reduce__(self) -> str:
        return "GLOBAL_WINDOW"

    def __repr__(self) -> str:
        return "GlobalWindow"


_MADE: list[GlobalWindow] = []
GLOBAL_WINDOW = GlobalWindow()
_MADE.append(GLOBAL_WINDOW)
GLOBAL = (GLOBAL_WINDOW,)
