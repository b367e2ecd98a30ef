"""Batches of records as the arguments of functions, and the results of functions as records.

A batch becomes Arrow columns of the declared type, and from these what the function takes. A result may be of any
library, whatever the argument was: its columns become Arrow columns again, are cast to the declared type where no
value changes, and then records."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, cast

import pyarrow as pa

from penstock.common import column_types as ct
from penstock.common.callables import shortened, shown
from penstock.common.typeinfo import TypeInformation
from penstock.errors import ConfigurationError, FileFormatError, InvalidProgramError, TypeInfoError
from penstock.runtime.columns.arrow import (
    REFUSALS,
    Mismatch,
    arrow_schema,
    arrow_type,
    column_of,
    column_values,
    columns_of_native,
    inward,
)
from penstock.runtime.columns.forms import MODULES, BatchForm, Library, has_fields, table_type
from penstock.runtime.columns.parts import Unfit
from penstock.runtime.columns.records import columns_of, rows_of


def library(name: Library) -> Any:
    """The module of a library; ConfigurationError if it is not installed."""
    module = MODULES[name]
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigurationError(
            f"A function takes batches of {module}, which cannot be imported where the task runs: {error}. Install it "
            f"on the driver and where tasks run: pip install {module}."
        ) from error


class BatchArgument:
    """Makes the argument of a function of the records of a declared type. ``where`` names the input, for messages."""

    def __init__(self, type_info: TypeInformation[Any], form: BatchForm, where: str = "the input") -> None:
        self._row_type, self._plain, self._where = table_type(type_info), not has_fields(type_info), where
        self._schema, self._names = arrow_schema(self._row_type), tuple(self._row_type.names)
        self._convert = _converters(form, plain=self._plain)

    def of(self, records: Sequence[Any]) -> Any:
        """The argument for records, at least one; TypeInfoError if one does not fit the type."""
        return self._convert(self.table(records))

    def of_columns(self, batch: Any) -> Any:
        """The argument for records of a native batch, without making objects of them where its columns are those of the
        declared type."""
        names = None if self._plain else list(self._names)
        columns = columns_of_native(batch, names, self._row_type.types, self._schema)
        return self.of(batch.objects()) if columns is None else self._convert(columns)

    def table(self, records: Sequence[Any]) -> pa.RecordBatch:
        """The records as Arrow columns."""
        try:
            columns = [records] if self._plain else columns_of(records, self._names)
        except (FileFormatError, TypeError) as error:
            raise TypeInfoError(
                f"The record {shortened(self._other(records))} of {self._where} does not have the fields "
                f"{list(self._names)} of its declared type. Correct the type where it is declared."
            ) from error
        return pa.record_batch(list(map(self._column, range(len(columns)), columns)), schema=self._schema)

    def _other(self, records: Sequence[Any]) -> Any:
        """The first record that has other fields."""
        for record in records:
            try:
                columns_of([record], self._names)
            except (FileFormatError, TypeError):
                return record
        return records[0]

    def _column(self, index: int, values: Sequence[Any]) -> pa.Array:
        field, wanted = self._schema.field(index), self._row_type.types[index]
        try:
            return column_of(values, wanted, field.type)
        except Unfit as misfit:
            what = "" if self._plain else f" of the field {field.name!r}"
            raise TypeInfoError(
                f"The value {shortened(misfit.value)}{what} in {self._where} does not fit its declared type {wanted}: "
                f"{misfit.why}. Correct the type where it is declared, or convert the value where it is made."
            ) from misfit.__cause__


Converter = Callable[[pa.RecordBatch], Any]


def _converters(form: BatchForm, *, plain: bool) -> Converter:
    """From Arrow columns to a form."""
    module = None if form.library == "arrow" else library(form.library)
    columns: Callable[[pa.Array], Any]
    tables, columns = {
        "arrow": (_same, _same),
        "pandas": (_data_frame, _series),
        "polars": (getattr(module, "from_arrow", None), getattr(module, "from_arrow", None)),
        "numpy": (_structured, _numbers),
    }[form.library]
    if form.shape == "table":
        return tables
    if form.shape == "columns":
        return lambda batch: dict(zip(batch.schema.names, map(columns, batch.columns), strict=True))
    if plain:
        return lambda batch: columns(batch.column(0))
    return lambda batch: columns(batch.to_struct_array())


def _same(value: Any) -> Any:
    return value


def _nullable(kind: pa.DataType) -> Any:
    """pandas' own class of integers and truth values, for columns with missing ones: NaN would round large integers."""
    import pandas

    names = {"bool": "BooleanDtype", **{f"int{bits}": f"Int{bits}Dtype" for bits in (8, 16, 32, 64)}}
    name = names.get(str(kind))
    return None if name is None else getattr(pandas, name)()


def _series(column: pa.Array) -> Any:
    return column.to_pandas(types_mapper=_nullable if column.null_count else None)


def _data_frame(batch: pa.RecordBatch) -> Any:
    import pandas

    if not any(column.null_count for column in batch.columns):
        return batch.to_pandas()
    return pandas.DataFrame(dict(zip(batch.schema.names, map(_series, batch.columns), strict=True)))


def _numbers(column: pa.Array) -> Any:
    """A NumPy array that may be changed; with missing values one of objects."""
    import numpy

    if not column.null_count:
        values = column.to_numpy(zero_copy_only=False)
        return values if values.flags.writeable else values.copy()
    values = numpy.empty(len(column), object)
    values[:] = column.to_pylist()
    return values


def _structured(batch: pa.RecordBatch) -> Any:
    import numpy

    columns = list(map(_numbers, batch.columns))
    names = batch.schema.names
    table = numpy.empty(batch.num_rows, [(name, column.dtype) for name, column in zip(names, columns, strict=True)])
    for name, column in zip(names, columns, strict=True):
        table[name] = column
    return table


class BatchResult:
    """Makes records of a declared type of what a function returns. ``returns`` describes it, for messages."""

    def __init__(self, type_info: TypeInformation[Any], returns: str) -> None:
        self._type, self._returns, self._plain = type_info, returns, not has_fields(type_info)
        self._row_type = table_type(type_info)
        self._names = self._row_type.names
        self._numbered = self._names == [f"f{index}" for index in range(len(self._names))]

    def records(self, result: Any, rows: int | None = None) -> list[Any]:
        """The records of a result; with ``rows`` there must be so many. InvalidProgramError or TypeInfoError."""
        columns = self._in_order(self._columns(result))
        lengths = sorted({len(column) for column in columns})
        if rows is not None and lengths != [rows]:
            raise InvalidProgramError(
                f"The function was given a batch of {rows} records and returned "
                f"{' and '.join(map(str, lengths)) or 'no'} rows. map_batches() needs as many as there were records. "
                "Use flat_map_batches() for any number of rows, or filter_batches() to leave records out."
            )
        if len(lengths) > 1:
            raise InvalidProgramError(
                f"The function returned columns of {' and '.join(map(str, lengths))} rows. Give all columns the same "
                "length."
            )
        values = list(map(self._values, self._names, self._row_type.types, columns))
        return values[0] if self._plain else rows_of(values, self._row_type)

    def _columns(self, result: Any) -> tuple[Sequence[str] | None, list[pa.Array]]:
        """The columns of a result as Arrow arrays, with their names if they have any."""
        named = _named(result)
        if named is not None:
            return list(named), [self._array(column, str(name)) for name, column in named.items()]
        if getattr(result, "ndim", 1) == 2:  # an array of NumPy's, a row per record
            return None, [self._array(result[:, index], self._names[index]) for index in range(self._width(result))]
        column = self._array(result, None)
        if self._plain:
            return None, [column]
        if isinstance(column.type, pa.StructType):
            if column.null_count:
                raise self._wrong("a struct without a value, None, where a record is due")
            return column.type.names, column.flatten()
        raise self._wrong(f"{_kind(result)}, one column")

    def _width(self, result: Any) -> int:
        width = result.shape[1]
        if width != len(self._names):
            raise self._wrong(f"{_kind(result)} of {width} columns")
        return width

    def _array(self, column: Any, name: str | None) -> pa.Array:
        try:
            array = _array_of(column)
        except REFUSALS as error:
            what = "The result" if name is None else f"The column {name!r} of the result"
            raise TypeInfoError(
                f"{what}, {_kind(column)}, cannot become an Arrow column: {error} Give its values one type."
            ) from error
        if array is None:
            raise self._wrong(f"{_kind(column)}{'' if name is None else f' as the column {name!r}'}")
        return array

    def _wrong(self, what: str) -> InvalidProgramError:
        return InvalidProgramError(
            f"The function returned {what}, but the declared output type is {self._type!r}, and {self._returns} is "
            f"needed{'' if self._plain else f' with the columns {self._names}'}. Return it, or correct output_type."
        )

    def _in_order(self, result: tuple[Sequence[str] | None, list[pa.Array]]) -> list[pa.Array]:
        """The columns in the order of the declared fields: by name, or by position where the names mean nothing."""
        names, columns = result
        if names is None or (self._plain and len(columns) == 1):
            return columns
        if set(names) == set(self._names):
            return [columns[list(names).index(name)] for name in self._names]
        if self._numbered and not self._plain and len(columns) == len(self._names):
            return columns
        raise InvalidProgramError(
            f"The function returned the columns {list(map(str, names))}, and the declared output type {self._type!r} "
            f"has {self._names}. Return these columns, or correct output_type."
        )

    def _values(self, name: str, wanted: ct.DataType, column: pa.Array) -> list[Any]:
        try:
            return column_values(*_readable(column, wanted))
        except (*REFUSALS, Mismatch) as error:
            raise self._misfit(name, wanted, column, error) from error

    def _misfit(self, name: str, wanted: ct.DataType, column: pa.Array, error: Exception) -> TypeInfoError:
        where = "The result" if self._plain else f"The column {name!r} of the result"
        hint = "Cast the column in the function, or correct output_type."
        if isinstance(error, Mismatch):
            return TypeInfoError(
                f"{where} has the Arrow type {column.type}, which is not cast to the declared {wanted}. {hint}"
            )
        for row in range(len(column)):
            try:
                column_values(*_readable(column.slice(row, 1), wanted))
            except REFUSALS as reason:
                value = shortened(column[row].as_py())
                return TypeInfoError(
                    f"{where}, of the Arrow type {column.type}, has the value {value} in row {row} of the batch, which "
                    f"does not fit the declared {wanted}: {reason}. {hint}"
                )
        return TypeInfoError(f"{where}, of the Arrow type {column.type}, does not fit {wanted}: {error}. {hint}")


def kept(result: Any, rows: int) -> list[bool]:
    """Which records to keep, by the result of a function that filters; InvalidProgramError if that has another form."""
    named = _named(result)
    if named is not None and len(named) == 1:
        [result] = named.values()
    array = None if named is not None and len(named) != 1 else _array_of(result)
    if array is None or not (pa.types.is_boolean(array.type) or pa.types.is_null(array.type)):
        what = _kind(result) if array is None else f"{_kind(result)} of the type {array.type}"
        raise InvalidProgramError(
            f"The function was given a batch of {rows} records and returned {what}. filter_batches() needs a column of "
            "truth values, one per record, such as pc.greater(column, 0). To return the rows themselves use "
            "flat_map_batches()."
        )
    if len(array) != rows:
        raise InvalidProgramError(
            f"The function was given a batch of {rows} records and returned {len(array)} truth values. "
            "filter_batches() needs one per record. If the function returns the rows that remain, call "
            "flat_map_batches()."
        )
    return array.to_pylist()


def _kind(value: Any) -> str:
    """A value in a message, without its data."""
    if value is None:
        return "None"
    if isinstance(value, list | tuple | str | int | float | bool):
        return f"{shown(value)} ({type(value).__name__})"
    return f"a {type(value).__module__.partition('.')[0]} {type(value).__name__}"


def _loaded(module: str, *names: str) -> tuple[type, ...]:
    """Classes of a library, none if nobody has loaded it."""
    loaded = sys.modules.get(module)
    return () if loaded is None else tuple(getattr(loaded, name) for name in names)


def _named(result: Any) -> Mapping[str, Any] | None:
    """The columns of a result by name; None if it has no names."""
    if isinstance(result, pa.RecordBatch | pa.Table):
        return dict(zip(result.schema.names, result.columns, strict=True))
    if isinstance(result, Mapping):
        return cast("Mapping[str, Any]", result)
    if isinstance(result, _loaded("pandas", "DataFrame")):
        return {str(name): result.iloc[:, index] for index, name in enumerate(result.columns)}
    if isinstance(result, _loaded("polars", "DataFrame")):
        return dict(zip(result.columns, result.get_columns(), strict=True))
    if isinstance(result, _loaded("numpy", "ndarray")) and result.dtype.names is not None and result.ndim == 1:
        return {name: result[name] for name in result.dtype.names}
    return None


def _array_of(column: Any) -> pa.Array | None:
    """A column of any library as an Arrow array; None if it is not one."""
    if isinstance(column, pa.Array):
        return column
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks()
    if isinstance(column, _loaded("pandas", "Series", "Index")):
        array = pa.Array.from_pandas(column)
    elif isinstance(column, _loaded("polars", "Series")):
        array = column.to_arrow()
    elif isinstance(column, _loaded("numpy", "ndarray")) and column.ndim == 1:
        array = pa.array(column)
    else:
        return None
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


_NUMBERS = (ct.TinyIntType, ct.SmallIntType, ct.IntType, ct.BigIntType, ct.FloatType, ct.DoubleType, ct.DecimalType)


def _readable(column: pa.Array, wanted: ct.DataType) -> tuple[pa.Array, Any]:
    """A column, cast if its numbers are of another kind than wanted, and how it is read. Raises :class:`Mismatch`, or
    one of :data:`REFUSALS` for a number that would change."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        return column, inward(column.type, wanted)
    except Mismatch:
        kind = column.type
        number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        day = isinstance(wanted, ct.TimestampType | ct.DateType) and (
            pa.types.is_date(kind) or pa.types.is_timestamp(kind)
        )
        if not (day or (number and isinstance(wanted, _NUMBERS))):
            raise
    target = arrow_type(wanted)
    if pa.types.is_integer(target) and pa.types.is_decimal(kind):
        column = column.cast(pa.decimal128(38, 0))
    return column.cast(target), inward(target, wanted)
