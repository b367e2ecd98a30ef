"""Records as typed columns in bytes: the reference of what the native module does, and its stand-in.

A buffer of records of one plain type (texts, integers up to 64 bits, floats, truth values, bytes, tuples of them up to
eight levels deep, None anywhere) becomes a column per field. Integers are differences to the smallest in as few bytes
as that takes, so a field that is always 1 takes none; texts that repeat are written once. Values come back with their
exact types; what is not exactly one of these types (a subclass, a lone surrogate, a field that is now an int, now a
float) is refused. The format stands in ``rust/runtime/src/columns/mod.rs``.

Cost: O(bytes).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

TAG = 1
"""First byte of a buffer."""
RECORD, UNKNOWN = 254, 255
"""The key is the record itself; the key is no field of it, or nobody knows."""

_NONE, _INTS, _FLOATS, _BOOLS, _TEXTS, _CODED, _BYTES, _TUPLES = range(8)
_NULLABLE = 0x80
_DEPTH = 8
_MAX_COUNT = 1 << 24
"""Records of a buffer at the most, so that broken bytes cannot ask for any amount of memory."""
_SAMPLE = 256
"""So many texts decide whether a column is coded."""
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}


class _Misfit(Exception):
    """A value that no column can hold."""


def encode(values: list[Any], key: int = UNKNOWN, extras: bytes = b"") -> bytes | None:
    """Records as typed columns.

    Args:
        values: the records.
        key: which field of each record is its key.
        extras: bytes that travel with them.

    Returns:
        None when the records are not of one plain type.
    """
    if len(values) > _MAX_COUNT:
        return None
    try:
        column = _column(values, _DEPTH)
    except (_Misfit, UnicodeEncodeError):
        return None
    return struct.pack("<BBII", TAG, key, len(values), len(extras)) + extras + column


def _column(values: list[Any], depth: int) -> bytes:
    """A column. Recursive, to the depth of the tuples."""
    some = [value for value in values if value is not None]
    if not some:
        return bytes([_NONE])
    kinds = set(map(type, some))
    write = _WRITE.get(kinds.pop())
    if write is None or kinds:
        raise _Misfit
    kind, content = write(some, depth)
    if len(some) == len(values):
        return bytes([kind]) + content
    return bytes([kind | _NULLABLE, *(value is not None for value in values)]) + content


def _tuples(values: list[tuple], depth: int) -> tuple[int, bytes]:
    arity = len(values[0])
    if depth == 0 or arity > 255 or any(len(value) != arity for value in values):
        raise _Misfit
    fields = (_column(list(field), depth - 1) for field in zip(*values, strict=True))
    return _TUPLES, bytes([arity]) + b"".join(fields)


def _texts(values: list[str], _: int) -> tuple[int, bytes]:
    texts = [value.encode() for value in values]
    sample = texts[:_SAMPLE]
    if len(set(sample)) * 4 > len(sample) * 3:
        return _TEXTS, _strings(texts)
    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    return _CODED, struct.pack("<I", len(codes)) + _strings(list(codes)) + _ints([codes[text] for text in texts])


def _strings(values: list[bytes]) -> bytes:
    return _ints(list(map(len, values))) + b"".join(values)


def _ints(values: list[int]) -> bytes:
    base, top = min(values), max(values)
    if base < -(1 << 63) or top >= 1 << 63:
        raise _Misfit
    bits = (top - base).bit_length()
    if not bits:
        return struct.pack("<qB", base, 0)
    width = next(w for w in _UNSIGNED if bits <= 8 * w)
    return struct.pack(f"<qB{len(values)}{_UNSIGNED[width]}", base, width, *(value - base for value in values))


_WRITE: dict[type, Callable[[list[Any], int], tuple[int, bytes]]] = {
    int: lambda values, _: (_INTS, _ints(values)),
    float: lambda values, _: (_FLOATS, struct.pack(f"<{len(values)}d", *values)),
    bool: lambda values, _: (_BOOLS, bytes(values)),
    str: _texts,
    bytes: lambda values, _: (_BYTES, _strings(values)),
    tuple: _tuples,
}
"""How values of a type are written: the kind of the column, and what follows that."""


# --- reading ---------------------------------------------------------------------------------------------------------


def decode(data: bytes) -> tuple[list[Any], list[Any] | None, bytes]:
    """The records in typed columns, their keys if they are known, and the bytes that travelled with them.

    Raises:
        ValueError: these bytes are something else.
    """
    try:
        tag, key, count, length = struct.unpack_from("<BBII", data)
        reader = _Reader(data, 10)
        extras = reader.take(length)
        values = reader.column(_checked(count))
    except (struct.error, IndexError, KeyError, StopIteration, UnicodeDecodeError):
        tag = reader = None
    if tag != TAG or reader is None or reader.at != len(data):
        raise ValueError("these bytes are no buffer of columns")
    if key == UNKNOWN:
        return values, None, extras
    return values, list(values) if key == RECORD else [value[key] for value in values], extras


class _Reader:
    """Goes through the bytes of a buffer."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def take(self, count: int) -> bytes:
        start, self.at = self.at, self.at + count
        if self.at > len(self.data):
            raise IndexError
        return self.data[start : self.at]

    def unpack(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def column(self, count: int) -> list[Any]:
        """The values of a column. Recursive, to the depth of the tuples."""
        kind = self.take(1)[0]
        if not kind & _NULLABLE:
            return _READ[kind](self, count)
        presence = self.take(count)
        some = iter(_READ[kind & ~_NULLABLE](self, sum(presence)))
        return [next(some) if present else None for present in presence]

    def coded(self, count: int) -> list[str]:
        texts = [text.decode() for text in self.strings(_checked(*self.unpack("<I")))]
        return [texts[code] for code in self.ints(count)]

    def tuples(self, count: int) -> list[tuple]:
        fields = [self.column(count) for _ in range(self.take(1)[0])]
        return list(zip(*fields, strict=True)) if fields else [()] * count

    def ints(self, count: int) -> list[int]:
        base, width = self.unpack("<qB")
        if not width:
            return [base] * count
        return [base + each for each in self.unpack(f"<{count}{_UNSIGNED[width]}")]

    def strings(self, count: int) -> list[bytes]:
        return [self.take(length) for length in self.ints(count)]


_READ: dict[int, Callable[[_Reader, int], list[Any]]] = {
    _NONE: lambda reader, count: [None] * count,
    _INTS: _Reader.ints,
    _FLOATS: lambda reader, count: list(reader.unpack(f"<{count}d")),
    _BOOLS: lambda reader, count: list(map(bool, reader.take(count))),
    _TEXTS: lambda reader, count: [text.decode() for text in reader.strings(count)],
    _CODED: _Reader.coded,
    _BYTES: _Reader.strings,
    _TUPLES: _Reader.tuples,
}
"""How so many values of a kind are read."""


def _checked(count: int) -> int:
    if count > _MAX_COUNT:
        raise IndexError
    return count
