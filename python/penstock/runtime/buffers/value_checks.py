"""Whether values are what their declared type says: a look that is over at once for most, and the reason for others.

A number of a wider kind passes (an int for a DOUBLE), a subclass too; what Java could not hold does not: another class,
a number out of range, a tuple of another length, None for a number.

Sources of the semantics: Flink's serializers, which refuse the same values, each in its own words.
Cost: :func:`look` is an expression of about 30 ns per field; a misfit is looked at again, field by field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime, time
from decimal import Decimal
from itertools import filterfalse
from typing import Any

from penstock.common.row import Row, names_of
from penstock.common.time import Instant
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SqlTimeType,
    SqlTimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.errors import TypeInfoError

Check = Callable[[Any], None]
Kind = BasicType | SqlTimeType

BITS: dict[Kind | None, int] = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}
"""Width of the whole numbers."""
CLASSES: dict[Kind | None, tuple[type, ...]] = {
    BasicType.STRING: (str,),
    BasicType.CHAR: (str,),
    BasicType.BOOLEAN: (bool,),
    BasicType.BIG_INT: (int,),
    BasicType.BIG_DEC: (Decimal,),
    BasicType.INSTANT: (Instant,),
    BasicType.FLOAT: (float, int),
    BasicType.DOUBLE: (float, int),
    **dict.fromkeys(BITS, (int,)),
    SqlTimeType.DATE: (date,),
    SqlTimeType.TIME: (time,),
    SqlTimeType.TIMESTAMP: (datetime,),
}
"""What values of a type of single values are in Python, the usual class first."""
PRIMITIVES = frozenset({*BITS, BasicType.BOOLEAN, BasicType.CHAR, BasicType.FLOAT, BasicType.DOUBLE})
"""The types that None is no value of."""


def kind_of(type_info: TypeInformation[Any] | None) -> Kind | None:
    """Which type of single values it is; None of others."""
    if isinstance(type_info, BasicTypeInfo):
        return type_info.basic_type
    return type_info.sql_type if isinstance(type_info, SqlTimeTypeInfo) else None


def look(type_info: TypeInformation[Any] | None, value: str = "value") -> tuple[str, dict[str, type]] | None:
    """An expression that is true of values that are of a type beyond doubt, and the names in it; None where there is
    none, as for rows.

    Args:
        type_info: the type.
        value: the expression of the value.
    """
    kind = kind_of(type_info)
    if kind is not None and kind is not BasicType.CHAR:
        usual, bits = CLASSES[kind][0], BITS.get(kind)
        within = "" if bits is None else f" and {-(1 << bits - 1)} <= {value} < {1 << bits - 1}"
        return f"type({value}) is {usual.__name__}{within}", {usual.__name__: usual}
    if not isinstance(type_info, TupleTypeInfo):
        return None
    looks = [look(field, f"{value}[{index}]") for index, field in enumerate(type_info.field_types)]
    found = [each for each in looks if each is not None]
    if len(found) < len(looks):
        return None
    parts = [f"type({value}) is tuple and len({value}) == {len(looks)}", *(text for text, _ in found)]
    return " and ".join(parts), {name: each for _, names in found for name, each in names.items()}


def glance(type_info: TypeInformation[Any] | None) -> Callable[[Any], bool] | None:
    """:func:`look` as a function."""
    seen = look(type_info)
    return None if seen is None else eval(f"lambda value: {seen[0]}", seen[1])


def a(kind: type) -> str:
    """A class with its article."""
    return f"{'an' if kind.__name__[0] in 'aeiouAEIOU' else 'a'} {kind.__name__}"


def misfit(value: Any, type_info: TypeInformation[Any], field: str, because: str) -> TypeInfoError:
    """The error for a value that does not fit its type.

    Args:
        value: the value.
        type_info: its declared type.
        field: where in the record it stands, "" for the record itself.
        because: what is wrong with it.
    """
    what = f"The value {value!r} of field {field.lstrip('.')}" if field else f"The record {value!r}"
    return TypeInfoError(
        f"{what} does not fit its declared type {type_info!r}: {because}. Correct the type where it is declared, or "
        "convert the value where it is made."
    )


def checked_all(type_info: TypeInformation[Any] | None, nulls: bool = False) -> Callable[[Iterable[Any]], None] | None:
    """What looks at records of a type, and raises TypeInfoError for the first that does not fit; None where there is
    nothing to look at.

    Args:
        type_info: of the records.
        nulls: whether None passes for a number.
    """
    check, plain = checker(type_info, nulls), glance(type_info)
    if check is None:
        return None

    def look_at(values: Iterable[Any]) -> None:
        for value in values if plain is None else filterfalse(plain, values):
            check(value)

    return look_at


def checker(type_info: TypeInformation[Any] | None, nulls: bool = False, field: str = "") -> Check | None:
    """What raises TypeInfoError for a value that does not fit; None where every value does."""
    if kind_of(type_info) is not None:
        assert type_info is not None
        return _single(type_info, nulls, field)
    if isinstance(type_info, TupleTypeInfo | RowTypeInfo):
        return _record(type_info, nulls, field)
    if isinstance(type_info, ListTypeInfo | ArrayTypeInfo):
        return _listed(type_info, nulls, field)
    return _mapped(type_info, nulls, field) if isinstance(type_info, MapTypeInfo) else None


def _single(type_info: TypeInformation[Any], nulls: bool, field: str) -> Check:
    kind = kind_of(type_info)
    classes, bits = CLASSES[kind], BITS.get(kind)
    truth = kind is BasicType.BOOLEAN
    expected = " or ".join(map(a, classes))

    def check(value: Any) -> None:
        if value is None:
            if kind in PRIMITIVES and not nulls:
                raise misfit(value, type_info, field, "None is no value of it")
        elif not isinstance(value, classes) or isinstance(value, bool) is not truth:
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not {expected}")
        elif bits is not None and not -(1 << bits - 1) <= value < 1 << bits - 1:
            raise misfit(value, type_info, field, f"it has more than {bits} bits")
        elif kind is BasicType.CHAR and len(value) != 1:
            raise misfit(value, type_info, field, "it is not one character")

    return check


def _record(type_info: TupleTypeInfo | RowTypeInfo, nulls: bool, field: str) -> Check:
    names, is_row = type_info.field_names, isinstance(type_info, RowTypeInfo)
    fields = [checker(each, nulls, f"{field}.{name}") for name, each in zip(names, type_info.field_types, strict=True)]
    whole, known = Row if is_row else tuple, frozenset(names)

    def check(value: Any) -> None:
        if value is None and nulls:
            return
        if not isinstance(value, whole):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not {a(whole)}")
        if len(value) != len(fields):
            raise misfit(value, type_info, field, f"it has {len(value)} fields, not {len(fields)}")
        values: Iterable[Any] = value
        if isinstance(value, Row) and names_of(value) not in (None, names):
            if known.symmetric_difference(names_of(value) or ()):
                raise misfit(value, type_info, field, f"its fields are {list(names_of(value) or ())}")
            values = value.get_fields_by_names(names)
        for one, look_at in zip(values, fields, strict=True):
            if look_at is not None and not (is_row and one is None):
                look_at(one)

    return check


def _listed(type_info: ListTypeInfo[Any] | ArrayTypeInfo[Any], nulls: bool, field: str) -> Check:
    element = checker(type_info.element_type, nulls, f"{field}[]")
    boxed = isinstance(type_info, ArrayTypeInfo) and not isinstance(type_info, PrimitiveArrayTypeInfo)
    as_bytes = isinstance(type_info, PrimitiveArrayTypeInfo) and kind_of(type_info.element_type) is BasicType.BYTE

    def check(value: Any) -> None:
        if (as_bytes and isinstance(value, bytes | bytearray)) or (value is None and nulls):
            return
        if not isinstance(value, list | tuple):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not a list")
        for one in value:
            if element is not None and not (boxed and one is None):
                element(one)

    return check


def _mapped(type_info: MapTypeInfo[Any, Any], nulls: bool, field: str) -> Check:
    key = checker(type_info.key_type, nulls, f"{field}[key]")
    item = checker(type_info.value_type, nulls, f"{field}[value]")

    def check(value: Any) -> None:
        if value is None and nulls:
            return
        if not isinstance(value, dict):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not a dict")
        for name, one in value.items():
            if key is not None:
                key(name)
            if item is not None and one is not None:
                item(one)

    return check
