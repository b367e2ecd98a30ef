"""How values that PyFlink leaves to Java's serializers become those of a program: keys, and the state of thread mode.

The readers of :mod:`penstock.flink.entries` have read them; what is pickled is bytes. Keys of rows and tuples are
Java's, in state of thread mode they are pickled. Source of the semantics: PyFlink's ``fn_execution.embedded``, modules
``converters`` and ``java_utils``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

from penstock.common.row import Row
from penstock.common.time import Instant
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    SqlTimeType,
    SqlTimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.common.typesystem.conversions import Convert, optional, same
from penstock.flink.pyflink.coders import BYTES, Loads

_EPOCH = datetime(1970, 1, 1)


def from_java(kind: TypeInformation[Any] | None, loads: Loads, *, records_are_pickled: bool = False) -> Convert:
    """The function that makes a program's value of one that Java's serializers have written.

    Args:
        kind: the type that the program declares; None means pickled.
        loads: makes the objects of pickles.
        records_are_pickled: whether rows and tuples are, as in the state of thread mode.

    Cost: linear in the type; of the function in the value.
    """
    if kind is None or (records_are_pickled and isinstance(kind, RowTypeInfo | TupleTypeInfo)):
        return optional(loads)

    def inner(part: TypeInformation[Any]) -> Convert:
        return from_java(part, loads, records_are_pickled=records_are_pickled)

    for base in type(kind).__mro__:
        if base in _CASES and kind != BYTES:
            return optional(_CASES[base](kind, inner, loads))
    return same


Inner = Callable[[Any], Convert]
"""Makes the conversion of a part's type."""


def _list(kind: Any, inner: Inner, _: Loads) -> Convert:
    element = inner(kind.element_type)
    return lambda value: [element(item) for item in value]


def _map(kind: Any, inner: Inner, _: Loads) -> Convert:
    key, item = inner(kind.key_type), inner(kind.value_type)
    return lambda value: {key(one): item(other) for one, other in _pairs(value)}


def _tuple(kind: Any, inner: Inner, _: Loads) -> Convert:
    converts = list(map(inner, kind.field_types))
    return lambda value: tuple([convert(field) for convert, field in zip(converts, value, strict=True)])


def _row(kind: Any, inner: Inner, _: Loads) -> Convert:
    converts, names = list(map(inner, kind.field_types)), kind.field_names

    def convert(value: Row) -> Row:
        fields = [step(field) for step, field in zip(converts, value, strict=True)]
        return Row.of_values(fields, names, value.get_row_kind())

    return convert


def _pairs(value: Any) -> Any:
    return value.items() if isinstance(value, dict) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]


def _instant(value: Any) -> Instant:
    return Instant(value.seconds, value.nano)


def _moment(value: Any) -> datetime:
    return _EPOCH + timedelta(seconds=value.seconds, microseconds=value.nano // 1_000)


def _date(value: Any) -> date:
    return _moment(value).date()


def _time(value: Any) -> time:
    return _moment(value).time()


_SQL_TIMES: dict[SqlTimeType, Convert] = {
    SqlTimeType.DATE: _date,
    SqlTimeType.TIME: _time,
    SqlTimeType.TIMESTAMP: _moment,
}
_CASES: dict[type, Callable[[Any, Inner, Loads], Convert]] = {
    PickledBytesTypeInfo: lambda _, __, loads: loads,
    BasicTypeInfo: lambda kind, _, __: _instant if kind.basic_type is BasicType.INSTANT else same,
    SqlTimeTypeInfo: lambda kind, _, __: _SQL_TIMES[kind.sql_type],
    ArrayTypeInfo: _list,
    ListTypeInfo: _list,
    MapTypeInfo: _map,
    TupleTypeInfo: _tuple,
    RowTypeInfo: _row,
}
"""The cases by class of type."""
