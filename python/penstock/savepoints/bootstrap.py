"""State out of a table: rows of any origin through a function that keeps them, as an operator of a job would.

Cost: O(rows), and the state is in the memory of this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from penstock.common.row import Row
from penstock.common.state_descriptor import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
)
from penstock.common.typeinfo import (
    ListTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.errors import PenstockError, SavepointError
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.sections import StateInfo
from penstock.runtime.state.serializers import TTL, serializer_class
from penstock.runtime.state.store import KeyedStateStore, handle_of
from penstock.runtime.state.timers import Clock
from penstock.runtime.state.type_changes import conversion
from penstock.runtime.state.type_texts import type_of

Key = str | Callable[[Any], Any]
Columns = Mapping[StateDescriptor[Any], str | Callable[[Any], Any]]


class BootstrapContext:
    """What :meth:`KeyedStateBootstrapFunction.process_element` is given: the key, and timers of it."""

    def __init__(self, keyed: KeyedState) -> None:
        self._keyed = keyed

    def get_current_key(self) -> Any:
        """The key of the current row."""
        return self._keyed.current_key

    def timer_service(self) -> BootstrapContext:
        """Itself, as in a process function."""
        return self

    def register_event_time_timer(self, timestamp: int) -> None:
        """Have the job call ``on_timer`` for the current key when its watermark reaches a time in milliseconds."""
        self._keyed.event_timers.add(timestamp, self._keyed.slot, self._keyed.current_key, None)

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Have the job call ``on_timer`` for the current key when the clock reaches a time in milliseconds."""
        self._keyed.processing_timers.add(timestamp, self._keyed.slot, self._keyed.current_key, None)


class KeyedStateBootstrapFunction:
    """Makes keyed state and timers out of rows; to be derived from.

    Source of the names: ``org.apache.flink.state.api.functions.KeyedStateBootstrapFunction``.
    """

    def open(self, runtime_context: Any) -> None:
        """Called once, before all rows.

        Args:
            runtime_context: gives states by descriptor, as that of a process function.
        """

    def process_element(self, value: Any, ctx: BootstrapContext) -> None:
        """Called for each row.

        Args:
            value: the row.
            ctx: has its key, and registers timers.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Called once, after all rows."""


class _Columns(KeyedStateBootstrapFunction):
    """Takes a column for each state."""

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


def _filled(handle: Any, descriptor: StateDescriptor[Any]) -> Callable[[Any], Any]:
    """How a value of a row comes into a state."""
    if isinstance(descriptor, ListStateDescriptor):
        element = descriptor.elem_type_info
        return lambda values: handle.add_all([shaped(each, element) for each in values or ()])
    if isinstance(descriptor, MapStateDescriptor):
        return lambda entries: handle.put_all(shaped_entries(entries, descriptor))
    if isinstance(descriptor, ReducingStateDescriptor | AggregatingStateDescriptor):
        return lambda value: None if value is None else handle.add(value)
    declared = getattr(descriptor, "value_type_info", None)
    return lambda value: handle.update(shaped(value, declared))


def shaped_entries(entries: Any, descriptor: MapStateDescriptor[Any, Any]) -> dict[Any, Any]:
    """The entries of a map state: of a dictionary, or of pairs."""
    key, value = descriptor.key_type_info, descriptor.value_type_info
    return {shaped(k, key): shaped(v, value) for k, v in dict(entries or ()).items()}


def keyed_state(
    data: Any,
    key: Key,
    key_type: TypeInformation[Any] | None,
    function: KeyedStateBootstrapFunction | Columns,
    groups: int,
) -> KeyedState:
    """Keyed state out of rows.

    Args:
        data: a DataFrame of pandas, polars or Spark, an Arrow table or batches, or any rows.
        key: of a row: the name of a column, or a function.
        key_type: as in ``key_by``.
        function: keeps the rows; or by descriptor the column, or function of a row, whose values become the state.
        groups: max parallelism.

    Raises:
        SavepointError: a value is not of the type that its state declares, or a key is none.
    """
    keyed = KeyedState(KeyHash(key_type), groups, Clock())
    own = function if isinstance(function, KeyedStateBootstrapFunction) else _Columns(function)
    get, context = getter(key), BootstrapContext(keyed)
    own.open(KeyedStateStore(keyed))
    for row in rows_of(data):
        found = shaped(get(row), key_type)
        try:
            keyed.key_hash.hash(found)  # refuses what is no key
            keyed.enter(found)
        except PenstockError as error:
            raise SavepointError(f"The key {found!r} of the row {row!r} is none: {error}") from error
        own.process_element(row, context)
    own.close()
    keyed.settle()
    keyed.resume(None, None)
    _check(keyed)
    keyed.handles, keyed.filters, keyed.caches = {}, {}, []
    return keyed


def getter(column: Key) -> Callable[[Any], Any]:
    """What gives the value of a column, or of a function, of a row.

    Args:
        column: name of the column, or the function.
    """
    if callable(column):
        return column

    def get(row: Any) -> Any:
        try:
            return row[column]
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise SavepointError(
                f"The row {row!r} has no column {column!r}. Give the name of one that it has, or a function of a row."
            ) from error

    return get


def rows_of(data: Any) -> Iterator[Any]:
    """The rows of a table, as dictionaries; or of anything else that can be gone through, as they are.

    Args:
        data: as of :func:`keyed_state`.
    """
    if hasattr(data, "toLocalIterator"):
        return (row.asDict(recursive=True) for row in data.toLocalIterator())
    if hasattr(data, "to_batches"):
        return _of_batches(data.to_batches())
    if hasattr(data, "read_next_batch"):
        return _of_batches(data)
    if hasattr(data, "to_pylist"):
        return iter(data.to_pylist())
    if type(data).__module__.partition(".")[0] == "pandas":
        import pyarrow as pa

        return _of_batches(pa.Table.from_pandas(data, preserve_index=False).to_batches())
    if hasattr(data, "__arrow_c_stream__"):
        import pyarrow as pa

        return _of_batches(pa.table(data).to_batches())
    return iter(data)


def _of_batches(batches: Iterable[Any]) -> Iterator[Any]:
    return (row for batch in batches for row in batch.to_pylist())


def shaped(value: Any, declared: TypeInformation[Any] | None) -> Any:
    """A value of a table as a program has it: dictionaries as rows or tuples, pairs as maps, where that is declared."""
    if value is None or declared is None:
        return value
    if isinstance(declared, RowTypeInfo | TupleTypeInfo) and isinstance(value, dict):
        values = [shaped(each, kind) for each, kind in zip(value.values(), declared.field_types, strict=False)]
        if isinstance(declared, TupleTypeInfo):
            return tuple(values)
        names = declared.field_names
        values = [shaped(value.get(name), kind) for name, kind in zip(names, declared.field_types, strict=True)]
        return Row.of_values(values, tuple(names))
    if isinstance(declared, ListTypeInfo) and isinstance(value, list):
        return [shaped(each, declared.element_type) for each in value]
    if isinstance(declared, MapTypeInfo) and isinstance(value, list | dict):
        return {shaped(k, declared.key_type): shaped(v, declared.value_type) for k, v in dict(value).items()}
    return value


def _check(keyed: KeyedState) -> None:
    """All values are of the types that were declared.

    Raises:
        SavepointError: one is not.
    """
    for name, namespaces in keyed.tables():
        kind, texts = keyed.kinds.get(name, ("", ()))
        if not texts:
            continue
        alive = TTL in keyed.serializers.get(name, ())
        checks = [conversion(None, type_of(text)) if text else None for text in texts]
        for slot, stored in ((slot, stored) for table in namespaces.values() for slot, stored in table.items()):
            for check, values in zip(checks, _parts(kind, stored, alive), strict=True):
                for value in values if check is not None else ():
                    _checked(name, keyed.key_of(slot), value, check)


def _parts(kind: str, stored: Any, alive: bool) -> Sequence[Iterable[Any]]:
    """The values behind each type of a state."""

    def bare(value: Any) -> Any:
        return value[0] if alive else value

    if kind == "ListState":
        return ([bare(each) for each in stored],)
    if kind == "MapState":
        return list(stored), [bare(each) for each in stored.values()]
    return ([bare(stored)],)


def _checked(name: str, key: Any, value: Any, check: Any) -> None:
    try:
        check(value)
    except Exception as error:
        raise SavepointError(
            f"The state {name!r} of the key {key!r} would have {value!r}, which is not of its declared type: {error}"
        ) from error


def broadcast_entries(descriptor: MapStateDescriptor[Any, Any], entries: Any) -> dict[Any, Any]:
    """The entries of a broadcast state.

    Args:
        descriptor: of the state.
        entries: a dictionary, or pairs.

    Raises:
        SavepointError: one is not of the declared types.
    """
    found = shaped_entries(entries, descriptor)
    for declared, values in (
        (descriptor.key_type_info, found),
        (descriptor.value_type_info, found.values()),
    ):
        check = None if declared is None else conversion(None, declared)
        for value in values if check is not None else ():
            _checked(descriptor.name, None, value, check)
    return found


def list_elements(descriptor: ListStateDescriptor[Any], elements: Iterable[Any]) -> list[Any]:
    """The elements of a list that belongs to no key.

    Args:
        descriptor: of the state.
        elements: as of a table.

    Raises:
        SavepointError: one is not of the declared type.
    """
    declared = descriptor.elem_type_info
    found = [shaped(each, declared) for each in elements]
    check = None if declared is None else conversion(None, declared)
    for value in found if check is not None else ():
        _checked(descriptor.name, None, value, check)
    return found


def broadcast_form(descriptor: MapStateDescriptor[Any, Any]) -> StateInfo:
    """What a state file says of a broadcast state."""
    declared = descriptor.key_type_info, descriptor.value_type_info
    texts = tuple("" if each is None else repr(each) for each in declared)
    return StateInfo(descriptor.name, "MapState", tuple(map(serializer_class, declared)), texts, descriptor.version)
