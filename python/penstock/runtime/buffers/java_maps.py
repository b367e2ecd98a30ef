"""The order of a map's entries behind a border, by the switch ``penstock.pyflink.values``: that of a ``HashMap``.

Java makes a map of as many entries as were announced: its table has the next power of two from a third more on. A
collection is read into a table that grows, from its end, and then handed on. Which tables there are
was measured with PyFlink 2.3.0. Source: ``java.util.HashMap``. Cost: O(n log n) for n entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.common.java_hash import hash_string
from penstock.common.typeinfo import BasicType, TypeInformation
from penstock.runtime.buffers.value_checks import kind_of

Entries = Iterable[tuple[Any, Any]]

_HASHES: dict[Any, Callable[[Any], int]] = {
    BasicType.STRING: hash_string,
    BasicType.BYTE: int,
    BasicType.SHORT: int,
    BasicType.INT: int,
    BasicType.LONG: lambda value: value ^ (value >> 32),
}
_FIRST = 16
"""Buckets of a table that grows."""


def ordering(key_type: TypeInformation[Any], read: bool) -> Callable[[list[tuple[Any, Any]]], Entries] | None:
    """What puts the entries of a map in order; None for keys whose order stays.

    Args:
        key_type: of the keys.
        read: whether they come from a collection.
    """
    hash_code = _HASHES.get(kind_of(key_type))
    if hash_code is None:
        return None

    def by_bucket(entries: Entries, buckets: int) -> list[tuple[Any, Any]]:
        def bucket(entry: tuple[Any, Any]) -> int:
            unsigned = 0 if entry[0] is None else hash_code(entry[0]) & 0xFFFFFFFF
            return (unsigned ^ unsigned >> 16) & (buckets - 1)

        return sorted(entries, key=bucket)

    def ordered(entries: list[tuple[Any, Any]]) -> Entries:
        buckets = 1
        while 3 * buckets < 4 * len(entries):
            buckets *= 2
        return by_bucket(by_bucket(reversed(entries), max(_FIRST, buckets)) if read else entries, buckets)

    return ordered
