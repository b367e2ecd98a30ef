"""Keyed state from a table: rows go through a function that stores them, in the memory of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from penstock.common import typeinfo as types
from penstock.common.checks import moment
from penstock.common.functions import state_descriptor as descriptors
from penstock.common.row import Row
from penstock.common.typeinfo import TypeInformation
from penstock.errors import PenstockError, SavepointError
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_time import Clock
from penstock.runtime.state.serializers import TTL
from penstock.runtime.state.store import KeyedStateStore, handle_of
from penstock.runtime.state.type_changes import conversion
from penstock.runtime.state.type_texts import type_of

Key = str | Callable[[Any], Any]
Columns = Mapping[descriptors.StateDescriptor[Any], str | Callable[[Any], Any]]


class BootstrapContext:
    """The context of :meth:`KeyedStateBootstrapFunction.process_element`: the current key, and its timers."""

    def __init__(self, keyed: KeyedState) -> None:
        self._keyed = keyed

    def get_current_key(self) -> Any:
        """The key of the current row."""
        return self._keyed.current_key

    def timer_service(self) -> BootstrapContext:
        """This object, for code that is written like a process function."""
        return self

    def register_event_time_timer(self, timestamp: int) -> None:
        """Have the job call ``on_timer`` for the current key when its watermark reaches a time in milliseconds."""
        self._keyed.event_timers.add(
            moment(timestamp, "register_event_time_timer"), self._keyed.slot, self._keyed.current_key, None
        )

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Have the job call ``on_timer`` for the current key when the clock reaches a time in milliseconds."""
        self._keyed.processing_timers.add(
            moment(timestamp, "register_processing_time_timer"), self._keyed.slot, self._keyed.current_key, None
        )


class KeyedStateBootstrapFunction:
    """Base class of functions that turn rows into keyed state and timers (Flink's State Processor API)."""

    def open(self, runtime_context: Any) -> None:
        """Called once, before the first row; ``runtime_context`` gives states, as in a process function."""

    def process_element(self, value: Any, ctx: BootstrapContext) -> None:
        """Called for each row; ``ctx`` has its key, and registers timers."""
        raise NotImplementedError

    def close(self) -> None:
        """Called once, after the last row."""


class _Columns(KeyedStateBootstrapFunction):
    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def open(self, runtime_context: Any) -> None:
        self._fills: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = []
        for descriptor, column in self._columns.items():
            handle = handle_of(runtime_context._keyed_state(), descriptor)
            self._fills.append((getter(column), _filled(handle, descriptor)))

    def process_element(self, value: Any, ctx: BootstrapContext) -> None:
        for get, fill in self._fills:
            fill(get(value))


def _filled(handle: Any, descriptor: descriptors.StateDescriptor[Any]) -> Callable[[Any], Any]:
    if isinstance(descriptor, descriptors.ListStateDescriptor):
        element = descriptor.elem_type_info
        return lambda values: handle.add_all([shaped(item, element) for item in values or ()])
    if isinstance(descriptor, descriptors.MapStateDescriptor):
        return lambda entries: handle.put_all(shaped_entries(entries, descriptor))
    if isinstance(descriptor, descriptors.ReducingStateDescriptor | descriptors.AggregatingStateDescriptor):
        return lambda value: None if value is None else handle.add(value)
    declared = getattr(descriptor, "value_type_info", None)
    return lambda value: handle.update(shaped(value, declared))


def shaped_entries(entries: Any, descriptor: descriptors.MapStateDescriptor[Any, Any]) -> dict[Any, Any]:
    """The entries of a map state, from a dictionary or pairs."""
    key, value = descriptor.key_type_info, descriptor.value_type_info
    return {shaped(k, key): shaped(v, value) for k, v in dict(entries or ()).items()}


def keyed_state(
    data: Any,
    key: Key,
    key_type: TypeInformation[Any] | None,
    function: KeyedStateBootstrapFunction | Columns,
    groups: int,
) -> KeyedState:
    """Keyed state from rows."""
    keyed = KeyedState(KeyHash(key_type), groups, Clock())
    filler = function if isinstance(function, KeyedStateBootstrapFunction) else _Columns(function)
    get, context = getter(key), BootstrapContext(keyed)
    filler.open(KeyedStateStore(keyed))
    for row in rows_of(data):
        current_key = shaped(get(row), key_type)
        try:
            keyed.key_hash.hash(current_key)  # raises for a value that cannot be a key
            keyed.enter(current_key)
        except PenstockError as error:
            raise SavepointError(f"The key {current_key!r} of the row {row!r} cannot be a key: {error}") from error
        filler.process_element(row, context)
    filler.close()
    keyed.settle()
    keyed.resume(None, None)
    _check(keyed)
    keyed.handles, keyed.filters, keyed.caches = {}, {}, []
    return keyed


def getter(column: Key) -> Callable[[Any], Any]:
    """A function from a row to the value of a column; a function is returned unchanged."""
    if callable(column):
        return column

    def get(row: Any) -> Any:
        try:
            return row[column]
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise SavepointError(
                f"The row {row!r} has no column {column!r}. Give the name of a column that it has, or a function of a "
                "row."
            ) from error

    return get


def rows_of(data: Any) -> Iterator[Any]:
    """The rows of a table as dictionaries; the items of any other iterable, unchanged."""
    import pyarrow as pa

    if hasattr(data, "toLocalIterator"):
        return (row.asDict(recursive=True) for row in data.toLocalIterator())
    if hasattr(data, "to_pylist") and not hasattr(data, "to_batches"):
        return iter(data.to_pylist())
    if type(data).__module__.partition(".")[0] == "pandas":
        data = pa.Table.from_pandas(data, preserve_index=False)
    elif hasattr(data, "__arrow_c_stream__") and not hasattr(data, "read_next_batch"):
        data = pa.table(data)
    if hasattr(data, "to_batches"):
        data = data.to_batches()
    elif not hasattr(data, "read_next_batch"):
        return iter(data)
    return (row for batch in data for row in batch.to_pylist())


def shaped(value: Any, declared: TypeInformation[Any] | None) -> Any:
    """A table's value by its declared type: dictionaries become rows or tuples, pairs become maps."""
    if value is None or declared is None:
        return value
    if isinstance(declared, types.RowTypeInfo | types.TupleTypeInfo) and isinstance(value, dict):
        values = [shaped(item, kind) for item, kind in zip(value.values(), declared.field_types, strict=False)]
        if isinstance(declared, types.TupleTypeInfo):
            return tuple(values)
        names = declared.field_names
        values = [shaped(value.get(name), kind) for name, kind in zip(names, declared.field_types, strict=True)]
        return Row.of_values(values, tuple(names))
    if isinstance(declared, types.ListTypeInfo) and isinstance(value, list):
        return [shaped(item, declared.element_type) for item in value]
    if isinstance(declared, types.MapTypeInfo) and isinstance(value, list | dict):
        return {shaped(k, declared.key_type): shaped(v, declared.value_type) for k, v in dict(value).items()}
    return value


def _check(keyed: KeyedState) -> None:
    for name, namespaces in keyed.tables():
        info = keyed.infos.get(name)
        if info is None or not info.types:
            continue
        checks, alive = [conversion(None, type_of(text)) for text in info.types], TTL in info.serializers
        for slot, stored in ((slot, stored) for table in namespaces.values() for slot, stored in table.items()):
            for check, values in zip(checks, _parts(info.kind, stored, alive), strict=True):
                _check_all(name, keyed.key_of(slot), check, values)


def _parts(kind: str, stored: Any, alive: bool) -> Sequence[Iterable[Any]]:
    def bare(value: Any) -> Any:
        return value[0] if alive else value

    if kind == "ListState":
        return ([bare(item) for item in stored],)
    if kind == "MapState":
        return list(stored), [bare(item) for item in stored.values()]
    return ([bare(stored)],)


def _check_all(name: str, key: Any, check: Callable[[Any], Any] | None, values: Iterable[Any]) -> None:
    if check is None:
        return
    for value in values:
        try:
            check(value)
        except Exception as error:
            raise SavepointError(
                f"The state {name!r} of the key {key!r} would have {value!r}, which is not of its declared type: "
                f"{error}"
            ) from error


def broadcast_entries(descriptor: descriptors.MapStateDescriptor[Any, Any], entries: Any) -> dict[Any, Any]:
    """The checked entries of a broadcast state."""
    result = shaped_entries(entries, descriptor)
    _check_all(descriptor.name, None, conversion(None, descriptor.key_type_info), result)
    _check_all(descriptor.name, None, conversion(None, descriptor.value_type_info), result.values())
    return result


def list_elements(descriptor: descriptors.ListStateDescriptor[Any], elements: Iterable[Any]) -> list[Any]:
    """The checked elements of a list state."""
    result = [shaped(element, descriptor.elem_type_info) for element in elements]
    _check_all(descriptor.name, None, conversion(None, descriptor.elem_type_info), result)
    return result
