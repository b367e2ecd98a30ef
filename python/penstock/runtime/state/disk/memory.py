"""How much memory objects take, and the share of it that each operator's state may use."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice
from typing import Any
from weakref import WeakSet

_ENTRY = 260
"""Bytes of an entry besides its key and value: its places in dicts, and the number of its row."""
_MOST_PARTS = 10_000
"""Objects of a value that are looked at; a larger one counts as what has been seen times its length."""
_USERS: WeakSet[Any] = WeakSet()


def share(user: Any, memory: int) -> int:
    """The part of a process's memory for state that one of its users may have: all the same.

    Args:
        user: asks, and counts until it goes.
        memory: bytes for all.
    """
    _USERS.add(user)
    return memory // max(len(_USERS), 1)


def size_of(value: Any) -> int:
    """About how many bytes an object takes with all that is in it; O(parts), of the first ten thousand."""
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
    """About how many bytes an entry of a cache takes, by a few of them."""
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
