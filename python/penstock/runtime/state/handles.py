"""The state objects that functions use: a value, a list, a map, a running reduction, a running aggregation per key. A
handle shows the state of the current key in one namespace: none, or a window. As in Flink, handles of one name are one
object per operator, which shows the namespace asked for last. Names are PyFlink's.
NaN as a key of a map equals itself, as in Java: it is stored as one single NaN object, by which a dict finds it."""

from __future__ import annotations

import copy
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

from penstock.common.functions import state as api
from penstock.common.row import Row, names_of
from penstock.errors import InvalidProgramError
from penstock.runtime.state.keyed import VOID, KeyedState, Table
from penstock.runtime.state.tracked_tables import ATOMS, frozen
from penstock.runtime.usercode.failure import state_error
from penstock.runtime.usercode.functions import mark

_LOG = logging.getLogger("penstock")
MISSING = object()
_EMPTY: Table = {}


def no_key(what: str) -> InvalidProgramError:
    """The error for using keyed state or timers while no key is current."""
    return InvalidProgramError(
        f"{what} was used while no key is current: in open(), in close(), or for a broadcast element. It belongs to a "
        "key; use it where an element or a timer of the keyed stream is processed.",
        flink_class="java.lang.NullPointerException",
    )


class State(api.State):
    """Base class of the handles."""

    kind: ClassVar[str] = "State"

    def __init__(self, keyed: KeyedState, name: str) -> None:
        self._keyed = keyed
        self.name: str = name
        self.in_namespace(VOID)

    @property
    def mark(self) -> str:
        """That of its functions (:func:`~penstock.runtime.usercode.functions.mark`); "" where it has none."""
        return ""

    def is_plain(self, keyed: KeyedState) -> bool:
        """Whether its values are in the table of its name of a keyed state, and nowhere else."""
        return self._keyed is keyed and self._namespace is VOID

    def in_namespace(self, namespace: Any) -> None:
        self._namespace = namespace
        self._table = self._keyed.table(self.name) if namespace is VOID else None

    def _read(self, *, writing: bool = False) -> Any:
        table = self._table
        if table is None:
            table = self._keyed.find(self.name, self._namespace) or _EMPTY
        value = table.get(self._keyed.slot, MISSING)
        if value is MISSING and self._keyed.slot is None:
            self._miss_key(writing)
        return value

    def _miss_key(self, writing: bool) -> None:
        """Refuse to be used without a key; in PyFlink what is written without one is lost, with a warning here."""
        warned = self._keyed.loses
        if warned is None or not writing:
            raise no_key(f"The state {self.name!r}")
        if self.name not in warned:
            warned.add(self.name)
            _LOG.warning(
                "open() writes into the state %r while no key is current, and what it writes is lost, as in PyFlink. "
                "Write where an element of the key is processed.",
                self.name,
            )

    def _write(self, value: Any) -> None:
        if self._keyed.slot is None:
            self._miss_key(True)
            return
        table = self._table
        if table is None:
            table = self._keyed.table(self.name, self._namespace)
        table[self._keyed.slot] = value

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r}>"

    def clear(self) -> None:
        if self._keyed.slot is None:
            self._miss_key(True)
        else:
            self._keyed.drop(self.name, self._namespace)


class MergingState(State):
    """Base class of handles whose namespaces can be merged, as session windows do."""

    def merge(self, first: Any, second: Any) -> Any:
        raise NotImplementedError

    def merge_namespaces(self, target: Any, sources: Iterable[Any]) -> None:
        merge_tables(self._keyed, self.name, target, sources, self.merge)


def merge_tables(
    keyed: KeyedState, name: str, target: Any, sources: Iterable[Any], merge: Callable[[Any, Any], Any]
) -> None:
    """Move the current key's values into ``target``: sources are merged in order, then with the target's value."""
    slot, merged = keyed.slot, MISSING
    for source in sources:
        value = (keyed.find(name, source) or _EMPTY).get(slot, MISSING)
        if value is not MISSING:
            keyed.drop(name, source)
            merged = value if merged is MISSING else merge(merged, value)
    if merged is not MISSING:
        table = keyed.table(name, target)
        table[slot] = merge(table[slot], merged) if slot in table else merged


class ValueState(State, api.ValueState[Any]):
    """One value per key (PyFlink: ``ValueState``)."""

    kind = "ValueState"

    def __init__(self, keyed: KeyedState, name: str, default: Any = None) -> None:
        super().__init__(keyed, name)
        self.default: Any = default

    def value(self) -> Any:
        table, slot = self._table, self._keyed.slot
        # without another call where there is a key and no window
        value = self._read() if table is None or slot is None else table.get(slot, MISSING)
        if value is MISSING:
            value = self.default
            return value if value is None else copy.deepcopy(value)
        return value

    def update(self, value: Any) -> None:
        table, slot = self._table, self._keyed.slot
        if value is None:
            self.clear()
        elif table is None or slot is None:
            self._write(value)
        else:
            table[slot] = value


class ListState(MergingState, api.ListState[Any]):
    """A list per key (PyFlink: ``ListState``)."""

    kind = "ListState"

    def get(self) -> Iterator[Any]:
        elements = self._read()
        return iter(() if elements is MISSING else list(elements))

    def add(self, value: Any) -> None:
        self.add_all([value])

    def add_all(self, values: list[Any]) -> None:
        if values:
            elements = self._read(writing=True)
            if elements is MISSING:
                self._write(list(values))
            else:
                elements.extend(values)
                if self._keyed.changes is not None:
                    self._write(elements)
        elif values is None:
            raise _no_values("add_all", self.name)

    def update(self, values: list[Any]) -> None:
        if values:
            self._write(list(values))
        elif values is None:
            raise _no_values("update", self.name)
        else:
            self.clear()

    def merge(self, first: Any, second: Any) -> Any:
        return first + second

    def __iter__(self) -> Iterator[Any]:
        return self.get()


def _no_values(call: str, name: str) -> InvalidProgramError:
    return InvalidProgramError(
        f"{call}() of the list state {name!r} was given None; a list is needed. Give [] for no elements.",
        flink_class="java.lang.NullPointerException",
    )


class ReducingState(MergingState, api.ReducingState[Any]):
    """The running reduction per key (PyFlink: ``ReducingState``)."""

    kind = "ReducingState"

    def __init__(self, keyed: KeyedState, name: str, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__(keyed, name)
        self._reduce = reduce

    @property
    def mark(self) -> str:
        return mark(self._reduce, ["reduce"])

    def get(self) -> Any:
        value = self._read()
        return None if value is MISSING else value

    def add(self, value: Any) -> None:
        self._write(self._added(self._read(), value))

    def _added(self, current: Any, value: Any) -> Any:
        try:
            return value if current is MISSING else self._reduce(current, value)
        except Exception as error:
            raise self._failure() from error

    def _failure(self) -> Exception:
        return state_error("ReduceFunction", "reducing")

    def merge(self, first: Any, second: Any) -> Any:
        return self._reduce(first, second)


class AggregatingState(MergingState, api.AggregatingState[Any, Any]):
    """The running aggregation per key (PyFlink: ``AggregatingState``)."""

    kind = "AggregatingState"

    def __init__(self, keyed: KeyedState, name: str, function: Any) -> None:
        super().__init__(keyed, name)
        self._function = function

    @property
    def mark(self) -> str:
        return mark(self._function, ["create_accumulator", "add", "get_result"])

    def get(self) -> Any:
        accumulator = self._read()
        return None if accumulator is MISSING else self._function.get_result(accumulator)

    def add(self, value: Any) -> None:
        self._write(self._added(self._read(), value))

    def _added(self, current: Any, value: Any) -> Any:
        function = self._function
        try:
            return function.add(value, function.create_accumulator() if current is MISSING else current)
        except Exception as error:
            raise self._failure() from error

    def _failure(self) -> Exception:
        return state_error("AggregateFunction", "aggregating")

    def merge(self, first: Any, second: Any) -> Any:
        return self._function.merge(first, second)


class MapView:
    """The reading methods of maps; ``_entries`` is the dict to read."""

    _entries: Any

    def get(self, key: Any) -> Any:
        entries = self._entries
        return entries.get(key_in(entries, key))

    def contains(self, key: Any) -> bool:
        entries = self._entries
        return key_in(entries, key) in entries

    def is_empty(self) -> bool:
        return not self._entries

    def keys(self) -> Iterable[Any]:
        return list(self._entries)

    def values(self) -> Iterable[Any]:
        return list(self._entries.values())

    def items(self) -> Iterable[tuple[Any, Any]]:
        return list(self._entries.items())

    __getitem__ = get
    __contains__ = contains


class MapState(MapView, State, api.MapState[Any, Any]):
    """A map per key (PyFlink: ``MapState``). NaN equals itself as a key of it, see :mod:`.map_keys`."""

    kind = "MapState"

    @property
    def _entries(self) -> dict[Any, Any]:
        return self._held()

    def _held(self, *, writing: bool = False) -> dict[Any, Any]:
        entries = self._read(writing=writing)
        return {} if entries is MISSING else entries

    def put(self, key: Any, value: Any) -> None:
        self.put_all({key: value})

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        if dict_value:
            entries = self._held(writing=True)
            for key, value in dict(dict_value).items():
                entries[key_in(entries, key)] = value
            self._write(entries)

    def remove(self, key: Any) -> None:
        entries = self._held(writing=True)
        removed = entries.pop(key_in(entries, key), MISSING)
        if not entries:
            self.clear()
        elif removed is not MISSING and self._keyed.changes is not None:
            self._write(entries)


class _Read(State):
    """Handles that record reads of mutable values, which a function could change in place."""

    def _shown(self) -> None:
        table: Table | None = self._table
        if table is None:
            table = self._keyed.find(self.name, self._namespace)
        if table is not None:
            table.touch(self._keyed.slot)  # type: ignore[attr-defined] # a TrackedTable, or one beyond memory

    def _whole(self, get: Callable[[], Any]) -> Any:
        result = get()
        stored = self._read()
        if stored is not MISSING and not frozen(stored):
            self._shown()
        return result

    def _parts(self, parts: list[Any]) -> list[Any]:
        if not all(map(frozen, parts)):
            self._shown()
        return parts


class _ReadValue(_Read, ValueState):
    def value(self) -> Any:
        value = super().value()
        if type(value) not in ATOMS:
            stored = self._read()
            if stored is not MISSING and not frozen(stored):
                self._shown()
        return value


class _ReadResult(_Read):
    def get(self) -> Any:
        return self._whole(super().get)  # type: ignore[misc] # of the class that this one is mixed into


class _ReadList(_Read, ListState):
    def get(self) -> Iterator[Any]:
        return iter(self._parts(list(super().get())))


class _ReadMap(_Read, MapState):
    def get(self, key: Any) -> Any:
        return self._parts([super().get(key)])[0]

    def __getitem__(self, key: Any) -> Any:
        return self._parts([super().__getitem__(key)])[0]

    def values(self) -> Iterable[Any]:
        return self._parts(list(super().values()))

    def items(self) -> Iterable[tuple[Any, Any]]:
        return self._parts(list(super().items()))


_READING: dict[type[State], type[_Read]] = {
    ValueState: _ReadValue,
    ReducingState: _ReadResult,
    AggregatingState: _ReadResult,
    ListState: _ReadList,
    MapState: _ReadMap,
}


@cache
def tracked_class(cls: type[State]) -> type[State]:
    """The tracking subclass of a class of handles."""
    reading = next(reading for base, reading in _READING.items() if issubclass(cls, base))
    return type(f"Tracked{cls.__name__}", (reading, cls), {"__module__": __name__})


_WITHOUT = (int, str, bytes, bool, type(None))
_NAN = math.nan


def key_in(entries: Mapping[Any, Any], key: Any) -> Any:
    """The key that a map uses, or would use, for a key."""
    kind = type(key)
    if kind in _WITHOUT or not _has_nan(key):
        return key
    normal = _with_one_nan(key)
    if normal in entries:
        return normal
    alike = (
        candidate
        for candidate in reversed([*entries])
        if _has_nan(candidate) and (_with_one_nan(candidate),) == (normal,)
    )
    return next(alike, normal)


def _has_nan(key: Any) -> bool:
    waiting = [key]
    while waiting:
        part = waiting.pop()
        if isinstance(part, float):
            if part != part:
                return True
        elif isinstance(part, tuple | Row):
            waiting.extend(part)
    return False


def _with_one_nan(key: Any) -> Any:
    if isinstance(key, float):
        return _NAN if key != key else key
    if isinstance(key, Row):
        return Row.of_values([_with_one_nan(part) for part in key], names_of(key), key.get_row_kind())
    if not isinstance(key, tuple):
        return key
    parts = map(_with_one_nan, key)
    return type(key)._make(parts) if hasattr(key, "_make") else tuple(parts)  # type: ignore[attr-defined]
