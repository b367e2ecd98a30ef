"""Checks that values fit their declared type: a quick expression for most values, and an exact check for the rest. A
wider Python number passes (an int for a DOUBLE), and so does a subclass. What Java cannot hold does not: another class,
a number out of range, a tuple of another length, None for a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime, time
from decimal import Decimal
from itertools import filterfalse
from typing import Any

from penstock.common import typeinfo as types
from penstock.common.row import Row, names_of
from penstock.common.time import Instant
from penstock.common.typeinfo import BasicType, SqlTimeType, TypeInformation
from penstock.errors import TypeInfoError

Check = Callable[[Any], None]
Kind = BasicType | SqlTimeType
BITS: dict[Kind | None, int] = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}
"""Bits of whole-number types."""
CLASSES: dict[Kind | None, tuple[type, ...]] = {  # Python classes for each type of single values, the usual class first
    BasicType.STRING: (str,),
    BasicType.CHAR: (str,),
    BasicType.BOOLEAN: (bool,),
    BasicType.BIG_INT: (int,),
    BasicType.BIG_DEC: (Decimal,),
    BasicType.INSTANT: (Instant, datetime),  # a datetime with a zone
    BasicType.FLOAT: (float, int),
    BasicType.DOUBLE: (float, int),
    **dict.fromkeys(BITS, (int,)),
    SqlTimeType.DATE: (date,),
    SqlTimeType.TIME: (time,),
    SqlTimeType.TIMESTAMP: (datetime,),
}
PRIMITIVES = frozenset({*BITS, BasicType.BOOLEAN, BasicType.CHAR, BasicType.FLOAT, BasicType.DOUBLE})
"""Types without null."""


def kind_of(type_info: TypeInformation[Any] | None) -> Kind | None:
    """The kind of a type of single values; None for other types."""
    if isinstance(type_info, types.BasicTypeInfo):
        return type_info.basic_type
    return type_info.sql_type if isinstance(type_info, types.SqlTimeTypeInfo) else None


def look(type_info: TypeInformation[Any] | None, value: str = "value") -> tuple[str, dict[str, type]] | None:
    """An expression that is true only for values that fit a type, and its names; None if there is none, as for rows."""
    kind = kind_of(type_info)
    if kind is not None and kind is not BasicType.CHAR:
        usual, bits = CLASSES[kind][0], BITS.get(kind)
        within = "" if bits is None else f" and {-(1 << bits - 1)} <= {value} < {1 << bits - 1}"
        return f"type({value}) is {usual.__name__}{within}", {usual.__name__: usual}
    if not isinstance(type_info, types.TupleTypeInfo):
        return None
    looks = [look(field, f"{value}[{index}]") for index, field in enumerate(type_info.field_types)]
    expressions = [item for item in looks if item is not None]
    if len(expressions) < len(looks):
        return None
    parts = [f"type({value}) is tuple and len({value}) == {len(looks)}", *(text for text, _ in expressions)]
    return " and ".join(parts), {name: item for _, names in expressions for name, item in names.items()}


def glance(type_info: TypeInformation[Any] | None) -> Callable[[Any], bool] | None:
    """The expression of :func:`look` as a function."""
    seen = look(type_info)
    return None if seen is None else eval(f"lambda value: {seen[0]}", seen[1])


def a(kind: type) -> str:
    """The name of a class with its article."""
    return f"{'an' if kind.__name__[0] in 'aeiouAEIOU' else 'a'} {kind.__name__}"


def misfit(value: Any, type_info: TypeInformation[Any], field: str, because: str) -> TypeInfoError:
    """The error for a value that does not fit its type."""
    what = f"The value {value!r} of field {field.lstrip('.')}" if field else f"The record {value!r}"
    return TypeInfoError(
        f"{what} does not fit its declared type {type_info!r}: {because}. Correct the type where it is declared, or "
        "convert the value where it is made."
    )


def checked_all(type_info: TypeInformation[Any] | None, nulls: bool = False) -> Callable[[Iterable[Any]], None] | None:
    """A function that raises TypeInfoError for the first record that does not fit; None if every value fits."""
    check, plain = checker(type_info, nulls), glance(type_info)
    if check is None:
        return None

    def look_at(values: Iterable[Any]) -> None:
        for value in values if plain is None else filterfalse(plain, values):
            check(value)

    return look_at


def checker(type_info: TypeInformation[Any] | None, nulls: bool = False, field: str = "") -> Check | None:
    """A function that raises TypeInfoError for a value that does not fit; None if every value fits."""
    if kind_of(type_info) is not None:
        assert type_info is not None
        return _single(type_info, nulls, field)
    if isinstance(type_info, types.TupleTypeInfo | types.RowTypeInfo):
        return _record(type_info, nulls, field)
    if isinstance(type_info, types.ListTypeInfo | types.ArrayTypeInfo):
        return _listed(type_info, nulls, field)
    return _mapped(type_info, nulls, field) if isinstance(type_info, types.MapTypeInfo) else None


def _single(type_info: TypeInformation[Any], nulls: bool, field: str) -> Check:
    kind = kind_of(type_info)
    classes, bits = CLASSES[kind], BITS.get(kind)
    truth = kind is BasicType.BOOLEAN
    expected = " or ".join(map(a, classes))

    def check(value: Any) -> None:
        if value is None:
            if kind in PRIMITIVES and not nulls:
                raise misfit(value, type_info, field, "it cannot be None")
        elif not isinstance(value, classes) or isinstance(value, bool) is not truth:
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not {expected}")
        elif bits is not None and not -(1 << bits - 1) <= value < 1 << bits - 1:
            raise misfit(value, type_info, field, f"it has more than {bits} bits")
        elif kind is BasicType.CHAR and len(value) != 1:
            raise misfit(value, type_info, field, "it is not one character")

    return check


def _record(type_info: types.TupleTypeInfo | types.RowTypeInfo, nulls: bool, field: str) -> Check:
    names, is_row = type_info.field_names, isinstance(type_info, types.RowTypeInfo)
    fields = [
        checker(field_type, nulls, f"{field}.{name}")
        for name, field_type in zip(names, type_info.field_types, strict=True)
    ]
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
        for item, look_at in zip(values, fields, strict=True):
            if look_at is not None and not (is_row and item is None):
                look_at(item)

    return check


def _listed(type_info: types.ListTypeInfo[Any] | types.ArrayTypeInfo[Any], nulls: bool, field: str) -> Check:
    element = checker(type_info.element_type, nulls, f"{field}[]")
    boxed = isinstance(type_info, types.ArrayTypeInfo) and not isinstance(type_info, types.PrimitiveArrayTypeInfo)
    as_bytes = isinstance(type_info, types.PrimitiveArrayTypeInfo) and kind_of(type_info.element_type) is BasicType.BYTE

    def check(value: Any) -> None:
        if (as_bytes and isinstance(value, bytes | bytearray)) or (value is None and nulls):
            return
        if not isinstance(value, list | tuple):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not a list")
        for item in value:
            if element is not None and not (boxed and item is None):
                element(item)

    return check


def _mapped(type_info: types.MapTypeInfo[Any, Any], nulls: bool, field: str) -> Check:
    key = checker(type_info.key_type, nulls, f"{field}[key]")
    item = checker(type_info.value_type, nulls, f"{field}[value]")

    def check(value: Any) -> None:
        if value is None and nulls:
            return
        if not isinstance(value, dict):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not a dict")
        for name, entry in value.items():
            if key is not None:
                key(name)
            if item is not None and entry is not None:
                item(entry)

    return check
