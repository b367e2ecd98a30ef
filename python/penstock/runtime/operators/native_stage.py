"""The stage that native windows and process functions are: they have the state of an operator in place of Python."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, repeat
from typing import Any, ClassVar

from penstock.errors import StateError
from penstock.runtime.state.disk.keyed import DiskKeyedState
from penstock.runtime.state.disk.whole import WholeState
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.python_turn import PythonTurn
from penstock.runtime.state.timers import Timer, TimerQueue


class NativeStage(ABC):
    """Its native ``windows``, or what there is instead, have the state of the operator, or Python has it. With a
    ``run`` it is a :class:`~penstock.runtime.chain.operator.KeyedStage`. Where state is on disk, the native windows
    have it as long as all of it fits into memory."""

    _operator: Any
    whole: ClassVar[bool] = True
    """Whether they have all of the state or nothing of it."""

    def __init__(self, windows: Any, state: KeyedState) -> None:
        self._windows, self._state = windows, state
        self._here = False  # whether the native windows have the state
        self._turn = PythonTurn()
        self._bound: WholeState | None = None
        if self.whole and isinstance(state, DiskKeyedState):
            self._bound = WholeState(state.native_memory)
        if state.passed_on and self.whole:  # perhaps for a few records, as where the workers change with each step
            self._turn.begin(state.size())
        state.caches.append(self.settle)
        state.holders.append(self._more)

    @abstractmethod
    def settle(self) -> None:
        """Bring the state in Python up to date. O(changes)."""

    @abstractmethod
    def _rows(self) -> tuple[list[Any], ...] | None:
        """The state in Python as rows for native windows; None where it does not fit."""

    @abstractmethod
    def _more(self) -> int:
        """How many more entries the native windows have than the state in Python."""

    def _weight(self) -> int:
        """How much there is to be moved where Python takes the state, in entries."""
        return len(self._windows)

    @property
    def here(self) -> bool:
        """Whether native code has the state, and Python knows only what was written of it."""
        return self._here

    def leave(self, most: int) -> int:
        """How many of the next records Python is to take, at the most so many."""
        if not self._here and not self._turn:
            self._take_over()
        return self._turn.take(most)

    def _take_over(self) -> bool:
        """Have the native windows take the state; whether it fits."""
        bound = self._bound
        with self._blamed():
            rows = self._rows() if bound is None or bound.may_fit(self._state.size()) else None
        self._here = rows is not None and self._windows.load(*rows)
        self._turn.note_fit(self._here)
        if bound is not None and self._here:
            self._state.ahead = self  # type: ignore[attr-defined]
        return self._here

    def _keep_within(self, number: int) -> None:
        """Give the state up if it takes too much memory, after so many records or timers."""
        if self._bound is not None and self._here:
            windows = self._windows
            if self._bound.is_over(number, len(windows), windows.memory):
                with self._blamed():
                    self.flush()

    @contextlib.contextmanager
    def _blamed(self) -> Iterator[None]:
        """A failure of the disk is one of the operator."""
        try:
            yield
        except StateError as error:
            raise self._operator.context.fail(error) from error

    def flush(self) -> None:
        """Bring the state in Python up to date; from now on Python has it."""
        if self._here:
            self.settle()
            self._turn.begin(self._weight())
            self._here = False
            self._windows.clear()


class TimedStage(NativeStage):
    """One with timers, which are ahead of those in Python."""

    def _settle_timers(
        self, queue: TimerQueue, whole: bool, timers: list[Any], namespace: Callable[[int, int], Any]
    ) -> None:
        """Bring a queue in Python up to date: by all timers, or by the moves since the last time. ``namespace`` takes
        the start and the end of a timer's window."""
        if whole:
            queue.fill([Timer(time, key, key, namespace(start, end)) for _, time, key, start, end in rows_of(timers)])
            if queue.noted is not None:
                queue.all_new = True
                queue.noted.clear()
            return
        for added, time, key, start, end in rows_of(timers):
            if added:
                queue.add(time, key, key, namespace(start, end))
            else:
                queue.remove(time, key, namespace(start, end))


def emit(operator: Any, out: Any) -> None:
    """Emit a batch of results with timestamps, as columns if those behind the operator take them."""
    output = operator.output
    operator.emitted += len(out)
    if output.columns is not None:
        output.columns.take_all(out)
        return
    feed, start, values = output.feed, 0, out.objects()
    if out.times is None:
        feed(values, None)
        return
    for time, same in groupby(out.times):
        end = start + sum(1 for _ in same)
        feed(values[start:end], time)
        start = end


def emit_all(
    operator: Any, tags: Sequence[str], main: Any, sides: Mapping[int, Any], order: Iterable[tuple[int | None, int]]
) -> None:
    """Emit results for the main output and for side outputs in their ``order``, which has numbers of ``tags``, or None,
    and counts."""
    output, places = operator.output, Counter[int | None]()
    for tag, count in order:
        start = places[tag]
        places[tag] += count
        if tag is None:
            if count:
                emit(operator, main.slice(start, start + count))
            continue
        some = sides[tag].slice(start, start + count)
        for value, time in zip(some.objects(), some.times or repeat(None), strict=False):
            output.collect_side(tags[tag], value, time)


def rows_of(batches: Iterable[Any]) -> Iterator[Any]:
    """The rows of some batches."""
    return (row for batch in batches for row in batch.objects())
