"""How the entries of a keyed state are read: from whole values, as heap files have them, and from pairs of bytes, as
canonical ones have them.

The first bytes of a pair are key, namespace and, of a map, the map's key; after a key and a namespace whose sizes both
depend on the value come their lengths. The second are the value, a list's elements with commas between them, or a
map's value after a boolean. Source of the semantics: Flink's ``CompositeKeySerializationUtils``,
``ListDelimitedSerializer``, ``TimerSerializer`` and ``HeapKeyValueStateIterator``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.flink.cursor import plain
from penstock.flink.entries.readers import Form, Unreadable, form_of, map_of
from penstock.flink.entries.scalars import Reader
from penstock.flink.headers import KeyedHeader, StateInfo
from penstock.flink.snapshots import BASE, Serializer

KeyAndNamespace = Callable[[bytes, int], tuple[Any, Any, int]]
"""Reads a key and a namespace, and returns them with where they end."""

Pair = Callable[[bytes, int, int, int], Any]
"""Reads from a position the pair whose first bytes end at a second position, and the other ones at a third. Four bytes
are between the two."""

Whole = Callable[[bytes, int], tuple[Any, Any, Any, int]]
"""Reads an entry: key, namespace, value, and where it ends."""

VALUE_SERIALIZER = "VALUE_SERIALIZER"
_LONG = struct.Struct(">q").unpack_from
_COMMA, _BETWEEN = 44, 4
_TIMER = "org.apache.flink.streaming.api.operators.TimerSerializer"


class MapPairs(NamedTuple):
    """How the pairs of a map's entry are read; each is a key of the map with its value."""

    start: KeyAndNamespace
    pair: Pair  # from the map's key on; of a key and a value
    whole: Callable[[list[tuple[Any, Any]]], Any]  # makes the map


@dataclass(frozen=True)
class KeyedState:
    """A keyed state, and how its entries are read. The value of a timer is its time."""

    name: str
    kind: str
    whole: Whole | None = None
    pair: Pair | None = None  # of key, namespace and value
    map: MapPairs | None = None  # in place of ``pair``
    refusal: str | None = None  # the reason why it cannot be read; there is nothing else then


def keyed_states(header: KeyedHeader) -> list[KeyedState]:
    """The states of a file, in the order of their numbers. Linear in their serializers."""
    return [_state(header.key_serializer, info) for info in header.states]


def serializer_of(info: StateInfo, role: str) -> Serializer:
    """The serializer of a state in a role.

    Raises:
        Unreadable: it has none.
    """
    serializer = info.serializers.get(role)
    if serializer is None:
        raise Unreadable(f"nothing: there is not a {role}")
    return serializer


def _state(key: Serializer | None, info: StateInfo) -> KeyedState:
    try:
        value = serializer_of(info, VALUE_SERIALIZER)
        if info.type == "PRIORITY_QUEUE":
            return _timers(info, value)
        if key is None:
            raise Unreadable("an unknown serializer of keys")
        return _kept(info, form_of(key), form_of(serializer_of(info, "NAMESPACE_SERIALIZER")), value)
    except Unreadable as error:
        return KeyedState(info.name, info.kind, refusal=str(error))


def _timers(info: StateInfo, value: Serializer) -> KeyedState:
    """A timer is its time, with the sign's bit turned so that bytes have the order of times, then key and namespace."""
    if value.serializer != _TIMER or len(value.nested) != 2:
        raise Unreadable(f"{plain(value.serializer)} in a queue")
    read_key, read_namespace = (form_of(nested).read for nested in value.nested)

    def whole(data: bytes, at: int) -> tuple[Any, Any, int, int]:
        time = _LONG(data, at)[0] ^ -(1 << 63)
        key, at = read_key(data, at + 8)
        namespace, at = read_namespace(data, at)
        return key, namespace, time, at

    def pair(data: bytes, at: int, key_end: int, end: int) -> tuple[Any, Any, Any]:
        key, namespace, time, at = whole(data, at)
        _see_end(at, key_end, "a timer")
        return key, namespace, time

    return KeyedState(info.name, info.kind, whole, pair)


def _kept(info: StateInfo, key: Form, namespace: Form, value: Serializer) -> KeyedState:
    read_key, read_namespace, read_value = key.read, namespace.read, form_of(value).read

    def whole(data: bytes, at: int) -> tuple[Any, Any, Any, int]:
        window, at = read_namespace(data, at)
        owner, at = read_key(data, at)
        item, at = read_value(data, at)
        return owner, window, item, at

    start = _lengths_known(key, namespace) if key.length < 0 and namespace.length < 0 else _plain(key, namespace)
    kind = info.options.get("KEYED_STATE_TYPE")
    if kind == "MAP":
        return KeyedState(info.name, info.kind, whole, map=_map_pairs(start, value))
    item_of = _to_end(read_value)
    if kind == "LIST":
        (element,) = _parts(value, f"{BASE}ListSerializer")
        item_of = _delimited(element.read)

    def pair(data: bytes, at: int, key_end: int, end: int) -> tuple[Any, Any, Any]:
        owner, window, at = start(data, at)
        if at != key_end:
            _see_end(at, key_end, "a key")
        return owner, window, item_of(data, key_end + _BETWEEN, end)

    return KeyedState(info.name, info.kind, whole, pair)


def _parts(value: Serializer, name: str) -> list[Form]:
    if value.serializer != name:
        raise Unreadable(f"{plain(value.serializer)} in place of {name}")
    return list(map(form_of, value.nested))


def _plain(key: Form, namespace: Form) -> KeyAndNamespace:
    read_key, read_namespace = key.read, namespace.read

    def start(data: bytes, at: int) -> tuple[Any, Any, int]:
        owner, at = read_key(data, at)
        window, at = read_namespace(data, at)
        return owner, window, at

    return start


def _lengths_known(key: Form, namespace: Form) -> KeyAndNamespace:
    """A length is written behind what it is of, in as many bytes as it needs: enough to know how many to skip."""
    read_key, read_namespace = key.read, namespace.read

    def start(data: bytes, at: int) -> tuple[Any, Any, int]:
        owner, end = read_key(data, at)
        at = end + _bytes_for(end - at)
        window, end = read_namespace(data, at)
        return owner, window, end + _bytes_for(end - at)

    return start


def _bytes_for(length: int) -> int:
    return max(1, (length.bit_length() + 7) >> 3)


def _to_end(read_value: Reader) -> Callable[[bytes, int, int], Any]:
    def item(data: bytes, at: int, end: int) -> Any:
        value, at = read_value(data, at)
        if at != end:
            _see_end(at, end, "a value")
        return value

    return item


def _delimited(read_element: Reader) -> Callable[[bytes, int, int], list[Any]]:
    def item(data: bytes, at: int, end: int) -> list[Any]:
        values: list[Any] = []
        while at < end:
            if values:
                if data[at] != _COMMA:
                    raise ValueError(f"an element of a list is followed by {data[at]:#04x} in place of a comma")
                at += 1
            value, at = read_element(data, at)
            values.append(value)
        _see_end(at, end, "a list")
        return values

    return item


def _map_pairs(start: KeyAndNamespace, value: Serializer) -> MapPairs:
    key, item = _parts(value, f"{BASE}MapSerializer")
    read_key, read_item = key.read, item.read

    def pair(data: bytes, at: int, key_end: int, end: int) -> tuple[Any, Any]:
        entry, at = read_key(data, at)
        _see_end(at, key_end, "a key of a map")
        at += _BETWEEN
        if data[at]:  # null; what a serializer writes for it may follow
            return entry, None
        mapped, at = read_item(data, at + 1)
        _see_end(at, end, "a value of a map")
        return entry, mapped

    return MapPairs(start, pair, map_of(key))


def _see_end(at: int, end: int, what: str) -> None:
    if at != end:
        raise ValueError(f"{what} should end {end - at:,} bytes later" if at < end else f"{what} goes beyond its end")
