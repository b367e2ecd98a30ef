"""Writes records as typed columns, as the native module should: the reference that it is compared with.

Integers are differences to the smallest in as few bytes as that takes; texts that repeat are written once. What is not
exactly one of the plain types (a subclass, a lone surrogate, a field that is now an int, now a float) does not fit.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from penstock.runtime.buffers.columns import TAG, UNKNOWN

_NONE, _INTS, _FLOATS, _BOOLS, _TEXTS, _CODED, _BYTES, _TUPLES = range(8)
_NULLABLE = 0x80
_DEPTH = 8
_MAX_COUNT = 1 << 24
_SAMPLE = 256
"""So many texts decide whether a column is coded."""
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}


class _Misfit(Exception):
    """A value that no column can hold."""


def encode(values: list[Any], key: int = UNKNOWN, extras: bytes = b"") -> bytes | None:
    """Records as typed columns."""
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
