"""Merging windows: sessions that touch become one.

Per key there is a map from each live window to its *state window*, under which the contents are kept: that of the first
of the windows that have become one. Which one is first, and in what order the others' elements come after its own, is
the iteration order of a Java HashSet.

Where Flink loses data, this does not: a new window that equals a live one adds to it, also after a merge (Flink maps it
to itself and so forgets what was under the first state window).

Source of the semantics: ``MergingWindowSet``, ``TimeWindow.mergeWindows`` (Flink 1.11). Cost: O(live windows of the
key) per element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.windows.time_window import TimeWindow

STATE = "merging-window-set"
"""Flink's name of the state that holds the map."""

_MASK64 = (1 << 64) - 1

OnMerge = Callable[[TimeWindow, list[TimeWindow], TimeWindow, list[TimeWindow]], None]
"""(merged window, windows in it, its state window, the other state windows) → None."""


def _hash(window: TimeWindow) -> int:
    """The low 32 bits of Java's mix of start + end, spread as HashMap does."""
    x = (window.start + window.end) & _MASK64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK64
    h = (x ^ x >> 31) & 0xFFFFFFFF
    return h ^ h >> 16


def java_order(windows: list[TimeWindow], size: int) -> list[TimeWindow]:
    """Windows in the order in which a Java HashSet gives them that they entered by start.

    Args:
        windows: what is in the set now.
        size: the largest number of windows the set has held.
    """
    buckets = 16
    while size > buckets * 3 // 4:
        buckets *= 2
    return sorted(windows, key=lambda window: (_hash(window) & buckets - 1, window.start))


class MergingWindows:
    """The live windows of the current key.

    Args:
        keyed: the operator's state.
    """

    def __init__(self, keyed: KeyedState) -> None:
        self._keyed = keyed
        self._table = keyed.table(STATE)

    def _live(self) -> dict[TimeWindow, TimeWindow]:
        return self._table.setdefault(self._keyed.slot, {})

    def state_window(self, window: TimeWindow) -> Any:
        """The window under which the contents of a live one are kept, None if it is not alive."""
        return self._table.get(self._keyed.slot, {}).get(window)

    def retire(self, window: TimeWindow) -> None:
        """A window is over."""
        live = self._live()
        live.pop(window, None)
        if not live:
            del self._table[self._keyed.slot]

    def add(self, window: TimeWindow, on_merge: OnMerge) -> TimeWindow:
        """Add a window; the live one that it has become.

        Args:
            window: the new one.
            on_merge: told when live windows become another one.
        """
        live, (start, end) = self._live(), window
        touching = [other for other in live if other[0] <= end and other[1] >= start]  # intersects, without a call
        if not touching:
            live[window] = window
            return window
        result = window
        for other in touching:
            result = result.cover(other)
        if touching == [result]:
            return result
        size = len(touching) + (window not in live)
        order = java_order(touching, size)
        states = [live.pop(other) for other in order]
        live[result] = states[0]
        on_merge(result, order, states[0], states[1:])
        return result
