"""Java's ``hashCode`` of the values that may be keys, and the form in which Python may compare them.

Flink places a key by its Java hash code, so the hash must be Java's to the bit, for the Java class that the key's
declared type names. Undeclared Python values stand for: str String, bool Boolean, int Long (BigInteger outside 64
bits), float Double, Decimal BigDecimal, tuple a Flink tuple, list ArrayList, Row Row. **An undeclared int therefore
hashes as a Long**: for a negative number that differs from an Integer, so declare ``Types.INT()`` where Flink has an
Integer.

Python's ``==`` is not Java's ``equals``: ``1 == 1.0 == True`` and ``0.0 == -0.0``, while Java tells all of them apart.
So keyed state and caches use the *canonical form* of a key: a hashable value that is equal exactly when Java's keys
are equal.

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
from typing import Any

from penstock.common.row import Row
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.errors import TypeInfoError

MAX_TUPLE_ARITY = 25
_MASK = 0xFFFFFFFF
_NAN64 = b"\x7f\xf8\0\0\0\0\0\0"
_NAN32 = b"\x7f\xc0\0\0"
_WIDTH = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32}

Hash = Callable[[Any], int]
Canonical = Callable[[Any], Any]


class KeyHash:
    """A key type, compiled: Java hash and canonical form of its values.

    Args:
        key_type: the declared type, or None for Python values as described above.

    Attributes:
        hash: value → signed 32-bit hash code. Raises TypeInfoError for a value that has no stable Java hash.
        canonical: value → hashable value, equal exactly when Java's values are equal.
        checked: the canonical form of a value that may be of another type than the declared one; raises what ``hash``
            raises then. Without it ``False`` would stand for ``[]``, and ``1`` for ``1.0``.
        identity: True when canonical(v) is v for every value of the type, so that callers may skip it.
    """

    __slots__ = ("canonical", "checked", "hash", "identity", "key_type")

    hash: Hash

    def __init__(self, key_type: TypeInformation[Any] | None = None) -> None:
        self.key_type: TypeInformation[Any] | None = key_type
        self.hash, canonical = _compile(key_type)
        self.identity: bool = canonical is None
        self.canonical: Canonical = canonical or _same
        self.checked: Canonical = self.canonical if self.hash is _undeclared else _checked_form(self)


def native_code(key_type: TypeInformation[Any] | None) -> bytes | None:
    """A key type as the native functions read it (``rust/runtime/src/key_type.rs``); None where they do not know it."""
    if key_type is None or isinstance(key_type, PickledBytesTypeInfo):
        return b"u"
    if isinstance(key_type, BasicTypeInfo):
        return _NATIVE.get(key_type.basic_type)
    if not isinstance(key_type, TupleTypeInfo):
        return None
    codes = [native_code(field) for field in key_type.field_types]
    return None if None in codes else b"t" + bytes([len(codes)]) + b"".join(filter(None, codes))


def java_hash(value: Any, key_type: TypeInformation[Any] | None = None) -> int:
    """Java's hash code of one value; compile a :class:`KeyHash` for many."""
    return KeyHash(key_type).hash(value)


def _same(value: Any) -> Any:
    return value


def _signed(h: int) -> int:
    h &= _MASK
    return h - 0x100000000 if h & 0x80000000 else h


# --- scalars ---------------------------------------------------------------------------------------------------------


def _string(value: str) -> int:
    h = 0
    units = value.encode() if value.isascii() else memoryview(value.encode("utf-16-le", "surrogatepass")).cast("H")
    for unit in units:
        h = (31 * h + unit) & _MASK
    return h - 0x100000000 if h & 0x80000000 else h


def _long(value: int) -> int:
    if not -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        raise TypeInfoError(f"The key {value} does not fit a LONG (64 bits). Declare the key as Types.BIG_INT().")
    return _signed(value ^ (value >> 32))


def _integer(bits: int, name: str) -> Hash:
    bound = 1 << (bits - 1)

    def hash_code(value: int) -> int:
        if not -bound <= value < bound:
            raise TypeInfoError(f"The key {value} does not fit a declared {name} ({bits} bits). Declare Types.LONG().")
        return int(value)

    return hash_code


def _boolean(value: Any) -> int:
    return 1231 if value else 1237


def _double_bits(value: float) -> bytes:
    return _NAN64 if value != value else struct.pack(">d", value)


def _float_bits(value: float) -> bytes:
    if value != value:
        return _NAN32
    try:
        return struct.pack(">f", value)
    except OverflowError:  # what Java's (float) cast makes of it
        return struct.pack(">f", float("inf") if value > 0 else float("-inf"))


def _double(value: float) -> int:
    high, low = struct.unpack(">II", _double_bits(value))
    return _signed(high ^ low)


def _float(value: float) -> int:
    return struct.unpack(">i", _float_bits(value))[0]


def _big_integer(value: int) -> int:
    magnitude, h = abs(value), 0
    words = magnitude.to_bytes((magnitude.bit_length() + 31) // 32 * 4, "big")
    for (word,) in struct.iter_unpack(">I", words):
        h = (31 * h + word) & _MASK
    return _signed(-h if value < 0 else h)


def _unscaled(value: Decimal) -> tuple[int, int]:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise TypeInfoError(
            f"The key {value!r} is no number, and Java's BigDecimal has no such value. Filter it out first."
        )
    unscaled = int("".join(map(str, digits)) or "0")
    return (-unscaled if sign else unscaled), -exponent


def _big_decimal(value: Decimal) -> int:
    unscaled, scale = _unscaled(value)
    return _signed(31 * _big_integer(unscaled) + scale)


def _undeclared_int(value: int) -> int:
    return _long(value) if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF else _big_integer(value)


# --- composites ------------------------------------------------------------------------------------------------------


def _fold(h: int, hashes: Any) -> int:
    for x in hashes:
        h = (31 * h + x) & _MASK
    return _signed(h)


def _bytes_in_row(value: bytes | bytearray) -> int:
    return _fold(1, (b - 256 if b > 127 else b for b in value))


def _nullable(hash_code: Hash) -> Hash:
    return lambda value: 0 if value is None else hash_code(value)


# --- undeclared values -----------------------------------------------------------------------------------------------


def _undeclared(value: Any) -> int:
    if value is None:
        return 0
    hash_code = _UNDECLARED.get(type(value)) or next((h for t, h in _UNDECLARED.items() if isinstance(value, t)), None)
    if hash_code is None:
        raise _no_hash(value)
    return hash_code(value)


def _undeclared_tuple(value: tuple) -> int:
    if len(value) > MAX_TUPLE_ARITY:
        raise TypeInfoError(f"A key tuple has {len(value)} fields; a Flink tuple has at most 25. Use a Row as key.")
    return _fold(0, map(_undeclared, value))


def _undeclared_list(value: list) -> int:
    return _fold(1, map(_undeclared, value))


def _row(field_hash: Hash, value: Row) -> int:
    fields = _fold(1, map(field_hash, value.values))
    return _signed(31 * value.get_row_kind().value + fields)


def _undeclared_row(value: Row) -> int:
    return _row(lambda v: _bytes_in_row(v) if isinstance(v, (bytes, bytearray)) else _undeclared(v), value)


_UNDECLARED: dict[type, Hash] = {  # bool before int, which is its base class
    str: _string,
    bool: _boolean,
    int: _undeclared_int,
    float: _double,
    tuple: _undeclared_tuple,
    list: _undeclared_list,
    Row: _undeclared_row,
    Decimal: _big_decimal,
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


def _canonical(value: Any) -> Any:
    """Types tag what Python would take for equal; no key contains a type, so tags never meet real tuples."""
    kind = type(value)
    if kind in _SIMPLE:
        return value
    if kind is tuple and _SIMPLE.issuperset(map(type, value)):
        return value
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, float):
        return (float, _double_bits(value))
    if isinstance(value, Decimal):
        return (Decimal, *_unscaled(value))
    if isinstance(value, tuple):  # also a named one, equal to a plain one
        return tuple(map(_canonical, value))
    if isinstance(value, list):
        return (list, *map(_canonical, value))
    if isinstance(value, Row):
        return (Row, value.get_row_kind().value, *map(_canonical, value.values))
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    raise _no_hash(value)


# --- declared types --------------------------------------------------------------------------------------------------


def _compile(key_type: TypeInformation[Any] | None) -> tuple[Hash, Canonical | None]:
    """Hash and canonical form of a type; None for the form means the value itself."""
    if key_type is None or isinstance(key_type, PickledBytesTypeInfo):
        return _undeclared, _canonical
    if isinstance(key_type, BasicTypeInfo) and key_type.basic_type in _BASIC:
        hash_code, python_type, canonical = _BASIC[key_type.basic_type]
        return _checked(hash_code, python_type, key_type), canonical
    if isinstance(key_type, (TupleTypeInfo, RowTypeInfo)):
        return _compile_fields(key_type)
    if isinstance(key_type, ListTypeInfo):
        hash_code, canonical = _compile(key_type.element_type)
        element, form = _nullable(hash_code), canonical or _same
        return (
            _checked(lambda value: _fold(1, map(element, value)), (list, tuple), key_type),
            lambda value: (list, *(None if v is None else form(v) for v in value)),
        )
    raise TypeInfoError(
        f"A {key_type} cannot be a key: it has no hash code that is the same in every process. Key by a text, a "
        "number, or a tuple of them.",
        flink_class="org.apache.flink.api.common.InvalidProgramException",
    )


def _checked(hash_code: Hash, python_type: type | tuple[type, ...], key_type: TypeInformation[Any]) -> Hash:
    def checked(value: Any) -> int:
        if not isinstance(value, python_type):
            raise TypeInfoError(
                f"The key {value!r} is a {type(value).__name__}, but the key type is declared as {key_type!r}. "
                "Declare the type the key selector really returns."
            )
        return hash_code(value)

    return checked


def _checked_form(key_hash: KeyHash) -> Canonical:
    """The canonical form behind a look at the exact type, or types of fields; what looks odd is hashed, which refuses
    it if it must."""
    key_type, hash_code, canonical = key_hash.key_type, key_hash.hash, key_hash.canonical
    if isinstance(key_type, (TupleTypeInfo, RowTypeInfo)):
        exact = [_exact(field) for field in key_type.field_types]
        outer = tuple if isinstance(key_type, TupleTypeInfo) else None

        def checked_fields(value: Any) -> Any:
            if type(value) is not outer or [*map(type, value)] != exact:
                hash_code(value)
            return canonical(value)

        return checked_fields
    kind = _exact(key_type)

    def checked(value: Any) -> Any:
        if type(value) is not kind:
            hash_code(value)
        return canonical(value)

    return checked


def _exact(key_type: TypeInformation[Any] | None) -> type | None:
    """The Python type whose values need no further look; None where each does."""
    if not isinstance(key_type, BasicTypeInfo):
        return None
    python_type = _BASIC[key_type.basic_type][1]
    return python_type[0] if isinstance(python_type, tuple) else python_type


def _compile_fields(key_type: TupleTypeInfo | RowTypeInfo) -> tuple[Hash, Canonical | None]:
    compiled = [_compile(t) for t in key_type.field_types]
    hashes = [_nullable(h) for h, _ in compiled]
    forms = [c or _same for _, c in compiled]
    arity = len(hashes)

    def fields(value: Any) -> Any:
        if len(value) != arity:
            raise TypeInfoError(f"The key {value!r} has {len(value)} fields, but its type {key_type!r} has {arity}.")
        return (h(v) for h, v in zip(hashes, value, strict=True))

    def form(value: Any) -> tuple:
        return tuple(None if v is None else f(v) for f, v in zip(forms, value, strict=True))

    if isinstance(key_type, TupleTypeInfo):
        plain = all(c is None for _, c in compiled)
        hash_code = _checked(lambda value: _fold(0, fields(value)), (tuple, list), key_type)
        return hash_code, tuple if plain else form

    def row(value: Any) -> int:
        kind = value.get_row_kind().value if isinstance(value, Row) else 0
        return _signed(31 * kind + _fold(1, fields(value)))

    def row_form(value: Any) -> tuple:
        return (value.get_row_kind().value if isinstance(value, Row) else 0, *form(value))

    return _checked(row, (Row, tuple, list), key_type), row_form


_BASIC: dict[BasicType, tuple[Hash, Any, Canonical | None]] = {
    BasicType.STRING: (_string, str, None),
    BasicType.CHAR: (_string, str, None),  # one UTF-16 unit: its value
    BasicType.BYTE: (_integer(8, "BYTE"), int, None),
    BasicType.SHORT: (_integer(16, "SHORT"), int, None),
    BasicType.INT: (_integer(32, "INT"), int, None),
    BasicType.LONG: (_long, int, None),
    BasicType.BIG_INT: (_big_integer, int, None),
    BasicType.BOOLEAN: (_boolean, (bool, int), bool),
    BasicType.DOUBLE: (_double, (float, int), lambda v: _double_bits(v)),
    BasicType.FLOAT: (_float, (float, int), lambda v: _float_bits(v)),
    BasicType.BIG_DEC: (_big_decimal, Decimal, _unscaled),
}

_NATIVE = {
    BasicType.STRING: b"s",
    BasicType.CHAR: b"s",
    BasicType.BYTE: b"1",
    BasicType.SHORT: b"2",
    BasicType.INT: b"4",
    BasicType.LONG: b"l",
    BasicType.BOOLEAN: b"b",
    BasicType.DOUBLE: b"d",
    BasicType.FLOAT: b"f",
}
