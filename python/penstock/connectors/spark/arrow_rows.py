"""Arrow batches of Spark as records, and records as Arrow batches, by the codec of :mod:`..formats.arrow`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from penstock.common.callables import shown
from penstock.common.column_types import ArrayType, MapType, RowType, VarBinaryType
from penstock.common.row import Row, in_order
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation, Types
from penstock.connectors.spark import spark_types
from penstock.connectors.spark.spark_types import rows_in
from penstock.errors import TypeInfoError
from penstock.runtime.columns import arrow
from penstock.runtime.columns.arrow import SPARK, ArrowRecords
from penstock.runtime.columns.parts import Unfit
from penstock.runtime.columns.records import rows_of


def arrow_schema(schema: Mapping[str, Any]) -> pa.Schema:
    """The Arrow schema of a schema of Spark."""
    return arrow.arrow_schema(rows_in(schema), SPARK)


def record_rows(schema: Mapping[str, Any], declared: TypeInformation[Any], *, instants: bool) -> RowType:
    """The types of records with the columns of a schema of Spark; see :func:`records`."""
    return rows_in(schema, declared if _has_fields(declared) else Types.TUPLE([declared]), instants)


def _has_fields(declared: TypeInformation[Any]) -> bool:
    return isinstance(declared, RowTypeInfo | TupleTypeInfo)


def records(
    batches: Iterable[Any], schema: Mapping[str, Any], declared: TypeInformation[Any], *, instants: bool = True
) -> Iterator[Sequence[Any]]:
    """The records of Arrow batches with the columns of a schema of Spark; ``declared`` is a row or tuple, or the type
    of the only column. A ``timestamp`` becomes an Instant, or an aware datetime."""
    has_fields, rows = _has_fields(declared), record_rows(schema, declared, instants=instants)
    readings = [arrow.inward(arrow.arrow_type(wanted, SPARK), wanted, SPARK) for wanted in rows.types]
    for batch in batches:
        fields = zip(schema["fields"], readings, strict=True)
        alike = list(map(arrow.alike, batch.columns, readings))
        if all(column is not None for column in alike):
            yield ArrowRecords(alike, rows, not has_fields)
            continue
        columns = [_values(batch.column(index), *field) for index, field in enumerate(fields)]
        yield rows_of(columns, rows) if has_fields else columns[0]


def _values(column: Any, field: Mapping[str, Any], reading: arrow.Inward) -> list[Any]:
    try:
        return arrow.column_values(column, reading)
    except arrow.REFUSALS as error:
        raise TypeInfoError(
            f"A value of the column {field['name']!r}, {spark_types.shown(field['type'])}, cannot be represented in "
            f"Python: {error}. Python's dates and times are those of the years 1 to 9999. Leave others out by where() "
            "in Spark, or read a timestamp, which is an Instant of any year."
        ) from error


class ArrowWriter:
    """Makes Arrow batches of records, by a schema of Spark."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        rows = rows_in(schema)
        self.schema = arrow.arrow_schema(rows, SPARK)
        self._fields, self._names = schema["fields"], tuple(rows.names)
        nested = (ArrayType, MapType, RowType, VarBinaryType)
        self._copies = {i: arrow.outward(kind, SPARK) for i, kind in enumerate(rows.types) if isinstance(kind, nested)}
        """Conversions of the values that could change before their batch is made."""
        self._types = [None if index in self._copies else kind for index, kind in enumerate(rows.types)]

    def values(self, record: Any) -> tuple[Any, ...]:
        """The values of a record by column; those that could change are copied."""
        plain = type(record) is tuple and len(record) == len(self._names)
        values = record if plain else self._fields_of(record)
        if not self._copies:
            return tuple(values)
        copies = list(values)
        for index, convert in self._copies.items():
            try:
                copies[index] = convert(copies[index])
            except arrow.REFUSALS as error:
                raise self._misfit(index, copies[index], str(error)) from None
        return tuple(copies)

    def _fields_of(self, record: Any) -> Sequence[Any]:
        names = self._names
        if isinstance(record, dict):
            if record.keys() == set(names):
                return [record[name] for name in names]
        elif isinstance(record, Row | tuple | list):
            if len(record) == len(names):
                return in_order(record, names) if isinstance(record, Row) else record
        elif len(names) == 1:
            return (record,)
        raise TypeInfoError(
            f"The record {shown(record)} does not have the columns {list(names)}. Give each record as a Row, tuple or "
            "dict of them."
        )

    def batch(self, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
        columns = list(map(self._column, range(len(self._names)), zip(*rows, strict=True)))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _column(self, index: int, values: Sequence[Any]) -> pa.Array:
        try:
            return arrow.column_of(values, self._types[index], self.schema.field(index).type, SPARK)
        except Unfit as misfit:
            raise self._misfit(index, misfit.value, misfit.why) from None

    def _misfit(self, index: int, value: Any, why: str) -> TypeInfoError:
        return TypeInfoError(
            f"The field {self._names[index]!r} of a record is {shown(value)}, which is not of the type "
            f"{spark_types.shown(self._fields[index]['type'])}: {why.rstrip('.')}. Convert it before, or give the sink "
            "a schema with another type for it."
        )
