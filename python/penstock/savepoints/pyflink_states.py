"""State of PyFlink's Python functions as tables, by the types that a program declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.common.functions.state_descriptor import StateDescriptor
from penstock.common.typeinfo import PickledBytesTypeInfo, TypeInformation, Types
from penstock.errors import SavepointError
from penstock.flink.columns.types import has_lifetime
from penstock.flink.cursor import plain
from penstock.flink.entries.refusals import title
from penstock.flink.entries.states import serializer_of
from penstock.flink.headers import StateInfo
from penstock.flink.metadata import OperatorState
from penstock.flink.pyflink import PythonEntry, python_states, read_python_state
from penstock.flink.pyflink.coders import Loads
from penstock.flink.pyflink.states import PREFIX, REDUCED, kind_of, types_of
from penstock.flink.savepoint import FlinkSavepoint
from penstock.savepoints.flink_states import first_with, namespace_fields
from penstock.savepoints.table import ReadRows, StateTable

_Field = tuple[str, TypeInformation[Any] | None, Callable[[Any], Any]]


def python_table(
    savepoint: FlinkSavepoint,
    operator: OperatorState,
    descriptor: StateDescriptor[Any],
    key_type: TypeInformation[Any] | None,
    loads: Loads,
) -> StateTable:
    """The table of a state; see :meth:`~.flink_savepoint.SavepointOfFlink.read_python`."""
    info = next(
        (info for name, info in savepoint.states(operator).items() if _is_of(name.removeprefix(PREFIX), descriptor)),
        None,
    )
    if info is None:
        names = ", ".join(plain(repr(name)) for name in python_states(savepoint, operator)) or "none"
        raise SavepointError(
            f"{plain(title(operator))} of {savepoint.place.folder} has no state {plain(repr(descriptor.name))}. It has "
            f"{names}."
        )
    fields = _fields(info, descriptor, key_type)
    types = tuple(kind for _, kind, _ in fields)
    subtasks = first_with(operator, info.name) if info.type == "BROADCAST" else None  # of which each has all of it
    rows = _Rows(savepoint, operator, descriptor, key_type, loads, fields, subtasks)
    return StateTable(tuple(name for name, _, _ in fields), types, rows, typed=None not in types)


def _is_of(name: str, descriptor: StateDescriptor[Any]) -> bool:
    return name == descriptor.name or (descriptor.name == REDUCED and name.startswith(REDUCED))


def _fields(info: StateInfo, descriptor: StateDescriptor[Any], key_type: TypeInformation[Any] | None) -> list[_Field]:
    kinds = types_of(descriptor)
    undeclared = any(isinstance(kind, PickledBytesTypeInfo) for kind in kinds)
    if info.type == "BROADCAST":
        key_kind, value_kind = (None if isinstance(kind, PickledBytesTypeInfo) else kind for kind in kinds)
        return [("key", key_kind, lambda entry: entry.key), ("value", value_kind, lambda entry: entry.value)]
    kind = kind_of(descriptor)
    whole: TypeInformation[Any] | None = None
    if not undeclared:
        whole = Types.MAP(*kinds) if kind == "map" else Types.LIST(kinds[0]) if kind == "list" else kinds[0]
    if isinstance(key_type, PickledBytesTypeInfo):
        key_type = None
    fields: list[_Field] = [("key", key_type, lambda entry: entry.key)]
    fields += namespace_fields(serializer_of(info, "NAMESPACE_SERIALIZER"))
    fields.append(("value", whole, lambda entry: entry.value))
    if has_lifetime(serializer_of(info, "VALUE_SERIALIZER")):
        times = Types.LIST(Types.LONG()) if kind in ("list", "map") else Types.LONG()
        fields.append(("last_access", times, _last_access))
    return [*fields, ("key_group", Types.INT(), lambda entry: entry.key_group)]


def _last_access(entry: PythonEntry) -> Any:
    return list(entry.last_access.values()) if isinstance(entry.last_access, dict) else entry.last_access  # pyright: ignore


class _Rows(ReadRows):
    """The rows of a state, read from its files."""

    def __init__(
        self,
        savepoint: FlinkSavepoint,
        operator: OperatorState,
        descriptor: StateDescriptor[Any],
        key_type: TypeInformation[Any] | None,
        loads: Loads,
        fields: list[_Field],
        subtasks: set[int] | None,
    ) -> None:
        super().__init__()
        self._savepoint, self._operator, self._descriptor = savepoint, operator, descriptor
        self._key_type, self._loads, self._fields, self._subtasks = key_type, loads, fields, subtasks

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for entry in read_python_state(
            self._savepoint,
            self._operator,
            self._key_type,
            [self._descriptor],
            loads=self._loads,
            subtasks=self._subtasks,
        ):
            if entry.state == self._descriptor.name and entry.kind != "timers":
                yield tuple([get(entry) for _, _, get in self._fields])
