"""Tables of one namespace, as parts of a table of all: there may be as many namespaces as keys, as of sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any

from penstock.runtime.state.disk.table import DiskTable

_UNSET: Any = object()


class Window(MutableMapping[Any, Any]):
    """The part of a table that is of one namespace. It holds nothing itself: it is made when it is asked for.

    Args:
        table: of all namespaces of a state.
        namespace: this one.
    """

    __slots__ = ("_namespace", "_table")

    def __init__(self, table: DiskTable, namespace: Any) -> None:
        self._table, self._namespace = table, namespace

    def get(self, slot: Any, default: Any = None) -> Any:
        """The value of a key, or the default."""
        return self._table.get((self._namespace, slot), default)

    def __getitem__(self, slot: Any) -> Any:
        return self._table[self._namespace, slot]

    def __contains__(self, slot: Any) -> bool:
        return (self._namespace, slot) in self._table

    def __setitem__(self, slot: Any, value: Any) -> None:
        self._table[self._namespace, slot] = value

    def __delitem__(self, slot: Any) -> None:
        del self._table[self._namespace, slot]

    def pop(self, slot: Any, default: Any = _UNSET) -> Any:
        """Forget a key and return its value, or the default."""
        place = self._namespace, slot
        return self._table.pop(place) if default is _UNSET else self._table.pop(place, default)

    def setdefault(self, slot: Any, default: Any = None) -> Any:
        """The value of a key, which is the default from now on if there was none."""
        return self._table.setdefault((self._namespace, slot), default)

    def touch(self, slot: Any) -> None:
        """The value of a key, if it has one, may have changed in place."""
        self._table.touch((self._namespace, slot))

    def mark(self, slots: Iterable[Any]) -> None:
        """These keys have changed."""
        self._table.mark((self._namespace, slot) for slot in slots)

    def __iter__(self) -> Iterator[Any]:
        return (slot for slot, _ in self.items())

    def items(self) -> Iterator[tuple[Any, Any]]:  # type: ignore[override]
        """Keys and values; O(state of the operator)."""
        return ((slot, value) for (namespace, slot), value in self._table.items() if namespace == self._namespace)

    def values(self) -> Iterator[Any]:  # type: ignore[override]
        """The values; O(state of the operator)."""
        return (value for _, value in self.items())

    def __len__(self) -> int:
        """How many keys; O(state of the operator)."""
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        """True: whether there is a key would take looking at all."""
        return True
