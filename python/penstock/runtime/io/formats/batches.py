"""Records as Arrow batches, and batches as records; what does not fit is named by column and value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.common.callables import shortened
from penstock.common.column_types import DataType, RowType
from penstock.common.conversions import Convert
from penstock.errors import FileFormatError
from penstock.runtime.io.formats.arrow import Mismatch, arrow_schema, inward
from penstock.runtime.io.formats.fields import columns_of, rows_of
from penstock.runtime.io.formats.outward import all_outward

REFUSALS = (pa.ArrowException, ValueError, TypeError, OverflowError, ArithmeticError, FileFormatError)
"""What Arrow and the conversions raise for a value that does not fit."""


class BatchWriter:
    """Makes batches of records.

    Args:
        row_type: of the records.
        utc: whether clocks on walls are taken to be in UTC, otherwise in the zone of the machine.
    """

    def __init__(self, row_type: RowType, utc: bool = True) -> None:
        self.schema = arrow_schema(row_type)
        self._names = tuple(row_type.names)
        self._types = row_type.types
        self._utc = utc

    def batch(self, records: Sequence[Any]) -> pa.RecordBatch:
        """The records, at least one, as a batch.

        Raises:
            FileFormatError: a record has other fields, or a value does not fit.
        """
        columns = columns_of(records, self._names)
        return pa.record_batch([self._column(*each) for each in enumerate(columns)], schema=self.schema)

    def _column(self, index: int, values: tuple[Any, ...]) -> pa.Array:
        field = self.schema.field(index)
        try:
            made = self._array(index, values)
        except REFUSALS as error:
            raise self._refusal(index, values, error) from error
        if made.null_count and not field.nullable:
            raise FileFormatError(
                f"The column {field.name!r} has no place for None, and a record has none. Declare the type "
                f"{self._types[index]} nullable, or give a value."
            )
        return made

    def _array(self, index: int, values: Sequence[Any]) -> pa.Array:
        return pa.array(all_outward(values, self._types[index], self._utc), self.schema.field(index).type)

    def _refusal(self, index: int, values: tuple[Any, ...], error: Exception) -> FileFormatError:
        """Names the value that does not fit."""
        culprit = values[0]
        for culprit in values:
            try:
                self._array(index, [culprit])
            except REFUSALS as own:
                error = own
                break
        return FileFormatError(
            f"The value {shortened(culprit)} cannot be written into the column {self._names[index]!r} of type "
            f"{self._types[index]}: {error}. Convert it in a map() before the sink, or declare another type."
        )


class BatchReader:
    """Makes records of the batches of a file.

    Args:
        found: columns of the file.
        row_type: as declared; of its columns those of other names are not read.
        where: names the file.
        utc: whether moments become clocks on walls in UTC, otherwise in the zone of the machine.

    Raises:
        FileFormatError: a column is of another kind than declared.
    """

    def __init__(self, found: pa.Schema, row_type: RowType, where: str, utc: bool = True) -> None:
        self._row_type, self._where = row_type, where
        self._columns = [self._reader(found, each.name, each.data_type, utc) for each in row_type]

    def _reader(self, found: pa.Schema, name: str, wanted: DataType, utc: bool) -> tuple[pa.DataType, Convert | None]:
        if name not in found.names:
            return pa.null(), None
        try:
            return inward(found.field(name).type, wanted, utc)
        except Mismatch as error:
            raise FileFormatError(
                f"{self._where}: the column {name!r} cannot be read as {wanted}: {error}. Declare the type that the "
                "file has, and convert the values in a map()."
            ) from None

    def records(self, batch: pa.RecordBatch, place: str) -> list[Any]:
        """The records of a batch.

        Args:
            batch: of the file.
            place: where in the file, for messages.

        Raises:
            FileFormatError: a value does not fit.
        """
        return rows_of((self._values(index, batch, place) for index in range(len(self._columns))), self._row_type)

    def _values(self, index: int, batch: pa.RecordBatch, place: str) -> list[Any]:
        field, (plain, convert) = self._row_type.fields[index], self._columns[index]
        if field.name not in batch.schema.names:
            return [None] * batch.num_rows
        column = batch.column(field.name)
        column = column.storage if isinstance(column, pa.ExtensionArray) else column
        try:
            values = column.cast(plain, safe=not pa.types.is_timestamp(plain)).to_pylist()
            values = values if convert is None else [convert(value) for value in values]
        except REFUSALS as error:
            raise FileFormatError(
                f"{self._where}, {place}: {_culprit(column, plain, convert)} in the column {field.name!r} cannot be "
                f"read as {field.data_type}: {error}. Declare a type that holds it."
            ) from error
        if column.null_count and not field.data_type.nullable:
            raise FileFormatError(
                f"{self._where}, {place}: the column {field.name!r} has no value in a record, and is declared as "
                f"{field.data_type} that is always there. Declare it nullable."
            )
        return values


def _culprit(column: pa.Array, plain: pa.DataType, convert: Convert | None) -> str:
    """The first value that cannot be read."""
    for row in range(len(column)):
        try:
            [value] = column.slice(row, 1).cast(plain, safe=not pa.types.is_timestamp(plain)).to_pylist()
            if convert is not None:
                convert(value)
        except REFUSALS:
            return f"the value {shortened(column[row].as_py()) if _shows(column[row]) else str(column[row])}"
    return "a value"


def _shows(value: pa.Scalar) -> bool:
    try:
        value.as_py()
    except REFUSALS:
        return False
    return True
