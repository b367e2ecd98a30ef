"""Single values as PyFlink's coders leave them, by their declared type; what fits none is refused with
:class:`~penstock.errors.TypeInfoError`.

Whole numbers lose what is behind the point, and wrap where a collection is read; days lose their time, times and
timestamps what is shorter than a millisecond, and their zone. Measured with PyFlink 2.3.0. Cost: O(1) per value.
"""

from __future__ import annotations

import math
import operator
import struct
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any, SupportsFloat, SupportsInt

from penstock.common.conversions import Convert
from penstock.common.time import Instant
from penstock.common.typeinfo import BasicType, SqlTimeType, TypeInformation
from penstock.runtime.buffers.value_checks import BITS, CLASSES, PRIMITIVES, Kind, a, kind_of, misfit

_FLOAT = struct.Struct("f")
CHANGING = frozenset({BasicType.FLOAT, BasicType.INSTANT, SqlTimeType.TIME, SqlTimeType.TIMESTAMP})
"""The types of which some values change though they are of their type."""


def float32(value: Any) -> Any:
    """A number as the nearest one of 32 bits, infinite beyond them; what is no number stays."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    try:
        return _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def shortest32(value: Any) -> Any:
    """The number of the fewest digits that has the same 32 bits: what PyFlink collects."""
    single = float32(value)
    if not isinstance(single, float) or not math.isfinite(single):
        return single
    shown = (float(f"{single:.{digits}g}") for digits in range(6, 10))
    return next(each for each in shown if float32(each) == single)


def conversion(type_info: TypeInformation[Any], field: str, read: bool, collected: bool) -> Convert:
    """What becomes of the values of a type.

    Args:
        type_info: of single values.
        field: where they stand in the record, for messages.
        read: whether they come from a collection: whole numbers wrap instead of being refused.
        collected: whether they go into the result: times lose their milliseconds, too.
    """
    kind = kind_of(type_info)
    change = _change(kind, read, collected)

    def cross(value: Any) -> Any:
        if value is None:
            if kind in PRIMITIVES:
                raise misfit(value, type_info, field, "None is no value of it")
            return None
        try:
            return change(value)
        except OverflowError:
            raise misfit(value, type_info, field, f"it has more than {BITS.get(kind)} bits") from None
        except (TypeError, ValueError, AttributeError):
            raise misfit(value, type_info, field, f"it is {a(type(value))}") from None

    return cross


def byte_array(type_info: TypeInformation[Any], field: str, collected: bool) -> Convert:
    """What becomes of an array of bytes: bytes, and in the result a list of signed numbers."""

    def cross(value: Any) -> Any:
        if not isinstance(value, bytes | bytearray):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not bytes")
        return [byte - 256 if byte > 127 else byte for byte in value] if collected else bytes(value)

    return cross


def _change(kind: Kind | None, read: bool, collected: bool) -> Convert:
    if kind in BITS:
        return _wrapping(BITS[kind]) if read else _whole(BITS[kind])
    if kind is SqlTimeType.TIME and collected:
        return lambda value: _of_day(value).replace(microsecond=0)
    if kind is BasicType.STRING and read:
        return _text
    if kind is BasicType.INSTANT and read:
        return lambda value: Instant.of_epoch_milli(value.to_epoch_milli())
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


def _truth(value: Any) -> bool:
    return bool(operator.index(value))


def _decimal(value: Any) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(str(_of_class((int, float))(value)))


def _of_day(value: time) -> time:
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def _without_zone(value: datetime) -> datetime:
    if value.tzinfo is not None:
        value = value.astimezone(timezone.utc).replace(tzinfo=None)
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


_CHANGES: dict[Kind | None, Convert] = {
    BasicType.BOOLEAN: _truth,
    BasicType.BIG_DEC: _decimal,
    BasicType.FLOAT: _number,
    BasicType.DOUBLE: _number,
    BasicType.INSTANT: _of_class((Instant,)),
    SqlTimeType.DATE: lambda value: date.fromordinal(value.toordinal()),
    SqlTimeType.TIME: _of_day,
    SqlTimeType.TIMESTAMP: _without_zone,
}
