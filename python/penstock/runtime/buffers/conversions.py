"""Converts single values as PyFlink's coders do (measured with 2.3.0), by declared type, or raises TypeInfoError. Whole
numbers lose their fraction, and wrap around where a collection is read; dates lose their time; times and timestamps
lose what is shorter than a millisecond, and their zone."""

from __future__ import annotations

import math
import operator
import struct
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, SupportsFloat, SupportsInt

from penstock.common.time import Instant, instant_of_value
from penstock.common.typeinfo import BasicType, SqlTimeType, TypeInformation
from penstock.common.typesystem.conversions import Convert
from penstock.runtime.buffers.value_checks import BITS, CLASSES, PRIMITIVES, Kind, a, kind_of, misfit

_FLOAT = struct.Struct("f")
CHANGING = frozenset({BasicType.FLOAT, BasicType.INSTANT, SqlTimeType.TIME, SqlTimeType.TIMESTAMP})
"""Types that convert even some values that fit."""


def float32(value: Any) -> Any:
    """A number as the nearest 32-bit float, infinite beyond the range; other values are unchanged."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    try:
        return _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def shortest32(value: Any) -> Any:
    """The shortest decimal with the same 32-bit float, which is what PyFlink collects."""
    single = float32(value)
    if not isinstance(single, float) or not math.isfinite(single):
        return single
    shown = (float(f"{single:.{digits}g}") for digits in range(6, 10))
    return next(candidate for candidate in shown if float32(candidate) == single)


def conversion(type_info: TypeInformation[Any], field: str, read: bool, collected: bool) -> Convert:
    """The conversion of values of a type."""
    kind = kind_of(type_info)
    change = _change(kind, read, collected)

    def cross(value: Any) -> Any:
        if value is None:
            if kind in PRIMITIVES:
                raise misfit(value, type_info, field, "it cannot be None")
            return None
        try:
            return change(value)
        except OverflowError:
            raise misfit(value, type_info, field, f"it has more than {BITS.get(kind)} bits") from None
        except (TypeError, ValueError, AttributeError):
            raise misfit(value, type_info, field, f"it is {a(type(value))}") from None

    return cross


def byte_array(type_info: TypeInformation[Any], field: str, collected: bool) -> Convert:
    """The conversion of byte arrays: to bytes, and to a list of signed numbers in the result."""

    def cross(value: Any) -> Any:
        if not isinstance(value, bytes | bytearray):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not bytes")
        return [byte - 256 if byte > 127 else byte for byte in value] if collected else bytes(value)

    return cross


def _change(kind: Kind | None, read: bool, collected: bool) -> Convert:
    if kind in BITS:
        return _wrapping(BITS[kind]) if read else _whole(BITS[kind])
    if kind is SqlTimeType.TIME and collected:
        return lambda value: value.replace(microsecond=0)
    if kind is BasicType.STRING and read:
        return _text
    if kind is BasicType.INSTANT and read:
        return lambda value: Instant.of_epoch_milli(instant_of_value(value).to_epoch_milli())
    return _CHANGES.get(kind) or _of_class(CLASSES[kind])


def _whole(bits: int) -> Convert:
    bound = 1 << (bits - 1)

    def whole(value: Any) -> int:
        if not isinstance(value, SupportsInt) or isinstance(value, str | bytes):
            raise TypeError(value)
        number = int(value)
        if not -bound <= number < bound:
            raise OverflowError(value)
        return number

    return whole


def _wrapping(bits: int) -> Convert:
    mask, sign = (1 << bits) - 1, 1 << (bits - 1)

    def wrapped(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(value)
        return ((value & mask) ^ sign) - sign

    return wrapped


def _of_class(classes: tuple[type, ...]) -> Convert:
    def same(value: Any) -> Any:
        if not isinstance(value, classes):
            raise TypeError(value)
        return value

    return same


def _number(value: Any) -> float:
    if not isinstance(value, SupportsFloat) or isinstance(value, str | bytes):
        raise TypeError(value)
    return float(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else _of_class((str,))(value)


def _decimal(value: Any) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(str(_of_class((int, float))(value)))


def _to_milliseconds(value: Any) -> Any:
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def _without_zone(value: datetime) -> datetime:
    return value if value.tzinfo is None else value.astimezone(timezone.utc).replace(tzinfo=None)


_CHANGES: dict[Kind | None, Convert] = {
    BasicType.BOOLEAN: lambda value: bool(operator.index(value)),
    BasicType.BIG_DEC: _decimal,
    BasicType.FLOAT: _number,
    BasicType.DOUBLE: _number,
    BasicType.INSTANT: _of_class((Instant, datetime)),
    SqlTimeType.DATE: lambda value: date.fromordinal(value.toordinal()),
    SqlTimeType.TIME: _to_milliseconds,
    SqlTimeType.TIMESTAMP: lambda value: _to_milliseconds(_without_zone(value)),
}
