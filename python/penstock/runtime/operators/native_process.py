"""Process functions in native code, on columns: what :mod:`.process` and :mod:`.two_inputs` do on keyed streams, where
the function is compiled.

Values, lists and timers are in front of those in Python, as with :mod:`.native_windows`: what has changed gets there
when somebody wants to see it, and all of it where native code cannot vouch for a record or a timer. Native code begins
when the function is open and its states are what the compiler took them for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from penstock.runtime import native
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import LiveOperator
from penstock.runtime.constants import filled_by
from penstock.runtime.operators.native_stage import TimedStage, emit, emit_all, rows_of
from penstock.runtime.state.handles import (
    AggregatingState,
    ListState,
    MapState,
    ReducingState,
    State,
    ValueState,
)
from penstock.runtime.state.keyed import VOID, KeyedState
from penstock.runtime.state.operator_time import OperatorTime
from penstock.runtime.state.timers import TimerQueue
from penstock.runtime.state.ttl import Lifetime, lifetime_of

_KINDS: dict[str, type[State]] = {
    "value": ValueState,
    "list": ListState,
    "map": MapState,
    "reducing": ReducingState,
    "aggregating": AggregatingState,
}
_FORMS = {"reducing": "value", "aggregating": "value"}
"""The kind that native code takes another one for: their functions are in the programs."""


@dataclass(frozen=True)
class ProcessPrograms:
    """A process function, compiled: the programs of its methods by name; its states by the number that they have in
    programs, each with its attribute, kind and the mark of its functions; of each method the IDs of side outputs, by
    number; and whether a method does more than to take a record."""

    methods: Mapping[str, str]
    states: tuple[tuple[str, str, str], ...]
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    asks: bool = False

    def suit(self, context: OperatorContext) -> bool:
        """Whether native code can be what an operator is here."""
        if type(context.time) is not OperatorTime:
            return False
        sides = context.config.side_outputs or not context.job.settings.pyflink
        return sides or not any(self.tags.values())  # to PyFlink tag and value are a record otherwise

    def of_input(self, number: int) -> tuple[str, tuple[str, ...]]:
        """The program of an input, and the IDs of its side outputs; a join has one for both."""
        methods = [name for name in self.methods if name != "on_timer"]
        method = methods[number % len(methods)]
        return self.methods[method], self.tags.get(method, ())


class NativeProcess(TimedStage):
    """The function of an operator, with its state."""

    def __init__(
        self,
        functions: ModuleType,
        operator: LiveOperator,
        programs: ProcessPrograms,
        selectors: Sequence[Any],
        state: KeyedState,
    ) -> None:
        super().__init__(None, state)
        self._functions, self._operator, self._programs, self._selectors = functions, operator, programs, selectors
        self._kinds = [_FORMS.get(kind, kind) for _, kind, _ in programs.states]
        self._names: list[str] | None = None  # of the states, when the function is open
        self._lives: list[Lifetime | None] = [None for _ in self._kinds]  # of states whose values expire
        self._defaults: list[Any] = [None for _ in self._kinds]  # of states that have one, each in a batch

    # --- the function ---

    def leave(self, most: int) -> int:
        return super().leave(most) if self.make_ready() else most

    @property
    def ready(self) -> bool:
        """Whether native code takes records, now or after those that Python takes."""
        return self._windows is not None

    def make_ready(self) -> bool:
        """Begin, if that was not tried: the function is open. Whether its states are as the compiler took them."""
        if self._names is None:
            self._names = self._named() or []
            if self._names or not self._programs.states:
                self._windows = self._build()
            if self.ready:
                self._operator.context.time.ahead = self
        return self.ready

    def _named(self) -> list[str] | None:
        """The names of the states; None where one is not what the compiler took it for."""
        names: list[str] = []
        lives, defaults = list[Lifetime | None](), list[Any]()
        for attribute, kind, functions in self._programs.states:
            handle = vars(self._operator.function).get(attribute)
            if not isinstance(handle, _KINDS[kind]):
                return None
            if handle.name in names or not handle.is_plain(self._state) or handle.mark != functions:
                return None
            names.append(handle.name)
            lives.append(lifetime_of(handle))
            default = getattr(handle, "default", None)
            defaults.append(None if default is None else self._functions.Batch.of([default]))
            if default is not None and defaults[-1] is None:
                return None
        self._lives, self._defaults = lives, defaults
        return names if self._bound is None or not any(map(_shows_order, lives)) else None

    def _build(self) -> Any:
        function, texts = self._operator.function, self._programs.methods
        methods = {name: native.program(self._functions, filled_by(text, function)) for name, text in texts.items()}
        if None in methods.values():
            return None
        on_timer = methods.pop("on_timer", None)
        inputs = list(zip(self._selectors, methods.values(), strict=True))
        rules = [None if life is None else (life.millis, life.renews, life.shows, life.size) for life in self._lives]
        return self._build_of(inputs, on_timer, self._kinds, rules, self._defaults)

    def _build_of(self, *arguments: Any) -> Any:
        return self._functions.KeyedProcess(*arguments)

    # --- records ---

    def run_input(self, number: int, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        """Take records of an input, as a stage's ``run`` does."""
        if not self._here and not self._take_over():
            return None, [0], start, True
        out, sides, order, done, in_doubt = self._windows.run(number, batch, start, end, *self._times())
        self._watch_clock()
        if order:
            emit_all(self._operator, self._programs.of_input(number)[1], out, dict(sides), order)
            out = None
        self._shrink(done - start)
        return out, [0 if out is None else len(out)], done, in_doubt

    # --- time ---

    def _times(self) -> tuple[int, int]:
        """The watermark, and the time of the clock."""
        time = self._operator.context.time
        return time.watermark, time.clock.now()

    def _watch_clock(self) -> None:
        """Wait for the clock if there are timers by it."""
        if self._windows.next_due(False) is not None:
            time = self._operator.context.time
            time.clock.add(time)

    def covers(self, event_time: bool) -> bool:
        """Whether its timers are those that count: both kinds are."""
        return self._here

    def next_due(self, event_time: bool) -> int | None:
        """The time of the first timer."""
        return self._windows.next_due(event_time)

    def advance(self, limit: int, event_time: bool) -> bool:
        """Fire the timers up to a time; whether none is left to Python."""
        if not self._here:
            return False
        while (due := self._windows.next_due(event_time)) is not None and due <= limit:
            if not self._make_due(limit, event_time):
                return False
            out, sides, order, done, in_doubt = self._windows.advance(event_time, limit, *self._times())
            self._watch_clock()
            if order:
                emit_all(self._operator, self._programs.tags["on_timer"], out, dict(sides), order)
            elif out is not None:
                emit(self._operator, out)
            if in_doubt:
                self.flush()
            else:
                self._shrink(done)
            if not self._here:
                return False
        return True

    def _make_due(self, limit: int, event_time: bool) -> bool:
        """Have all that timers need that are due next; whether that can be."""
        return True

    def _shrink(self, number: int) -> None:
        """Forget what does not fit into memory, after so many records or timers."""
        self._keep_within(number)

    # --- state ---

    def _weight(self) -> int:
        return self._windows.weight()

    def _more(self) -> int:
        return len(self._windows) - sum(map(len, self._tables())) if self._here else 0

    def _tables(self) -> list[Any]:
        return [self._state.table(name) for name in self._names or ()]

    @property
    def _queues(self) -> tuple[TimerQueue, TimerQueue]:
        return self._state.event_timers, self._state.processing_timers

    def _rows(self) -> tuple[list[Any], ...] | None:
        """The state in Python: the values of each state, and timers."""
        waiting: list[list[Any]] = []
        for queue in self._queues:
            timers = queue.as_heap()
            windows = [self._window_of(timer.time, timer.namespace) for timer in timers]
            if None in windows:
                return None
            waiting.append([(timer.time, timer.slot, *window) for timer, window in zip(timers, windows, strict=True)])  # type: ignore[misc]
        batches = [*self._rows_of_states(), *map(self._functions.Batch.of, waiting)]
        places = list(map(self._place_of, self._lives))
        if any(batch is None for batch in (*batches, *(keys for _, keys in places))):
            return None
        of_states = [[batch] for batch in batches[:-2]]
        return of_states, [batches[-2]], [batches[-1]], [(credit, [keys]) for credit, keys in places]

    def _rows_of_states(self) -> list[Any]:
        """What is in each state in Python, as a batch; None where that cannot be one."""
        rows = map(self._rows_of, self._kinds, self._tables())
        return [None if values is None else self._functions.Batch.of(values) for values in rows]

    def _place_of(self, life: Lifetime | None) -> tuple[int, Any]:
        """How far the look at values that expire has come."""
        credit, slots = (0, list[Any]()) if life is None else life.position()
        return credit, self._functions.Batch.of([(slot,) for slot in slots])

    def flush(self) -> None:
        """Bring the state in Python up to date; from now on Python has it."""
        places = self._windows.places() if self._here else []
        super().flush()
        for life, (credit, keys) in zip(self._lives, places, strict=False):
            if life is not None:
                life.go_on(credit, [key for (key,) in rows_of(keys)])

    def settle(self) -> None:
        """Bring the state in Python up to date. O(changes)."""
        if not self._here:
            return
        states, timers = self._windows.news()
        for kind, table, news in zip(self._kinds, self._tables(), states, strict=True):
            self._settle_state(kind, table, *news)
        for queue, (whole, moves) in zip(self._queues, timers, strict=True):
            self._settle_timers(queue, whole, moves, self._namespace_of)

    def _window_of(self, time: int, namespace: Any) -> tuple[int, int] | None:
        """The window that native code has for a timer; None where it has no such timers."""
        return window_at(time) if namespace is VOID else None

    def _namespace_of(self, start: int, end: int) -> Any:
        """The namespace of the timer that a window stands for."""
        return VOID

    def _rows_of(self, kind: str, table: dict[Any, Any]) -> list[Any] | None:
        """A table as rows: of maps one for each entry, of values that are dicts a list of their entries. None where a
        map is empty, or no dict."""
        if kind != "map":
            return list(table.items() if kind != "value" else map(_row_of_value, table.items()))
        if not all(type(entries) is dict and entries for entries in table.values()):
            return None
        return [(key, entry, value) for key, entries in table.items() for entry, value in entries.items()]

    def _settle_state(self, kind: str, table: Any, removed: Any, dropped: Any, values: Any, known: Any) -> None:
        """Bring a table up to date."""
        for (key,) in rows_of(removed):
            table.pop(key, None)
        self._settle_table(kind, table, dropped, values)

    def _settle_table(self, kind: str, table: dict[Any, Any], dropped: list[Any], values: list[Any]) -> None:
        """Do that with what is not removed. A map is set again, so that it counts as changed."""
        if kind != "map":
            for key, value, *time in rows_of(values):
                table[key] = value if not time else dict_of(value, time[0])
            return
        for key, entry in rows_of(dropped):
            entries = table[key] = table[key]
            entries.pop(entry, None)
        for key, entry, value in rows_of(values):
            entries = table[key] = table.get(key) or {}
            entries[entry] = value


def _row_of_value(item: tuple[Any, Any]) -> tuple[Any, ...]:
    """The row of a key and what is stored for it: itself, or of a dict the entries, and its time or None."""
    key, stored = item
    if type(stored) is dict:
        return key, list(stored.items()), None
    if type(stored) is tuple and len(stored) == 2 and type(stored[0]) is dict:
        return key, list(stored[0].items()), stored[1]
    return item


def dict_of(entries: list[Any], time: Any) -> Any:
    """What is stored for a row with the entries of a dict."""
    return dict(entries) if time is None else (dict(entries), time)


def _shows_order(life: Lifetime | None) -> bool:
    """Whether functions can see in which order values are looked at that may be over: a file has another order."""
    return life is not None and life.size > 0 and life.shows


def window_at(time: int) -> tuple[int, int]:
    """The times of a window that has this time alone, of 64 bits."""
    return time, time + 1 if time < (1 << 63) - 1 else -(1 << 63)
