"""Keyed state of one operator in one subtask.

State is held in *tables*: per state name and namespace (a window, or none) a dict from key to value. The key is the
canonical form of :mod:`.javahash`, so keys are told apart as Java tells them apart. :meth:`KeyedState.sections`
regroups everything by key group, the unit in which state moves between subtasks. Access is O(1), a regrouping O(keys).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from penstock.runtime.javahash import KeyHash
from penstock.runtime.keygroups import key_group_of_hash, null_key

VOID = None
"""The namespace of state that belongs to no window."""

Table = dict[Any, Any]


class KeyedState:
    """All keyed state of an operator's subtask, and the current key.

    Args:
        key_hash: the compiled key type.
        max_parallelism: number of key groups.

    Attributes:
        current_key: the key as the key selector returned it.
        slot: its canonical form, by which tables are addressed.
    """

    def __init__(self, key_hash: KeyHash, max_parallelism: int) -> None:
        self._key_hash = key_hash
        self._max_parallelism = max_parallelism
        self._tables: dict[str, dict[Any, Table]] = {}
        self._keys: Table = {}  # canonical form → key, where they differ
        self.current_key: Any = None
        self.slot: Any = None

    def enter(self, key: Any) -> Any:
        """Make a key the current one; returns its canonical form.

        Raises:
            TypeInfoError: the key is None.
        """
        if key is None:
            raise null_key()
        self.current_key = key
        if type(key) is str or self._key_hash.identity:
            self.slot = key
            return key
        slot = self.slot = self._key_hash.canonical(key)
        if slot not in self._keys:
            self._keys[slot] = key
        return slot

    def table(self, name: str, namespace: Any = VOID) -> Table:
        """The table of a state name in a namespace; the same dict each time."""
        return self._tables.setdefault(name, {}).setdefault(namespace, {})

    def sections(self) -> dict[int, dict[tuple[str, Any], Table]]:
        """Everything by key group: group → (name, namespace) → key → value."""
        result: dict[int, dict[tuple[str, Any], Table]] = {}
        for name, namespaces in self._tables.items():
            for namespace, table in namespaces.items():
                for slot, value in table.items():
                    key = self._keys.get(slot, slot)
                    group = key_group_of_hash(self._key_hash.hash(key), self._max_parallelism)
                    result.setdefault(group, {}).setdefault((name, namespace), {})[key] = value
        return result


class _State:
    """Base of the handles a user function holds: state of whatever key is current."""

    __slots__ = ("_keyed", "_table")

    def __init__(self, keyed: KeyedState, name: str) -> None:
        self._keyed = keyed
        self._table = keyed.table(name)

    def clear(self) -> None:
        """Forget the state of the current key."""
        self._table.pop(self._keyed.slot, None)


class ValueState(_State):
    """One value per key (PyFlink: ``ValueState``)."""

    __slots__ = ("_default",)

    def __init__(self, keyed: KeyedState, name: str, default: Any = None) -> None:
        super().__init__(keyed, name)
        self._default = default

    def value(self) -> Any:
        """The value of the current key; a copy of the default (None unless set) where there is none."""
        found = self._table.get(self._keyed.slot, self)
        return copy.deepcopy(self._default) if found is self else found

    def update(self, value: Any) -> None:
        """Set the value of the current key; None clears it."""
        if value is None:
            self.clear()
        else:
            self._table[self._keyed.slot] = value


class ListState(_State):
    """A list per key (PyFlink: ``ListState``)."""

    __slots__ = ()

    def get(self) -> Iterator[Any]:
        """The elements of the current key, in order of addition."""
        return iter(list(self._table.get(self._keyed.slot, ())))

    def add(self, value: Any) -> None:
        """Append one element."""
        self._table.setdefault(self._keyed.slot, []).append(value)

    def add_all(self, values: list[Any]) -> None:
        """Append elements."""
        if values:
            self._table.setdefault(self._keyed.slot, []).extend(values)

    def update(self, values: list[Any]) -> None:
        """Replace all elements; an empty list clears."""
        if values:
            self._table[self._keyed.slot] = list(values)
        else:
            self.clear()

    def __iter__(self) -> Iterator[Any]:
        return self.get()


class ReducingState(_State):
    """The running reduction per key (PyFlink: ``ReducingState``)."""

    __slots__ = ("_reduce",)

    def __init__(self, keyed: KeyedState, name: str, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__(keyed, name)
        self._reduce = reduce

    def get(self) -> Any:
        """The reduction of all values added for the current key, None without any."""
        return self._table.get(self._keyed.slot)

    def add(self, value: Any) -> None:
        """Reduce one more value into it."""
        slot = self._keyed.slot
        self._table[slot] = self._reduce(self._table[slot], value) if slot in self._table else value
