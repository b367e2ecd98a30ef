"""Merging windows: sessions that touch become one.

Per key there is a map from each live window to its *state window*, under which the contents are kept: that of the first
of the windows that have become one. Which one is first, and in what order the others' elements come after its own, is
the iteration order of a Java HashSet. Where Flink loses data, this does not: a new window that equals a live one adds
to it, also after a merge (Flink maps it to itself and so forgets what was under the first state window). Source of the
semantics: ``MergingWindowSet``, ``TimeWindow.mergeWindows`` (Flink 1.11). Cost: O(live windows of the key) per element.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.windows.assigners import MergingTimeWindows, WindowAssigner
from penstock.runtime.windows.time_window import MergeCallback, TimeWindow

STATE = "merging-window-set"  # flink's name of the state that holds the map

_MASK64 = (1 << 64) - 1

OnMerge = Callable[[Any, list[Any], Any, list[Any]], None]
"""(merged window, windows in it, its state window, the other state windows) → None."""


def _hash(window: TimeWindow) -> int:
    """The low 32 bits of Java's mix of start + end, spread as HashMap does."""
    x = (window.start + window.end) & _MASK64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK64
    h = (x ^ x >> 31) & 0xFFFFFFFF
    return h ^ h >> 16


def java_order(windows: list[TimeWindow], size: int) -> list[TimeWindow]:
    """Windows in the order of a Java HashSet that they entered by start, and that has held up to ``size`` windows."""
    buckets = 16
    while size > buckets * 3 // 4:
        buckets *= 2
    return sorted(windows, key=lambda window: (_hash(window) & buckets - 1, window.start))


class MergingWindows:
    """The live windows of the current key, which merge when they touch."""

    def __init__(self, keyed: KeyedState) -> None:
        self._keyed = keyed
        self._table = keyed.table(STATE)

    def _live(self) -> dict[Any, Any]:
        return self._table.setdefault(self._keyed.slot, {})

    def state_window(self, window: Any) -> Any:
        """The window under which the contents of a live one are kept, None if it is not alive."""
        return self._table.get(self._keyed.slot, {}).get(window)

    def retire(self, window: Any) -> None:
        live = self._live()
        live.pop(window, None)
        if not live:
            del self._table[self._keyed.slot]

    def add(self, window: Any, on_merge: OnMerge) -> Any:
        """Add a window; the live one that it has become. ``on_merge`` is called when live ones become another."""
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


class AssignedMerging(MergingWindows):
    """The live windows of the current key, which merge as the program's own assigner says."""

    def __init__(self, keyed: KeyedState, merge_windows: Callable[[list[Any], MergeCallback[Any]], None]) -> None:
        super().__init__(keyed)
        self._merge_windows = merge_windows

    def add(self, window: Any, on_merge: OnMerge) -> Any:
        live, merges = self._live(), _Merges()
        self._merge_windows(list(dict.fromkeys((*live, window))), merges)
        result = window
        for parts, whole in merges.merged:
            if window in parts:
                result = whole
            before = [part for part in parts if part in live]
            states = [live.pop(part) for part in before] or [whole]
            live[whole] = states[0]
            if before and before != [whole]:
                on_merge(whole, before, states[0], states[1:])
        if result is window:
            live.setdefault(window, window)
        return result


class _Merges:
    """Notes what an assigner merges."""

    def __init__(self) -> None:
        self.merged: list[tuple[list[Any], Any]] = []

    def merge(self, to_be_merged: Collection[Any], merge_result: Any) -> None:
        self.merged.append((list(dict.fromkeys(to_be_merged)), merge_result))


def merging_of(assigner: WindowAssigner[Any, Any], keyed: KeyedState) -> MergingWindows | None:
    """How the windows of an assigner merge; None if they do not."""
    if not assigner.merging:
        return None
    merge_windows = getattr(assigner, "merge_windows", None)
    if merge_windows is None or isinstance(assigner, MergingTimeWindows):
        return MergingWindows(keyed)
    return AssignedMerging(keyed, merge_windows)
