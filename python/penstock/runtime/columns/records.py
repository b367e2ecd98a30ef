"""Records by columns: the classes of values that a column takes, the fields of a record, and records of columns."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import repeat
from operator import itemgetter
from typing import Any, cast

from penstock.common import column_types as ct
from penstock.common.callables import shortened, shown
from penstock.common.column_types import DataType, RowType, data_type_of
from penstock.common.row import Row, in_order, names_of
from penstock.common.typeinfo import BasicType, BasicTypeInfo, SqlTimeTypeInfo
from penstock.common.typesystem.conversions import Convert
from penstock.errors import FileFormatError
from penstock.runtime.buffers import value_checks


def _column(kind: value_checks.Kind | None) -> type[DataType]:
    assert kind is not None
    return type(data_type_of(BasicTypeInfo(kind) if isinstance(kind, BasicType) else SqlTimeTypeInfo(kind)))


BITS: Mapping[type[DataType], int] = {_column(kind): bits for kind, bits in value_checks.BITS.items()}
"""Width of the integers."""
KINDS: Mapping[type[DataType], tuple[type, ...]] = {
    **{_column(kind): classes for kind, classes in value_checks.CLASSES.items()},
    ct.NullType: (type(None),),
    ct.DecimalType: (Decimal, int),
    ct.VarBinaryType: (bytes, bytearray),
    ct.BinaryType: (bytes, bytearray),
    ct.ArrayType: (list, tuple),
    ct.MapType: (dict,),
    ct.RowType: (Row, tuple, list, dict),
}
"""Classes of the values that a column takes."""


def of_kind(value: Any, wanted: DataType) -> Any:
    """A value, not None, as one of a class that the column takes, Python's for NumPy's; raises TypeError."""
    kinds = KINDS[type(wanted)]
    if type(value) in kinds:
        return value
    if kinds == (int,) and hasattr(value, "__index__") and not isinstance(value, bool):
        return operator.index(value)  # NumPy's
    wide = (isinstance(value, bool) and bool not in kinds) or (isinstance(value, datetime) and datetime not in kinds)
    if isinstance(value, kinds) and not wide:
        return value
    if kinds[0] is float and hasattr(value, "__float__") and not isinstance(value, bool | str):
        return float(cast("Any", value))
    names = " or ".join(kind.__name__ for kind in kinds)
    raise TypeError(f"it is a {type(value).__name__}, and the column takes {names}")


_FEW = 5
"""Columns that are sooner made one by one than all at a time."""


def fields_of(record: Any, names: tuple[str, ...], known: frozenset[str]) -> Sequence[Any]:
    """The fields of a record by the ``known`` names, else by position; FileFormatError if it has others."""
    if isinstance(record, Row):
        record = in_order(record, names)
    elif isinstance(record, dict):
        if not known.issuperset(record):
            other = sorted(set(record) - known, key=str)
            raise FileFormatError(f"The record {shortened(record)} has {other}, and there are no such columns.")
        return [record.get(name) for name in names]
    if not isinstance(record, tuple | list) or len(record) != len(names):
        raise FileFormatError(
            f"The record {shown(record)} does not have the {len(names)} fields {list(names)} of the file's columns. "
            "Give rows, tuples or dicts that have them."
        )
    return record


def columns_of(records: Sequence[Any], names: tuple[str, ...]) -> list[Sequence[Any]]:
    """The values of records, at least one, by column."""
    width = len(names)
    if set(map(type, records)) == {tuple} and set(map(len, records)) == {width}:
        rows = records
    elif all(type(record) is Row and names_of(record) == names and len(record) == width for record in records):
        rows = [record._values for record in records]
    else:
        known = frozenset(names)
        rows = [fields_of(record, names, known) for record in records]
    if width <= _FEW:
        return [list(map(itemgetter(index), rows)) for index in range(width)]
    return list(zip(*rows, strict=True))


def rows_of(columns: Iterable[Iterable[Any]], row_type: RowType) -> list[Any]:
    """Records of a type from the values of its columns."""
    rows = zip(*columns, strict=True)
    if row_type.form == "tuple":
        return list(rows)
    if row_type.form == "row":
        return list(map(Row.of_values, rows, repeat(row_type.record_names or tuple(row_type.names))))
    return list(map(maker(row_type), rows))


def maker(row_type: RowType) -> Convert:
    """The function that makes a record of the tuple or list of its fields."""
    names = row_type.record_names or tuple(row_type.names)
    if row_type.form == "tuple":
        return tuple
    if row_type.form == "dict":
        return lambda values: dict(zip(names, values, strict=True))
    return lambda values: Row.of_values(values, names)


def types_in(row_type: RowType) -> Iterator[DataType]:
    """A type and all types inside it."""
    waiting: list[DataType] = [row_type]
    while waiting:
        data_type = waiting.pop()
        yield data_type
        if isinstance(data_type, RowType):
            waiting += data_type.types
        elif isinstance(data_type, ct.ArrayType):
            waiting.append(data_type.element_type)
        elif isinstance(data_type, ct.MapType):
            waiting += [data_type.key_type, data_type.value_type]
