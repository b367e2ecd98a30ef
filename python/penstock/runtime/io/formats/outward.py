"""What makes of values in records those that Arrow takes. Arrow itself would take too much: it cuts fractions off, and
times off days."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any, cast

from penstock.common import column_types as ct
from penstock.common.conversions import Convert, optional
from penstock.common.row import Row
from penstock.common.time import Instant
from penstock.runtime.io.formats.fields import fields_of
from penstock.runtime.io.moments import microseconds_of

_KINDS: dict[type[ct.DataType], tuple[type, ...]] = {
    ct.BooleanType: (bool,),
    ct.TinyIntType: (int,),
    ct.SmallIntType: (int,),
    ct.IntType: (int,),
    ct.BigIntType: (int,),
    ct.FloatType: (float, int),
    ct.DoubleType: (float, int),
    ct.DecimalType: (Decimal, int),
    ct.VarCharType: (str,),
    ct.CharType: (str,),
    ct.VarBinaryType: (bytes, bytearray),
    ct.BinaryType: (bytes, bytearray),
    ct.DateType: (date,),
    ct.TimeType: (time,),
    ct.TimestampType: (datetime,),
    ct.LocalZonedTimestampType: (Instant, datetime),
    ct.ArrayType: (list, tuple),
    ct.MapType: (dict,),
    ct.RowType: (Row, tuple, list, dict),
}
"""Classes of values by type of the column."""


def outward(wanted: ct.DataType, utc: bool = True) -> Convert:
    """What makes of a value in a record one that Arrow takes. It leaves None, and raises TypeError or ValueError for
    what is no value of the type.

    Args:
        wanted: type of the column.
        utc: whether clocks on walls are taken to be in UTC, otherwise in the zone of the machine.
    """
    convert = _conversion(wanted, utc)
    return optional(lambda value: of_kind(value, wanted) if convert is None else convert(of_kind(value, wanted)))


def all_outward(values: Sequence[Any], wanted: ct.DataType, utc: bool = True) -> Sequence[Any]:
    """:func:`outward` for each of some values, at once where all are of the usual class.

    Args:
        values: of a column.
        wanted: its type.
        utc: as of :func:`outward`.
    """
    usual = frozenset((*_KINDS[type(wanted)], type(None)))
    if _conversion(wanted, utc) is None and usual.issuperset(map(type, values)):
        return values
    return list(map(outward(wanted, utc), values))


def of_kind(value: Any, wanted: ct.DataType) -> Any:
    """A value of a class that the column takes: itself, or of Python for one of NumPy.

    Args:
        value: not None.
        wanted: type of the column.

    Raises:
        TypeError: it is of another class.
    """
    kinds = _KINDS[type(wanted)]
    if type(value) in kinds:
        return value
    if kinds == (int,) and hasattr(value, "__index__") and not isinstance(value, bool):
        return operator.index(value)  # NumPy's
    odd = (isinstance(value, bool) and bool not in kinds) or (isinstance(value, datetime) and datetime not in kinds)
    if isinstance(value, kinds) and not odd:
        return value
    if kinds[0] is float and hasattr(value, "__float__") and not isinstance(value, bool | str):
        return float(cast("Any", value))
    raise TypeError(f"it is a {type(value).__name__}, and the column takes {' or '.join(k.__name__ for k in kinds)}")


def _conversion(wanted: ct.DataType, utc: bool) -> Convert | None:
    """Of a value that is of the right class; None where Arrow takes it as it is."""
    if isinstance(wanted, ct.LocalZonedTimestampType):
        return _ticks(wanted.precision)
    if isinstance(wanted, ct.TimestampType):
        return _wall if utc else _in_utc
    if isinstance(wanted, ct.ArrayType):
        element = wanted.element_type
        return lambda values: all_outward(values, element, utc)
    if isinstance(wanted, ct.MapType):
        key, item = wanted.key_type, wanted.value_type
        return lambda value: list(
            zip(all_outward(list(value), key, utc), all_outward(list(value.values()), item, utc), strict=True)
        )
    if isinstance(wanted, ct.RowType):
        return _struct(wanted, utc)
    return None


def _wall(value: datetime) -> datetime:
    if value.tzinfo is not None:
        raise ValueError("it has a zone, and the column holds clocks on walls; declare TIMESTAMP_LTZ")
    return value


def _in_utc(value: datetime) -> datetime:
    return _wall(value).astimezone(timezone.utc).replace(tzinfo=None)


def _ticks(precision: int) -> Convert:
    per_second = 10**6 if precision <= 6 else 10**9

    def ticks(value: Any) -> int:
        if isinstance(value, datetime):
            if value.tzinfo is None:
                raise ValueError("a moment is an Instant, or a datetime with a zone")
            return microseconds_of(value) * (per_second // 10**6)
        whole, rest = divmod(value.nanos * per_second, 10**9)
        if rest:
            raise ValueError("it has more than six digits of a fraction of a second; declare TIMESTAMP_LTZ(9)")
        return value.seconds * per_second + whole

    return ticks


def _struct(row_type: ct.RowType, utc: bool) -> Convert:
    names, known = tuple(row_type.names), frozenset(row_type.names)
    converts = [outward(each, utc) for each in row_type.types]

    def struct(value: Any) -> tuple[Any, ...]:
        return tuple([convert(each) for convert, each in zip(converts, fields_of(value, names, known), strict=True)])

    return struct
