"""The forms of keyed states: how what an operator of Flink keeps is kept by the operator of ours that takes it.

Most states keep their name and kind. What operators keep for themselves has a form of its own in each operator of ours.
Source of the semantics: Flink's ``WindowOperator``, ``EvictingWindowOperator``, ``IntervalJoinOperator`` and triggers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.common.typeinfo import ListTypeInfo, TypeInformation, Types
from penstock.common.typesystem.conversions import Convert, same
from penstock.flink.columns.column import Column, NoColumn, map_of
from penstock.flink.columns.types import column_for, without_lifetime
from penstock.flink.cursor import plain
from penstock.flink.entries.readers import Unreadable, form_of
from penstock.flink.entries.states import VALUE_SERIALIZER, serializer_of
from penstock.flink.entries.values import CountWindow, GlobalWindow, TimeWindow
from penstock.flink.headers import StateInfo as FlinkState
from penstock.flink.snapshots import Serializer
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.operators import interval_join, reduce, window_contents
from penstock.runtime.operators.interval_join import IntervalJoin
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.state.evolution import ACCUMULATORS, ELEMENTS, HELD, REDUCTIONS, TABLE, TIMED
from penstock.runtime.state.keyed import VOID, StateInfo
from penstock.runtime.state.serializers import TTL, serializer_class
from penstock.runtime.state.store import RESERVED, TRIGGERS
from penstock.runtime.windows import merging_windows
from penstock.runtime.windows.evictors import TimestampedValue
from penstock.runtime.windows.functions import CoGroupWindow
from penstock.runtime.windows.time_window import GLOBAL_WINDOW
from penstock.runtime.windows.time_window import CountWindow as CountedWindow
from penstock.runtime.windows.time_window import TimeWindow as Window
from penstock.runtime.windows.triggers import PurgingTrigger, Trigger

KINDS = {
    "value": "ValueState",
    "list": "ListState",
    "map": "MapState",
    "reducing": "ReducingState",
    "aggregating": "AggregatingState",
}
_STREAM_ELEMENT = "org.apache.flink.streaming.runtime.streamrecord.StreamElementSerializer"
_JOIN_BUFFERS = {"LEFT_BUFFER": interval_join.LEFT, "RIGHT_BUFFER": interval_join.RIGHT}
_JOIN_NAMESPACES = {"CLEANUP_LEFT": interval_join.LEFT, "CLEANUP_RIGHT": interval_join.RIGHT}


@dataclass(frozen=True)
class Form:
    """How the values of a state are kept: under which description, and what makes a stored value of one of Flink's."""

    info: StateInfo
    stored: Convert


def form_for(state: FlinkState, operator: StreamOperator | None) -> Form:
    """The form of a keyed state.

    Args:
        state: from the header of a file of Flink's.
        operator: the operator that takes it; None if the program does not say.

    Raises:
        Unreadable: only a class of Java can read it.
        NoColumn: it has values that ours do not have.
    """
    name = state.name
    if isinstance(operator, WindowOperator):
        if name == window_contents.STATE:
            return _contents(state, operator)
        if name == merging_windows.STATE:
            return Form(_table(name), merged)
        if name in trigger_states(operator.trigger):
            convert = _column(serializer_of(state, VALUE_SERIALIZER)).convert or same
            return Form(_table(f"{TRIGGERS}{name}"), convert)
    if isinstance(operator, IntervalJoin) and name in _JOIN_BUFFERS:
        return _buffer(state)
    if name == reduce.STATE:
        column = _column(serializer_of(state, VALUE_SERIALIZER))
        return _typed(name, REDUCTIONS, column.type, column.convert or same)
    if name in RESERVED or name in _JOIN_BUFFERS:
        kind = "unknown" if operator is None else type(operator).__name__
        raise NoColumn(f"it is what another operator keeps for itself, and the one that would take it is {kind}")
    return _usual(state)


def namespace_of(value: Any) -> Any:
    """The namespace of ours for one of Flink's: a window, or none. NoColumn: it is something else."""
    if value is None:
        return VOID
    if value.__class__ is TimeWindow:
        return Window(value.start, value.end)
    if value.__class__ is CountWindow:
        return CountedWindow(value.id)
    if value.__class__ is GlobalWindow:
        return GLOBAL_WINDOW
    if value.__class__ is str and value in _JOIN_NAMESPACES:
        return _JOIN_NAMESPACES[value]
    raise NoColumn(f"{plain(repr(value))} is not a window of Flink's own")


def merged(pairs: Any) -> dict[Any, Any]:
    """The windows of a key that have merged, each with the one under which its contents are."""
    return {namespace_of(window): namespace_of(kept) for window, kept in pairs}


def _column(serializer: Serializer) -> Column:
    form_of(serializer)  # raises what it cannot read
    return column_for(serializer)


def _table(name: str) -> StateInfo:
    return StateInfo(name, TABLE, (), ())


def _typed(name: str, kind: str, declared: TypeInformation[Any], stored: Convert) -> Form:
    return Form(StateInfo(name, kind, (), (repr(declared),)), stored)


def _usual(state: FlinkState) -> Form:
    """A state that a function has asked for."""
    kind = KINDS.get(state.kind)
    if kind is None:
        raise Unreadable(f"a state of the kind {plain(state.kind)!r}")
    serializer, lives = without_lifetime(serializer_of(state, VALUE_SERIALIZER), state.kind)
    types, stored = _OF_KINDS.get(kind, _single)(serializer, lives)
    names = [serializer_class(declared) for declared in types]
    if lives:
        names[-1] = TTL
    return Form(StateInfo(state.name, kind, tuple(names), tuple(map(repr, types))), stored)


Typed = tuple[tuple[TypeInformation[Any], ...], Convert]
"""The types of a state, and what makes its stored values."""


def _single(serializer: Serializer, lives: bool) -> Typed:
    column = _column(serializer)
    convert = column.convert or same
    return (column.type,), _lasting(convert) if lives else convert


def _lasting(convert: Convert) -> Convert:
    """Of a value with a time to live: what it is, and its last access."""
    return lambda held: (None, 0) if held is None else (convert(held.value), held.last_access)


def _list(serializer: Serializer, lives: bool) -> Typed:
    column = _column(serializer)
    if not isinstance(column.type, ListTypeInfo):
        raise Unreadable(f"{plain(serializer.text)} in place of a list")
    if lives:
        element = _lasting(_column(serializer.nested[0]).convert or same)
        return (column.type.element_type,), lambda values: list(map(element, values))
    return (column.type.element_type,), column.convert or same


def _map(serializer: Serializer, lives: bool) -> Typed:
    if len(serializer.nested) != 2:
        raise Unreadable(f"{plain(serializer.text)} in place of a map")
    return map_form(*serializer.nested, lives=lives)


def map_form(key: Serializer, value: Serializer, *, lives: bool = False) -> Typed:
    """The types of a map's keys and values, and what makes a dictionary of one of Flink's.

    Raises:
        Unreadable: only a class of Java can read it.
        NoColumn: it has keys that a dictionary does not take, or values that ours do not have.
    """
    name, item = _column(key), _column(value)
    if not form_of(key).hashable:
        raise NoColumn(f"{plain(key.text)} is not a key that a dictionary of Python takes")
    kept = Column(item.type, _lasting(item.convert or same)) if lives else item
    return (name.type, item.type), map_of(name, kept, hashable=True).convert or same


_OF_KINDS: dict[str, Callable[[Serializer, bool], Typed]] = {"ListState": _list, "MapState": _map}


def _contents(state: FlinkState, operator: WindowOperator) -> Form:
    """What is in windows: one value, or elements, which an evictor's have with their timestamps."""
    serializer = serializer_of(state, VALUE_SERIALIZER)
    if state.kind != "list":
        column = _column(serializer)
        kind = REDUCTIONS if state.kind == "reducing" else ACCUMULATORS
        return _typed(state.name, kind, column.type, column.convert or same)
    if not serializer.nested:
        raise Unreadable(f"{plain(serializer.text)} in place of a list")
    element = serializer.nested[0]
    timed = element.serializer == _STREAM_ELEMENT
    declared, convert = _element(element.nested[0] if timed else element, operator)
    kind = window_contents.kind_of(operator.function, operator.evictor) if timed else ELEMENTS
    stored = convert
    if kind == HELD:
        stored = lambda record: TimestampedValue(convert(record.value), record.timestamp)  # noqa: E731
    elif kind == TIMED:
        stored = lambda record: (convert(record.value), record.timestamp)  # noqa: E731
    elif timed:
        stored = lambda record: convert(record.value)  # noqa: E731
    return _typed(state.name, kind, declared, lambda values: list(map(stored, values)))


def _element(serializer: Serializer, operator: WindowOperator) -> tuple[TypeInformation[Any], Convert]:
    """An element of a window; of a join its side, and its value in the place of that side."""
    if not isinstance(operator.function, CoGroupWindow):
        column = _column(serializer)
        return column.type, column.convert or same
    if len(serializer.nested) != 2:
        raise Unreadable(f"{plain(serializer.text)} in place of the two inputs of a join")
    first, second = map(_column, serializer.nested)
    converts = {"first": first.convert or same, "second": second.convert or same}

    def convert(either: Any) -> tuple[int, Any, Any]:
        value = converts[either.side](either.value)
        return (1, value, None) if either.side == "first" else (2, None, value)

    return Types.TUPLE([Types.INT(), first.type, second.type]), convert


def trigger_states(trigger: Trigger[Any, Any]) -> tuple[str, ...]:
    """The names of the states of a trigger of Flink's own."""
    while isinstance(trigger, PurgingTrigger):
        trigger = trigger.nested_trigger
    return trigger.tables


def _buffer(state: FlinkState) -> Form:
    """One side of an interval join: records by time."""
    serializer = serializer_of(state, VALUE_SERIALIZER)
    elements = serializer.nested[-1] if len(serializer.nested) == 2 else serializer
    if not elements.nested or len(elements.nested[0].nested) != 1:
        raise Unreadable(f"{plain(serializer.text)} in place of the buffer of an interval join")
    convert = _column(elements.nested[0].nested[0]).convert or same

    def stored(by_time: dict[int, Any]) -> Any:
        return interval_join.buffer_of((time, [convert(entry.value) for entry in by_time[time]]) for time in by_time)

    return Form(_table(_JOIN_BUFFERS[state.name]), stored)
