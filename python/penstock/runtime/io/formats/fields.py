"""Records as columns and back: fields of whatever record a sink is given, rows of the columns that a file has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.common.callables import shortened, shown
from penstock.common.column_types import BigIntType, DataType, IntType, RowType, SmallIntType, TinyIntType
from penstock.common.conversions import Convert
from penstock.common.row import Row, in_order
from penstock.errors import FileFormatError

BITS: Mapping[type[DataType], int] = {TinyIntType: 8, SmallIntType: 16, IntType: 32, BigIntType: 64}
"""Width of the whole numbers."""


def within(bits: int) -> Convert:
    """What hands on whole numbers of some bits, and raises ValueError for larger ones."""
    bound = 1 << bits - 1

    def fit(value: int) -> int:
        if -bound <= value < bound:
            return value
        raise ValueError(f"it does not fit into {bits} bits")

    return fit


def fields_of(record: Any, names: tuple[str, ...], known: frozenset[str]) -> Sequence[Any]:
    """The fields of a record in the order of some names: by name where it has the same names, else by position.

    Args:
        record: a row, a tuple, a list, or a dict.
        names: of the fields.
        known: the same names.

    Raises:
        FileFormatError: it has others, or not as many.
    """
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


def columns_of(records: Sequence[Any], names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """The values of some records by column.

    Args:
        records: rows, tuples, lists or dicts; at least one.
        names: of the columns.
    """
    known = frozenset(names)
    return list(zip(*[fields_of(record, names, known) for record in records], strict=True))


def rows_of(columns: Iterable[Iterable[Any]], row_type: RowType) -> list[Any]:
    """Records of values by column.

    Args:
        columns: as many as the type has fields.
        row_type: of the records.
    """
    make = maker(row_type)
    return [make(values) for values in zip(*columns, strict=True)]


def maker(row_type: RowType) -> Convert:
    """What makes a record of the values of its fields, which are a tuple or a list.

    Args:
        row_type: of the record.
    """
    names = tuple(row_type.names)
    if row_type.form == "tuple":
        return tuple
    if row_type.form == "dict":
        return lambda values: dict(zip(names, values, strict=True))
    return lambda values: Row.of_values(values, names)
