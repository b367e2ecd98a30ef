"""How entries of a Flink state become rows: which columns they have, and what makes a row of an entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.typesystem.conversions import optional, same
from penstock.flink.columns.column import Column
from penstock.flink.columns.types import VOID_NAMESPACE, column_for, without_lifetime
from penstock.flink.cursor import plain
from penstock.flink.entries.entry import Entry
from penstock.flink.entries.readers import Unreadable, form_of
from penstock.flink.entries.states import VALUE_SERIALIZER, serializer_of
from penstock.flink.handles import MODES
from penstock.flink.headers import StateInfo
from penstock.flink.metadata import OperatorState
from penstock.flink.snapshots import Serializer

BROADCAST, TIMERS = MODES["BROADCAST"], "timers"
_LISTS = frozenset(MODES.values()) - {BROADCAST}
_LONG, _LONGS = Types.LONG(), Types.LIST(Types.LONG())
_DOMAIN = "_timer_state/event_"

Field = tuple[str, TypeInformation[Any], Callable[[Entry], Any]]
"""A column: its name, its type, and what gives its value of an entry."""


@dataclass(frozen=True)
class Shape:
    """The columns of a state, and the entries that its rows are made of."""

    fields: tuple[Field, ...]
    kinds: frozenset[str]
    keyed: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(name for name, _, _ in self.fields)

    @property
    def types(self) -> tuple[TypeInformation[Any], ...]:
        """Their types."""
        return tuple(kind for _, kind, _ in self.fields)

    def has(self, entry: Entry) -> bool:
        """Whether an entry is one of the state: an operator can have keyed and other state of one name."""
        return entry.kind in self.kinds and (entry.key_group is not None) == self.keyed

    def row(self, entry: Entry) -> tuple[Any, ...]:
        """The row of an entry. A ValueError: no column takes a value in it."""
        return tuple([get(entry) for _, _, get in self.fields])


def shape_of(info: StateInfo, key: Serializer | None) -> Shape:
    """The shape of a state. ``key`` is the serializer of keys if it is keyed.

    Raises:
        Unreadable: only a class of Java can read it.
        NoColumn: it has values that no column takes.
    """
    if info.type == "PRIORITY_QUEUE":
        return _timers(info)
    value = serializer_of(info, VALUE_SERIALIZER)
    form_of(value)
    if info.type == "BROADCAST":
        broadcast_key = serializer_of(info, "KEY_SERIALIZER")
        return Shape((_key(broadcast_key), _value(column_for(value))), frozenset({BROADCAST}), keyed=False)
    if info.type == "OPERATOR":
        subtask: Field = "subtask", Types.INT(), lambda entry: entry.subtask
        return Shape((subtask, _value(column_for(value))), _LISTS, keyed=False)
    if key is None:
        raise Unreadable("an unknown serializer of keys")
    space = serializer_of(info, "NAMESPACE_SERIALIZER")
    return Shape(
        (_key(key), *namespace_fields(space), *_values(info, value), _GROUP), frozenset({info.kind}), keyed=True
    )


_GROUP: Field = "key_group", Types.INT(), lambda entry: entry.key_group


def _timers(info: StateInfo) -> Shape:
    timer = serializer_of(info, VALUE_SERIALIZER)
    if len(timer.nested) != 2:
        raise Unreadable(f"{plain(timer.serializer)} in a queue")
    key, space = timer.nested
    domain: Field = (
        "domain",
        Types.STRING(),
        lambda entry: "event" if entry.state.startswith(_DOMAIN) else "processing",
    )
    time: Field = "time", _LONG, lambda entry: entry.value
    return Shape((domain, time, _key(key), *namespace_fields(space), _GROUP), frozenset({TIMERS}), keyed=True)


def _key(serializer: Serializer) -> Field:
    form_of(serializer)
    column = column_for(serializer)
    convert = column.convert or same
    return "key", column.type, lambda entry: convert(entry.key)


def namespace_fields(serializer: Serializer) -> tuple[Field, ...]:
    """The column of windows; none of state without windows."""
    if serializer.serializer == VOID_NAMESPACE:
        return ()
    form_of(serializer)
    column = column_for(serializer)
    convert = column.convert or same
    return (("namespace", column.type, lambda entry: convert(entry.namespace)),)


def _value(column: Column) -> Field:
    convert = column.convert or same
    return "value", column.type, lambda entry: convert(entry.value)


def _values(info: StateInfo, value: Serializer) -> tuple[Field, ...]:
    """The value, and where it has a time to live when it was accessed last, as our own states have it."""
    bare, lives = without_lifetime(value, info.kind)
    column = column_for(bare)
    if not lives:
        return (_value(column),)
    if info.kind not in ("list", "map"):
        convert = optional(column.convert or same)
        return (
            ("value", column.type, lambda entry: convert(entry.value.value)),
            ("last_access", _LONG, lambda entry: entry.value.last_access),
        )
    convert = column.convert or same
    if info.kind == "list":
        return (
            ("value", column.type, lambda entry: convert([item.value for item in entry.value])),
            ("last_access", _LONGS, lambda entry: [item.last_access for item in entry.value]),
        )
    return (
        ("value", column.type, lambda entry: convert(_without_times(entry.value))),
        ("last_access", _LONGS, lambda entry: [item and item.last_access for _, item in _pairs(entry.value)]),
    )


def _pairs(value: Any) -> Any:
    return value.items() if isinstance(value, dict) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]


def _without_times(value: Any) -> Any:
    return type(value)((key, item and item.value) for key, item in _pairs(value))


def first_with(operator: OperatorState, state: str) -> set[int]:
    """The first subtask that has an operator state; none if none has."""
    for subtask in operator.subtasks:
        if any(state in handle.states for handle in subtask.managed_operator):
            return {subtask.index}
    return set()
