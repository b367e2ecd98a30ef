"""Estimates the memory of objects, and divides the memory for state among operators."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice
from typing import Any
from weakref import WeakSet

_ENTRY = 260  # bytes of an entry besides its key and value: dict entries and the row number
_MOST_PARTS = 10_000  # parts of a value that are measured; the rest is extrapolated
_USERS: WeakSet[Any] = WeakSet()


def share(user: Any, memory: int) -> int:
    """The memory that each user of a process's state memory may take: equal parts."""
    _USERS.add(user)
    return memory // max(len(_USERS), 1)


def size_of(value: Any) -> int:
    """An estimate of the bytes of an object with its parts."""
    size, parts, seen = 0, [value], 0
    known: set[int] = set()
    while parts and seen < _MOST_PARTS:
        part = parts.pop()
        seen += 1
        if id(part) in known or part is None or isinstance(part, type):
            continue
        known.add(id(part))
        size += sys.getsizeof(part, 64)
        parts.extend(_inside(part))
    return size if not parts else size * (len(parts) + seen) // seen


def entry_size(entries: Iterable[tuple[Any, Any]], number: int) -> int:
    """An estimate of the bytes of a cached entry, from a sample."""
    sizes = [_ENTRY + size_of(entry) for entry in islice(entries, number)]
    return sum(sizes) // len(sizes) if sizes else _ENTRY


def _inside(part: Any) -> Iterable[Any]:
    if isinstance(part, (str, bytes, int, float)):
        return ()
    if isinstance(part, dict):
        return [*part.keys(), *part.values()]
    if isinstance(part, (tuple, list, set, frozenset)):
        return part
    slots = (getattr(part, name, None) for name in getattr(type(part), "__slots__", ()) if isinstance(name, str))
    return [*slots, *vars(part).values()] if hasattr(part, "__dict__") else list(slots)
