"""Java's ``hashCode`` of the values that may be keys, and the form in which Python may compare them.

Flink places a key by its Java hash code, so the hash must be Java's to the bit, for the Java class that the key's
declared type names. Undeclared Python values stand for: str String, bool Boolean, int Long (BigInteger outside 64
bits), float Double, Decimal BigDecimal, tuple a Flink tuple, list ArrayList, Row Row. **An undeclared int therefore
hashes as a Long**: for a negative number that differs from an Integer, so declare ``Types.INT()`` where Flink has an
Integer.

Python's ``==`` is not Java's ``equals``: ``1 == 1.0 == True`` and ``0.0 == -0.0``, while Java tells all of them apart.
So keyed state and caches use the *canonical form* of a key: a hashable value that is equal exactly when Java's keys
are equal. Declared types, and :class:`~.key_types.KeyHash`, are in :mod:`.key_types`.

Sources of the semantics: ``hashCode`` of java.lang, java.math, java.util.ArrayList; Flink's Tuple classes and Row
(1.11).
Cost: linear in the size of the key.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import date, time
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple

from penstock.common.row import Row
from penstock.common.typeinfo import BasicType
from penstock.errors import TypeInfoError

MAX_TUPLE_ARITY = 25
_MASK = 0xFFFFFFFF
_NAN64 = b"\x7f\xf8\0\0\0\0\0\0"
_NAN32 = b"\x7f\xc0\0\0"

Hash = Callable[[Any], int]
Canonical = Callable[[Any], Any]


def signed(h: int) -> int:
    """The low 32 bits as Java's int."""
    h &= _MASK
    return h - 0x100000000 if h & 0x80000000 else h


# --- scalars ---------------------------------------------------------------------------------------------------------


def hash_string(value: str) -> int:
    """``String.hashCode``, over UTF-16 units."""
    h = 0
    units = value.encode() if value.isascii() else memoryview(value.encode("utf-16-le", "surrogatepass")).cast("H")
    for unit in units:
        h = (31 * h + unit) & _MASK
    return h - 0x100000000 if h & 0x80000000 else h


def hash_long(value: int) -> int:
    """``Long.hashCode``. Raises TypeInfoError for a number of more than 64 bits."""
    if not -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        raise TypeInfoError(f"The key {value} does not fit a LONG (64 bits). Declare the key as Types.BIG_INT().")
    return signed(value ^ (value >> 32))


def integer_hash(bits: int, name: str) -> Hash:
    """``hashCode`` of Byte, Short and Integer; it refuses with TypeInfoError what does not fit ``bits``."""
    bound = 1 << (bits - 1)

    def hash_code(value: int) -> int:
        if not -bound <= value < bound:
            raise TypeInfoError(f"The key {value} does not fit a declared {name} ({bits} bits). Declare Types.LONG().")
        return int(value)

    return hash_code


def hash_boolean(value: Any) -> int:
    """``Boolean.hashCode``."""
    return 1231 if value else 1237


def double_bits(value: float) -> bytes:
    """``Double.doubleToLongBits``: one NaN, two zeros."""
    return _NAN64 if value != value else struct.pack(">d", value)


def float_bits(value: float) -> bytes:
    """``Float.floatToIntBits`` of the value cast to float."""
    if value != value:
        return _NAN32
    try:
        return struct.pack(">f", value)
    except OverflowError:  # what Java's (float) cast makes of it
        return struct.pack(">f", float("inf") if value > 0 else float("-inf"))


def hash_double(value: float) -> int:
    """``Double.hashCode``."""
    high, low = struct.unpack(">II", double_bits(value))
    return signed(high ^ low)


def hash_float(value: float) -> int:
    """``Float.hashCode``."""
    return struct.unpack(">i", float_bits(value))[0]


def hash_big_integer(value: int) -> int:
    """``BigInteger.hashCode``."""
    magnitude, h = abs(value), 0
    words = magnitude.to_bytes((magnitude.bit_length() + 31) // 32 * 4, "big")
    for (word,) in struct.iter_unpack(">I", words):
        h = (31 * h + word) & _MASK
    return signed(-h if value < 0 else h)


def unscaled_value(value: Decimal) -> tuple[int, int]:
    """Unscaled value and scale of a BigDecimal. Raises TypeInfoError for NaN and the infinities."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise TypeInfoError(
            f"The key {value!r} is no number, and Java's BigDecimal has no such value. Filter it out first."
        )
    unscaled = int("".join(map(str, digits)) or "0")
    return (-unscaled if sign else unscaled), -exponent


def hash_big_decimal(value: Decimal) -> int:
    """``BigDecimal.hashCode``."""
    unscaled, scale = unscaled_value(value)
    return signed(31 * hash_big_integer(unscaled) + scale)


def _undeclared_int(value: int) -> int:
    return hash_long(value) if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF else hash_big_integer(value)


class Basic(NamedTuple):
    """Keys of a declared basic type.

    Attributes:
        hash: their hash code.
        python_type: their class, or classes.
        canonical: their canonical form, None where a key is its own.
        native: the code of the type for the native functions (``rust/runtime/src/key_type.rs``), if they know it.
    """

    hash: Hash
    python_type: Any
    canonical: Canonical | None = None
    native: bytes | None = None


BASIC = {
    BasicType.STRING: Basic(hash_string, str, None, b"s"),
    BasicType.CHAR: Basic(hash_string, str, None, b"s"),  # one UTF-16 unit: its value
    BasicType.BYTE: Basic(integer_hash(8, "BYTE"), int, None, b"1"),
    BasicType.SHORT: Basic(integer_hash(16, "SHORT"), int, None, b"2"),
    BasicType.INT: Basic(integer_hash(32, "INT"), int, None, b"4"),
    BasicType.LONG: Basic(hash_long, int, None, b"l"),
    BasicType.BIG_INT: Basic(hash_big_integer, int),
    BasicType.BOOLEAN: Basic(hash_boolean, (bool, int), bool, b"b"),
    BasicType.DOUBLE: Basic(hash_double, (float, int), double_bits, b"d"),
    BasicType.FLOAT: Basic(hash_float, (float, int), float_bits, b"f"),
    BasicType.BIG_DEC: Basic(hash_big_decimal, Decimal, unscaled_value),
}


# --- composites ------------------------------------------------------------------------------------------------------


def fold(h: int, hashes: Any) -> int:
    """Hash codes as a list or a tuple adds them up, beginning with ``h``."""
    for x in hashes:
        h = (31 * h + x) & _MASK
    return signed(h)


def _bytes_in_row(value: bytes | bytearray) -> int:
    return fold(1, (b - 256 if b > 127 else b for b in value))


# --- undeclared values -----------------------------------------------------------------------------------------------


def hash_undeclared(value: Any) -> int:
    """Hash code by the Python type. Raises TypeInfoError for a value that has no stable one."""
    if value is None:
        return 0
    hash_code = _UNDECLARED.get(type(value)) or next((h for t, h in _UNDECLARED.items() if isinstance(value, t)), None)
    if hash_code is None:
        raise _no_hash(value)
    return hash_code(value)


def _tuple(value: tuple) -> int:
    if len(value) > MAX_TUPLE_ARITY:
        raise TypeInfoError(f"A key tuple has {len(value)} fields; a Flink tuple has at most 25. Use a Row as key.")
    return fold(0, map(hash_undeclared, value))


def _row(value: Row) -> int:
    hashes = (_bytes_in_row(v) if isinstance(v, (bytes, bytearray)) else hash_undeclared(v) for v in value)
    fields = fold(1, hashes)
    return signed(31 * value.get_row_kind().value + fields)


_UNDECLARED: dict[type, Hash] = {  # bool before int, which is its base class
    str: hash_string,
    bool: hash_boolean,
    int: _undeclared_int,
    float: hash_double,
    tuple: _tuple,
    list: lambda value: fold(1, map(hash_undeclared, value)),
    Row: _row,
    Decimal: hash_big_decimal,
}


def _no_hash(value: Any) -> TypeInfoError:
    kind = type(value).__name__
    if isinstance(value, (bytes, bytearray, memoryview)):
        advice = "Flink's byte[] hashes by identity; use key.hex(), key.decode(), or Row(key)"
    elif isinstance(value, (set, frozenset, dict)):
        advice = "its order is not fixed; use a sorted tuple of its items"
    elif type(value).__module__ == "numpy":
        advice = "Java has no such type; use the Python value, key.item()"
    elif isinstance(value, (date, time)):
        advice = "its hash differs from process to process; use key.isoformat()"
    elif isinstance(value, Enum):
        advice = "its hash differs from process to process; use key.name or key.value"
    else:
        advice = "its hash differs from process to process; use a str, int, or a tuple of its fields"
    return TypeInfoError(
        f"The key {value!r} is a {kind}, which cannot be a key because {advice}.",
        flink_class="org.apache.flink.api.common.InvalidProgramException",
    )


_SIMPLE = frozenset({str, int, type(None)})


def canonical_undeclared(value: Any) -> Any:
    """The canonical form of an undeclared value.

    Types tag what Python would take for equal; no key contains a type, so tags never meet real tuples.
    """
    kind = type(value)
    if kind in _SIMPLE:
        return value
    if kind is tuple and _SIMPLE.issuperset(map(type, value)):
        return value
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, float):
        return (float, double_bits(value))
    if isinstance(value, Decimal):
        return (Decimal, *unscaled_value(value))
    if isinstance(value, tuple):  # also a named one, equal to a plain one
        return tuple(map(canonical_undeclared, value))
    if isinstance(value, list):
        return (list, *map(canonical_undeclared, value))
    if isinstance(value, Row):
        return (Row, value.get_row_kind().value, *map(canonical_undeclared, value))
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    raise _no_hash(value)
