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
    out = bytearray(struct.pack("<BBII", TAG, key, len(values), len(extras)) + extras)
    try:
        _put_column(out, values, _DEPTH)
    except (_Misfit, UnicodeEncodeError):
        return None
    return bytes(out)


def _put_column(out: bytearray, values: list[Any], depth: int) -> None:
    """Recursive, to the depth of the tuples."""
    some = [value for value in values if value is not None]
    if not some:
        out.append(_NONE)
        return
    kind = type(some[0])
    if any(type(value) is not kind for value in some):
        raise _Misfit
    presence = b"" if len(some) == len(values) else bytes(value is not None for value in values)
    nullable = _NULLABLE if presence else 0
    if kind is str:
        _put_texts(out, [value.encode() for value in some], nullable, presence)
    elif kind is tuple:
        out.append(_TUPLES | nullable)
        out += presence
        _put_tuples(out, some, depth)
    elif kind in _PUT:
        number, put = _PUT[kind]
        out.append(number | nullable)
        out += presence
        put(out, some)
    else:
        raise _Misfit


def _put_tuples(out: bytearray, values: list[tuple], depth: int) -> None:
    arity = len(values[0])
    if depth == 0 or arity > 255 or any(len(value) != arity for value in values):
        raise _Misfit
    out.append(arity)
    for field in zip(*values, strict=True):
        _put_column(out, list(field), depth - 1)


def _put_ints(out: bytearray, values: list[int]) -> None:
    base, top = (min(values), max(values)) if values else (0, 0)
    if base < -(1 << 63) or top >= 1 << 63:
        raise _Misfit
    bits = (top - base).bit_length()
    width = 0 if not bits else next(w for w in _UNSIGNED if bits <= 8 * w)
    out += struct.pack("<qB", base, width)
    if width:
        out += struct.pack(f"<{len(values)}{_UNSIGNED[width]}", *(value - base for value in values))


def _put_floats(out: bytearray, values: list[float]) -> None:
    out += struct.pack(f"<{len(values)}d", *values)


def _put_strings(out: bytearray, values: list[bytes]) -> None:
    _put_ints(out, list(map(len, values)))
    out += b"".join(values)


def _put_texts(out: bytearray, values: list[bytes], nullable: int, presence: bytes) -> None:
    sample = values[:_SAMPLE]
    coded = len(set(sample)) * 4 <= len(sample) * 3
    out.append((_CODED if coded else _TEXTS) | nullable)
    out += presence
    if not coded:
        _put_strings(out, values)
        return
    codes = {text: code for code, text in enumerate(dict.fromkeys(values))}
    out += struct.pack("<I", len(codes))
    _put_strings(out, list(codes))
    _put_ints(out, [codes[value] for value in values])


_PUT: dict[type, tuple[int, Callable[[bytearray, list[Any]], None]]] = {
    int: (_INTS, _put_ints),
    float: (_FLOATS, _put_floats),
    bool: (_BOOLS, lambda out, values: out.extend(values)),
    bytes: (_BYTES, _put_strings),
}


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
            return self.present(kind, count)
        presence = self.take(count)
        some = iter(self.present(kind & ~_NULLABLE, sum(presence)))
        return [next(some) if present else None for present in presence]

    def present(self, kind: int, count: int) -> list[Any]:
        if kind == _INTS:
            return self.ints(count)
        if kind == _FLOATS:
            return list(self.unpack(f"<{count}d"))
        if kind == _BOOLS:
            return list(map(bool, self.take(count)))
        if kind == _TEXTS:
            return [text.decode() for text in self.strings(count)]
        if kind == _CODED:
            texts = [text.decode() for text in self.strings(_checked(*self.unpack("<I")))]
            return [texts[code] for code in self.ints(count)]
        if kind == _BYTES:
            return self.strings(count)
        if kind == _TUPLES:
            fields = [self.column(count) for _ in range(self.take(1)[0])]
            return list(zip(*fields, strict=True)) if fields else [()] * count
        if kind == _NONE:
            return [None] * count
        raise IndexError

    def ints(self, count: int) -> list[int]:
        base, width = self.unpack("<qB")
        if not width:
            return [base] * count
        return [base + each for each in self.unpack(f"<{count}{_UNSIGNED[width]}")]

    def strings(self, count: int) -> list[bytes]:
        return [self.take(length) for length in self.ints(count)]


def _checked(count: int) -> int:
    if count > _MAX_COUNT:
        raise IndexError
    return count
