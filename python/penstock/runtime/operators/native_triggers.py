"""Windows in native code with other triggers than the default one, and with evictors: any trigger of Flink's, and those
of the program that are compiled, on windows by time, sessions and the global window.

As :mod:`.native_windows` they are in front of the state in Python, to which belongs what triggers remember: how many
records came, when they fire next, the record that fired last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import ModuleType
from typing import Any, Protocol

from penstock.common.functions.state_descriptor import StateDescriptor
from penstock.runtime import native
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.native_stage import rows_of
from penstock.runtime.operators.native_windows import (
    NO_TIME,
    NativeWindows,
    Operator,
    apart,
    batches_of,
    contents_of,
    is_known,
    kind_of_windows,
    seeing_program,
    shows_windows,
    spans_of,
)
from penstock.runtime.operators.window_contents import STATE
from penstock.runtime.state.store import TRIGGERS, handle_of
from penstock.runtime.state.tracked_tables import frozen
from penstock.runtime.usercode.functions import simple_name
from penstock.runtime.windows.assigners import WindowAssigner
from penstock.runtime.windows.evictors import CountEvictor, DeltaEvictor, Evictor, TimeEvictor
from penstock.runtime.windows.functions import AggregateWindow, ReduceWindow, WindowFunction
from penstock.runtime.windows.merging_windows import STATE as SESSIONS
from penstock.runtime.windows.time_window import GLOBAL_WINDOW, CountWindow, GlobalWindow, TimeWindow
from penstock.runtime.windows.triggers import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    Trigger,
)

METHODS = ("on_element", "on_event_time", "on_processing_time", "on_merge", "clear")
"""The methods of a trigger, in the order in which native code takes them."""
_PLAIN = NeverTrigger, EventTimeTrigger, ProcessingTimeTrigger, CountTrigger
_CONTINUOUS = ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger
_MEMORIES = {"count": "count", "every": "fire-time", "delta": "last-element"}
"""By kind of trigger: the name of what it remembers."""
_LARGE = 1 << 62


@dataclass(frozen=True)
class TriggerPrograms:
    """The functions of triggers and evictors, compiled: of a trigger its methods by name, or ``get_delta``; of an
    evictor ``get_delta``."""

    trigger: Mapping[str, str] = field(default_factory=dict[str, str])
    evictor: str | None = None
    states: tuple[str, ...] = ()
    """The attributes of the trigger that are descriptors of states, in the order in which programs count these."""


class Windows(Protocol):
    """The part of the description of a window operator that says what it does."""

    @property
    def keyed(self) -> KeyPartition | None: ...
    @property
    def assigner(self) -> WindowAssigner[Any, Any]: ...
    @property
    def trigger(self) -> Trigger[Any, Any]: ...
    @property
    def evictor(self) -> Evictor[Any] | None: ...
    @property
    def function(self) -> WindowFunction: ...
    @property
    def lateness(self) -> int: ...
    @property
    def late_tag(self) -> str | None: ...
    @property
    def programs(self) -> TriggerPrograms: ...


def inner_trigger(trigger: Trigger[Any, Any]) -> tuple[Trigger[Any, Any], bool]:
    """The trigger in a ``PurgingTrigger``, and whether it is in one."""
    inner = trigger
    while type(inner) is PurgingTrigger:
        inner = inner.nested_trigger
    return inner, inner is not trigger


def own_methods(trigger: Trigger[Any, Any], *, merging: bool) -> list[str]:
    """The methods of a trigger of the program that do something; none for one of Flink's."""
    if type(trigger) in (*_PLAIN, *_CONTINUOUS, DeltaTrigger):
        return []
    wanted = [name for name in METHODS if merging or name != "on_merge"]
    return [
        name for name in wanted if name == "on_element" or getattr(type(trigger), name) is not getattr(Trigger, name)
    ]


def why_untriggered(operator: Windows) -> str | None:
    """Why windows with their trigger and evictor stay in Python; None for those that do not."""
    trigger, _ = inner_trigger(operator.trigger)
    if spans_of(operator.assigner) is None:
        what = simple_name(operator.assigner)
        return f"native code knows Flink's own assigners with a fixed size or gap, and {what} is another"
    if isinstance(trigger, DeltaTrigger) and type(trigger.threshold) not in (int, float):
        return "native code compares differences with an int or a float only"
    if type(trigger) is CountTrigger and abs(trigger.window_size) >= _LARGE:
        return "native code counts to numbers of 62 bits only"
    if type(trigger) in _CONTINUOUS and not 0 < trigger.interval < _LARGE:  # type: ignore[attr-defined]
        return "native code needs an interval of one millisecond or more"
    return _why_not_evicted(operator.evictor)


def _why_not_evicted(evictor: Evictor[Any] | None) -> str | None:
    if evictor is not None and type(evictor) not in (CountEvictor, TimeEvictor, DeltaEvictor):
        return f"native code has Flink's own evictors only, and {simple_name(evictor)} is another"
    if isinstance(evictor, DeltaEvictor) and type(evictor.threshold) not in (int, float):
        return "native code compares differences with an int or a float only"
    number = evictor.count if isinstance(evictor, CountEvictor) else getattr(evictor, "size_ms", 0)
    return "native code counts to numbers of 62 bits only" if abs(number) >= _LARGE else None


def why_uncompiled(operator: Windows) -> str | None:
    """Which function that stays in Python keeps windows there, of those of the trigger and the evictor."""
    trigger, _ = inner_trigger(operator.trigger)
    needed = own_methods(trigger, merging=operator.assigner.merging)
    if isinstance(trigger, DeltaTrigger):
        needed = ["get_delta"]
    if any(name not in operator.programs.trigger for name in needed):
        return f"native code needs {simple_name(trigger)} compiled"
    if isinstance(operator.evictor, DeltaEvictor) and operator.programs.evictor is None:
        return f"native code needs {simple_name(operator.evictor)} compiled"
    if operator.programs.states and _is_seen_in_python(operator.function):
        return "native code needs the function that sees windows compiled, as it could see the state of the trigger"
    return None


def _is_seen_in_python(function: WindowFunction) -> bool:
    """Whether a function of Python sees windows."""
    then = function.then if isinstance(function, (ReduceWindow, AggregateWindow)) else function
    return shows_windows(function) and (getattr(then, "program", None) is None or function.clearer() is not None)


def _trigger_parts(functions: ModuleType, operator: Windows) -> tuple[Any, ...] | None:
    """The trigger, as native code takes it; None if a program of it is missing."""
    (trigger, purges), texts = inner_trigger(operator.trigger), operator.programs.trigger
    kind, event, number, threshold, programs = "own", False, 0, None, list[Any]()
    if type(trigger) is NeverTrigger:
        kind = "never"
    elif type(trigger) in (EventTimeTrigger, ProcessingTimeTrigger):
        kind, event = "at_end", type(trigger) is EventTimeTrigger
    elif type(trigger) is CountTrigger:
        kind, number = "count", trigger.window_size
    elif type(trigger) in _CONTINUOUS:
        kind, event = "every", type(trigger) is ContinuousEventTimeTrigger
        number = trigger.interval  # type: ignore[attr-defined]
    elif isinstance(trigger, DeltaTrigger):
        kind, threshold = "delta", trigger.threshold
        programs = [native.program(functions, texts.get("get_delta"))]
    else:
        programs = [native.program(functions, texts.get(name)) for name in METHODS]
        if any(program is None and name in texts for name, program in zip(METHODS, programs, strict=True)):
            return None
    return None if programs and programs[0] is None else (kind, event, number, threshold, programs, purges)


def _evictor_parts(functions: ModuleType, operator: Windows) -> tuple[Any, ...] | None:
    """The evictor, as native code takes it."""
    evictor = operator.evictor
    if isinstance(evictor, CountEvictor):
        return "count", evictor.count, None, None, evictor.after
    if isinstance(evictor, TimeEvictor):
        return "time", evictor.size_ms, None, None, evictor.after
    if isinstance(evictor, DeltaEvictor):
        program = native.program(functions, operator.programs.evictor)
        return "delta", 0, evictor.threshold, program, evictor.after
    return None


def native_triggers(functions: ModuleType, operator: Windows, live: Operator) -> NativeTriggers | None:
    """The windows of an operator in native code, empty; None where they cannot do what these do."""
    keyed, function, assigner = operator.keyed, operator.function, operator.assigner
    how = assigner, operator.trigger, operator.evictor
    key, spans = None if keyed is None else keyed.key_program(functions), spans_of(assigner)
    if key is None or spans is None or kind_of_windows(*how) != "triggered" or not is_known(function):
        return None
    if (why_untriggered(operator) or why_uncompiled(operator)) is not None:
        return None
    contents, trigger = contents_of(functions, function), _trigger_parts(functions, operator)
    if contents is None or trigger is None:
        return None
    merges = assigner.merging and operator.evictor is None
    if merges and isinstance(function, AggregateWindow) and len(contents[2]) < 4:
        return None
    evictor, seeing = _evictor_parts(functions, operator), seeing_program(functions, function)
    if isinstance(operator.evictor, DeltaEvictor) and (evictor is None or evictor[3] is None):
        return None
    shows = seeing is None and shows_windows(function)
    event_time = assigner.is_event_time()
    options = {"side": operator.late_tag is not None, "shows": shows, "clears": function.clearer() is not None}
    windows = functions.KeyedTriggers(
        *(key, *spans, *contents, trigger, evictor, event_time),
        lateness=operator.lateness if event_time else 0,
        **options,
        seeing=seeing,
    )
    stage = NativeTriggers(functions, windows, live, function, operator.late_tag, event_time)
    stage.numbers(assigner)
    inner, name = inner_trigger(operator.trigger)[0], _MEMORIES.get(trigger[0])
    stage.remembers(name, [getattr(inner, attribute) for attribute in operator.programs.states])
    return stage


class NativeTriggers(NativeWindows):
    """The windows of an operator. ``windows`` is a ``KeyedTriggers``."""

    _memories: Sequence[str] = ()  # the names of what the trigger remembers
    _states: Sequence[StateDescriptor[Any]] = ()
    _counter: str | None = None  # the name of the state with the numbers of records, where windows have numbers

    def numbers(self, assigner: WindowAssigner[Any, Any]) -> None:
        """Say what gives records their windows."""
        self._counter = getattr(assigner, "counter", None)

    def remembers(self, name: str | None, states: Sequence[StateDescriptor[Any]]) -> None:
        """Say what the trigger remembers: something that has a name, or what it has in states."""
        self._states = states
        self._memories = [state.name for state in states] if name is None else [f"{TRIGGERS}{name}"]

    # --- records ---

    def run(self, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        if not self._here and not self._take_over():
            return None, [0], start, True
        taken = self._windows.run(batch, start, end, *self._times())
        self._watch_clock()
        done = self._hand_on(batch, *taken)
        self._keep_within(done[2] - start)
        return done

    # --- time ---

    def _times(self) -> tuple[int, int]:
        """The watermark, and the time of the clock."""
        return self._time.watermark, self._time.clock.now()

    def _watch_clock(self) -> None:
        """Wait for the clock if there are timers by it."""
        if self._windows.next_due(False) is not None:
            self._time.clock.add(self._time)

    def covers(self, event_time: bool) -> bool:
        return self._here

    def next_due(self, event_time: bool) -> int | None:
        return self._windows.next_due(event_time)

    def _advance(self, limit: int, event_time: bool) -> tuple[Any, bool, bool]:
        fired = self._windows.advance(event_time, limit, *self._times())
        self._watch_clock()
        return fired

    # --- state ---

    def _more(self) -> int:
        if not self._here:
            return 0
        known = [STATE, SESSIONS, *self._memories, *([] if self._counter is None else [self._counter])]
        return int(self._windows.entries()) - sum(map(self._state.number_of, known))

    def _weight(self) -> int:
        return self._windows.entries()

    def _counts(self) -> Mapping[Any, Any]:
        """How many records each key has had, where windows have numbers."""
        return {} if self._counter is None else self._state.find(self._counter) or {}

    def named(self, start: int, end: int) -> Any:
        return super().named(start, end) if self._counter is None else CountWindow(start)

    def _remembered(self) -> list[Mapping[Any, Any]]:
        """The memories of the trigger, by window and key."""
        of_names = map(self._state.windows_of, self._memories)
        return [{window: table for window, table in windows.items() if table} for windows in of_names]

    def _memory_rows(self) -> list[Any] | None:
        """The memories as rows; of states with a tuple of what each has. None where one of these could be changed."""
        if not self._states:
            return [row for tables in self._remembered() for row in _rows_of(tables)]
        for state in self._states:
            handle_of(self._state, state, GLOBAL_WINDOW)  # the state in Python knows of it from here on
        whole = dict[Any, list[Any]]()
        for number, tables in enumerate(self._remembered()):
            for *place, value in _rows_of(tables):
                if not frozen(value) or value is None:
                    return None
                whole.setdefault(tuple(place), [None] * len(self._states))[number] = value
        return [(*place, tuple(values)) for place, values in whole.items()]

    def _rows(self) -> tuple[list[Any], ...] | None:
        """The state in Python: sets of sessions, contents, what is remembered, timers of both kinds, how many records
        keys have had, and contents that are changed in place."""
        tables, remembered = self._state.windows_of(STATE), self._memory_rows()
        queues = [queue.as_heap() for _, queue in self._state.queues()]
        windows = [
            *tables,
            *chain(*self._remembered()),
            *(timer.namespace for timer in chain(*queues)),
            *self._sessions(),
        ]
        kinds = (GlobalWindow, TimeWindow) if self._counter is None else (CountWindow,)
        if not all(type(window) in kinds for window in windows) or remembered is None or self._operator.shares:
            return None
        values, contents = apart(_rows_of(tables), self.in_place)
        waiting = [[(timer.time, timer.slot, *_ends(timer.namespace)) for timer in timers] for timers in queues]
        rows = [self._listed(), values, remembered, *waiting, list(self._counts().items())]
        batches = batches_of(self._functions, rows)
        return None if batches is None else (*batches, contents)

    def settle(self) -> None:
        """Bring the state in Python up to date. O(changes)."""
        if not self._here:
            return
        removed, values, unlisted, listed, *others = self._windows.news()
        forgotten, remembered, whole, event, clock, seen, contents, known = others
        named = self._settle_contents(removed, values, unlisted, listed, contents, known)
        state = self._state
        for key, start, end in rows_of(forgotten):
            for name in self._memories:
                if not self._states or key in (state.find(name, named[start, end]) or ()):
                    self._forget(name, key, named[start, end])
        for key, start, end, value in rows_of(remembered):
            for name, part in zip(self._memories, value if self._states else (value,), strict=True):
                window = named[start, end]
                before = (state.find(name, window) or {}).get(key) if self._states else None
                if part is None and before is not None:
                    self._forget(name, key, window)
                elif part is not None and not _is_same(before, part):
                    state.table(name, window)[key] = part
        for queue, moves in zip((state.event_timers, state.processing_timers), (event, clock), strict=True):
            self._settle_timers(queue, whole, moves, lambda start, end: named[start, end])
        if self._counter is not None:
            counts = state.table(self._counter)
            for key, count in rows_of(seen):
                counts[key] = count

    def _forget(self, name: str, key: Any, window: Any) -> None:
        """Forget a memory of a key and window."""
        state = self._state
        if window is GLOBAL_WINDOW:
            state.table(name, window).pop(key, None)  # its table lasts: the trigger's context has it
            return
        slot, state.slot = state.slot, key
        state.drop(name, window)
        state.slot = slot


def _is_same(one: object, other: object) -> bool:
    """Whether one value is known to be the other: other states of a window do not change with one."""
    return type(one) is type(other) and type(one) in (int, str, bytes, bool) and one == other


def _rows_of(tables: Mapping[Any, Any]) -> list[Any]:
    return [(key, *_ends(window), value) for window, table in tables.items() for key, value in table.items()]


def _ends(window: Any) -> tuple[int, int]:
    """Start and end of a window; of those without an end what they have in native code."""
    if window is GLOBAL_WINDOW:
        return 0, NO_TIME
    return (window.id, NO_TIME) if type(window) is CountWindow else window
