"""What functions hold of keyed state: a value, a list, a map, a running reduction, an aggregation per key.

A handle shows the state of whatever key is current, in one namespace: none, or a window. Handles of one name are one
object per operator, as in Flink: a function that asks for the same name in two namespaces holds one handle twice, which
shows the namespace asked for last.

Names are PyFlink's; source of the semantics: the ``Heap*State`` classes of Flink 1.11. Access is O(1).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from penstock.common import state as api
from penstock.errors import InvalidProgramError
from penstock.runtime.state.keyed import VOID, KeyedState, Table
from penstock.runtime.usercode.failure import state_error

MISSING = object()
_EMPTY: Table = {}


def no_key(what: str) -> InvalidProgramError:
    """The error for what belongs to a key while none is current.

    Args:
        what: as the subject of a sentence.
    """
    return InvalidProgramError(
        f"{what} was used while no key is current: in open(), in close(), or for a broadcast element. It belongs to a "
        "key; use it where an element or a timer of the keyed stream is processed.",
        flink_class="java.lang.NullPointerException",
    )


class State(api.State):
    """Base of the handles.

    Args:
        keyed: the operator's state.
        name: of this state.

    Attributes:
        kind: what a state of this class is called.
    """

    __slots__ = ("_keyed", "_namespace", "_table", "name")
    kind: ClassVar[str] = "State"

    def __init__(self, keyed: KeyedState, name: str) -> None:
        self._keyed = keyed
        self.name: str = name
        self.in_namespace(VOID)

    def in_namespace(self, namespace: Any) -> None:
        """Show another namespace from now on."""
        self._namespace = namespace
        self._table = self._keyed.table(self.name) if namespace is VOID else None

    def _read(self) -> Any:
        table = self._table
        if table is None:
            table = self._keyed.find(self.name, self._namespace) or _EMPTY
        found = table.get(self._keyed.slot, MISSING)
        if found is MISSING and self._keyed.slot is None:
            raise no_key(f"The state {self.name!r}")
        return found

    def _write(self, value: Any) -> None:
        if self._keyed.slot is None:
            raise no_key(f"The state {self.name!r}")
        table = self._table
        if table is None:
            table = self._keyed.table(self.name, self._namespace)
        table[self._keyed.slot] = value

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r}>"

    def clear(self) -> None:
        """Forget the state of the current key."""
        if self._keyed.slot is None:
            raise no_key(f"The state {self.name!r}")
        self._keyed.drop(self.name, self._namespace)


class MergingState(State):
    """Base of the handles whose namespaces can be merged, as sessions do."""

    __slots__ = ()

    def merge(self, one: Any, other: Any) -> Any:
        """Two values as one; ``one`` was there first."""
        raise NotImplementedError

    def merge_namespaces(self, target: Any, sources: Iterable[Any]) -> None:
        """Move what the sources hold of the current key into the target, in order."""
        merge_tables(self._keyed, self.name, target, sources, self.merge)


def merge_tables(
    keyed: KeyedState, name: str, target: Any, sources: Iterable[Any], merge: Callable[[Any, Any], Any]
) -> None:
    """Move the current key's values from the namespaces ``sources`` into ``target``: first they become one, in order,
    then it comes after what the target holds."""
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

    __slots__ = ("_default",)
    kind = "ValueState"

    def __init__(self, keyed: KeyedState, name: str, default: Any = None) -> None:
        super().__init__(keyed, name)
        self._default = default

    def value(self) -> Any:
        """The value of the current key; a copy of the default (None unless set) where there is none."""
        found = self._read()
        return copy.deepcopy(self._default) if found is MISSING else found

    def update(self, value: Any) -> None:
        """Set the value of the current key; None clears it."""
        if value is None:
            self.clear()
        else:
            self._write(value)


class ListState(MergingState, api.ListState[Any]):
    """A list per key (PyFlink: ``ListState``)."""

    __slots__ = ()
    kind = "ListState"

    def get(self) -> Iterator[Any]:
        """The elements of the current key, in order of addition."""
        found = self._read()
        return iter(() if found is MISSING else list(found))

    def add(self, value: Any) -> None:
        """Append one element."""
        self.add_all([value])

    def add_all(self, values: list[Any]) -> None:
        """Append elements."""
        if values:
            found = self._read()
            if found is MISSING:
                self._write(list(values))
            else:
                found.extend(values)
                if self._keyed.changes is not None:
                    self._write(found)
        elif values is None:
            raise _no_values("add_all", self.name)

    def update(self, values: list[Any]) -> None:
        """Replace all elements; an empty list clears."""
        if values:
            self._write(list(values))
        elif values is None:
            raise _no_values("update", self.name)
        else:
            self.clear()

    def merge(self, one: Any, other: Any) -> Any:
        return one + other

    def __iter__(self) -> Iterator[Any]:
        return self.get()


def _no_values(call: str, name: str) -> InvalidProgramError:
    return InvalidProgramError(
        f"{call}() of the list state {name!r} was given None; a list is needed. Give [] for no elements.",
        flink_class="java.lang.NullPointerException",
    )


class ReducingState(MergingState, api.ReducingState[Any]):
    """The running reduction per key (PyFlink: ``ReducingState``)."""

    __slots__ = ("_reduce",)
    kind = "ReducingState"

    def __init__(self, keyed: KeyedState, name: str, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__(keyed, name)
        self._reduce = reduce

    def get(self) -> Any:
        """The reduction of all values added for the current key, None without any."""
        found = self._read()
        return None if found is MISSING else found

    def add(self, value: Any) -> None:
        """Reduce one more value into it."""
        found = self._read()
        try:
            self._write(value if found is MISSING else self._reduce(found, value))
        except Exception as error:
            raise state_error("ReduceFunction", "reducing") from error

    def merge(self, one: Any, other: Any) -> Any:
        return self._reduce(one, other)


class AggregatingState(MergingState, api.AggregatingState[Any, Any]):
    """The running aggregation per key (PyFlink: ``AggregatingState``)."""

    __slots__ = ("_function",)
    kind = "AggregatingState"

    def __init__(self, keyed: KeyedState, name: str, function: Any) -> None:
        super().__init__(keyed, name)
        self._function = function

    def get(self) -> Any:
        """The result for all values added for the current key, None without any."""
        found = self._read()
        return None if found is MISSING else self._function.get_result(found)

    def add(self, value: Any) -> None:
        """Add one more value."""
        found, function = self._read(), self._function
        try:
            self._write(function.add(value, function.create_accumulator() if found is MISSING else found))
        except Exception as error:
            raise state_error("AggregateFunction", "aggregating") from error

    def merge(self, one: Any, other: Any) -> Any:
        return self._function.merge(one, other)


class MapView:
    """How maps are read that functions hold; ``_entries`` are those of the moment."""

    __slots__ = ()

    _entries: Any

    def get(self, key: Any) -> Any:
        """The value of a key of the map, None where there is none."""
        return self._entries.get(key)

    def contains(self, key: Any) -> bool:
        """Whether the map has the key."""
        return key in self._entries

    def is_empty(self) -> bool:
        """Whether the map has no key."""
        return not self._entries

    def keys(self) -> Iterable[Any]:
        """The keys of the map, in order of insertion."""
        return list(self._entries)

    def values(self) -> Iterable[Any]:
        """The values of the map."""
        return list(self._entries.values())

    def items(self) -> Iterable[tuple[Any, Any]]:
        """(key, value) pairs of the map."""
        return list(self._entries.items())

    def __getitem__(self, key: Any) -> Any:
        return self._entries.get(key)

    def __contains__(self, key: Any) -> bool:
        return key in self._entries


class MapState(MapView, State, api.MapState[Any, Any]):
    """A map per key (PyFlink: ``MapState``)."""

    __slots__ = ()
    kind = "MapState"

    @property
    def _entries(self) -> dict[Any, Any]:
        found = self._read()
        return {} if found is MISSING else found

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key of the map."""
        self.put_all({key: value})

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        """Set the values of several keys."""
        if dict_value:
            entries = self._entries
            entries.update(dict_value)
            self._write(entries)

    def remove(self, key: Any) -> None:
        """Remove a key of the map; without its last key the state is gone."""
        entries = self._entries
        found = entries.pop(key, MISSING)
        if not entries:
            self.clear()
        elif found is not MISSING and self._keyed.changes is not None:
            self._write(entries)
