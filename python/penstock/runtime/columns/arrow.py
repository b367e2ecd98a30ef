"""Records as Arrow columns, and Arrow columns as records: the codec of Parquet, ORC, Spark's DataFrames, and functions
of batches.

A type in a file may be wider or narrower than the declared one if it is of the same kind: values that do not fit are
refused one by one. Nested values cross as Python objects, with a conversion per value; most scalars need none. What is
written is checked first, because Arrow itself would take too much: it cuts off fractions, and times from days.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from functools import cached_property
from itertools import repeat
from types import ModuleType
from typing import Any

import pyarrow as pa

from penstock.common import column_types as ct
from penstock.common.callables import shortened
from penstock.common.time import Instant
from penstock.common.typesystem.conversions import Convert, optional, same
from penstock.errors import FileFormatError
from penstock.runtime.columns.parts import Unfit, within
from penstock.runtime.columns.records import BITS, KINDS, columns_of, fields_of, maker, of_kind, rows_of
from penstock.runtime.native import ColumnarRecords

REFUSALS = (pa.ArrowException, ValueError, TypeError, OverflowError, ArithmeticError, FileFormatError)
"""The exceptions that Arrow and the conversions raise for a value that does not fit."""
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True)
class ArrowRules:
    """The rules in which users of the codec differ."""

    utc: bool = True  # local times are in UTC, otherwise in the time zone of the machine
    spark: bool = False  # times have nanoseconds, an Instant is cut to microseconds; values are copied, as they wait


UTC, LOCAL, SPARK = ArrowRules(), ArrowRules(utc=False), ArrowRules(spark=True)


_TYPES: dict[type[ct.DataType], pa.DataType] = {
    ct.NullType: pa.null(),
    ct.BooleanType: pa.bool_(),
    ct.TinyIntType: pa.int8(),
    ct.SmallIntType: pa.int16(),
    ct.IntType: pa.int32(),
    ct.BigIntType: pa.int64(),
    ct.FloatType: pa.float32(),
    ct.DoubleType: pa.float64(),
    ct.DateType: pa.date32(),
    ct.VarCharType: pa.string(),
    ct.CharType: pa.string(),
    ct.VarBinaryType: pa.binary(),
    ct.BinaryType: pa.binary(),
}


def arrow_type(wanted: ct.DataType, rules: ArrowRules = UTC) -> pa.DataType:
    """The Arrow type of a column."""
    if isinstance(wanted, ct.DecimalType):
        return pa.decimal128(wanted.precision, wanted.scale)
    if isinstance(wanted, ct.TimeType):
        if rules.spark:
            return pa.time64("ns")
        return pa.time32("ms") if wanted.precision <= 3 else pa.time64("us")
    if isinstance(wanted, ct.TimestampType):
        zone = "UTC" if isinstance(wanted, ct.LocalZonedTimestampType) else None
        return pa.timestamp("us" if wanted.precision <= 6 else "ns", zone)
    if isinstance(wanted, ct.ArrayType):
        return pa.list_(_field("item", wanted.element_type, rules))
    if isinstance(wanted, ct.MapType):
        return pa.map_(arrow_type(wanted.key_type, rules), _field("value", wanted.value_type, rules))
    if isinstance(wanted, ct.RowType):
        return pa.struct([_field(field.name, field.data_type, rules) for field in wanted])
    return _TYPES[type(wanted)]


def _field(name: str, wanted: ct.DataType, rules: ArrowRules) -> pa.Field:
    return pa.field(name, arrow_type(wanted, rules), wanted.nullable)


def arrow_schema(row_type: ct.RowType, rules: ArrowRules = UTC) -> pa.Schema:
    """The Arrow schema of rows."""
    return pa.schema([_field(field.name, field.data_type, rules) for field in row_type])


Inward = tuple[pa.DataType, "Convert | None"]
"""The Arrow type that a column is cast to, and the conversion of its values; None if they are used as they are."""


class Mismatch(Exception):
    """A column has another kind of values than declared."""


def inward(stored: pa.DataType, wanted: ct.DataType, rules: ArrowRules = UTC) -> Inward:
    """How a column of a type is read as the declared one; raises :class:`Mismatch` if they are of different kinds."""
    if isinstance(stored, pa.BaseExtensionType):
        return inward(stored.storage_type, wanted, rules)
    if pa.types.is_dictionary(stored):
        return inward(stored.value_type, wanted, rules)
    if pa.types.is_null(stored):
        return stored, None
    reading = _READERS[type(wanted)](stored, wanted, rules)
    if reading is None:
        raise Mismatch(f"{stored} in the file, {wanted} declared")
    return reading


def column_values(column: pa.Array, reading: Inward) -> list[Any]:
    """The values of a column for records. Raises one of :data:`REFUSALS` if one does not fit."""
    plain, convert = reading
    if column.type != plain:
        column = column.cast(plain, safe=not pa.types.is_timestamp(plain))
    values = column.to_pylist()
    return values if convert is None else list(map(convert, values))


def _integer(stored: pa.DataType, wanted: ct.DataType, _: ArrowRules) -> Inward | None:
    if not pa.types.is_integer(stored):
        return None
    bits = BITS[type(wanted)]
    narrow = stored.bit_width > bits or (stored.bit_width == bits and pa.types.is_unsigned_integer(stored))
    return stored, (optional(within(bits)) if narrow else None)


def _float(stored: pa.DataType, wanted: ct.DataType, _: ArrowRules) -> Inward | None:
    wide = isinstance(wanted, ct.DoubleType)
    return (stored, None) if pa.types.is_floating(stored) and (wide or stored.bit_width <= 32) else None


def _decimal(stored: pa.DataType, wanted: ct.DecimalType, _: ArrowRules) -> Inward | None:
    if not pa.types.is_decimal(stored):
        return None
    if wanted.whole and stored.scale == 0:
        return stored, optional(int)
    return arrow_type(wanted), None


def _moment(stored: pa.DataType, wanted: ct.LocalZonedTimestampType, _: ArrowRules) -> Inward | None:
    """Moments cross as integers: Python's datetime has fewer years than Arrow."""
    if not pa.types.is_timestamp(stored):
        return None
    per_second = _PER_SECOND[stored.unit]
    if per_second == 10**6:
        return pa.int64(), optional(moment_of if wanted.zoned else instant_of)
    if wanted.zoned:
        return pa.int64(), optional(lambda ticks: moment_of(ticks * 10**6 // per_second))
    return pa.int64(), optional(lambda ticks: instant_of(ticks, per_second))


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


def instant_of(ticks: int, per_second: int = 10**6) -> Instant:
    """The Instant so many ticks after the epoch."""
    seconds, rest = divmod(ticks, per_second)
    return Instant(seconds, rest * (10**9 // per_second))


def moment_of(ticks: int) -> datetime | Instant:
    """The datetime in UTC so many microseconds after the epoch, or an Instant if its year is not one of 1 to 9999."""
    try:
        return _EPOCH + ticks * _MICROSECOND
    except OverflowError:
        return instant_of(ticks)


def _local_time(stored: pa.DataType, _: ct.DataType, rules: ArrowRules) -> Inward | None:
    if not pa.types.is_timestamp(stored):
        return None
    if stored.tz is None or rules.utc:
        return pa.timestamp("us"), None
    in_zone = optional(lambda value: value.replace(tzinfo=timezone.utc).astimezone().replace(tzinfo=None))
    return pa.timestamp("us"), in_zone


def _array(stored: pa.DataType, wanted: ct.ArrayType, rules: ArrowRules) -> Inward | None:
    if not (pa.types.is_list(stored) or pa.types.is_large_list(stored) or pa.types.is_fixed_size_list(stored)):
        return None
    plain, element = inward(stored.value_type, wanted.element_type, rules)
    convert = element and optional(lambda values: list(map(element, values)))
    return pa.large_list(pa.field(stored.value_field.name, plain)), convert


def _map(stored: pa.DataType, wanted: ct.MapType, rules: ArrowRules) -> Inward | None:
    if not pa.types.is_map(stored):
        return None
    plain_key, key = inward(stored.key_type, wanted.key_type, rules)
    plain_item, item = inward(stored.item_type, wanted.value_type, rules)
    if key is None and item is None:
        return pa.map_(plain_key, plain_item), optional(dict)
    key, item = key or same, item or same
    return pa.map_(plain_key, plain_item), optional(lambda pairs: {key(k): item(v) for k, v in pairs})


def _row(stored: pa.DataType, wanted: ct.RowType, rules: ArrowRules) -> Inward | None:
    if not pa.types.is_struct(stored):
        return None
    parts = {stored.field(index).name: stored.field(index).type for index in range(stored.num_fields)}
    plain, converts = dict(parts), list[tuple[str, Convert]]()
    for field in wanted:
        if field.name not in parts:
            raise Mismatch(f"no field {field.name!r} in {stored}")
        plain[field.name], convert = inward(parts[field.name], field.data_type, rules)
        converts.append((field.name, convert or same))
    make = maker(wanted)
    read = optional(lambda value: make([convert(value[name]) for name, convert in converts]))
    return pa.struct(list(plain.items())), read


_Reader = Callable[[pa.DataType, Any, ArrowRules], "Inward | None"]


def _of_kind(*checks: Callable[[pa.DataType], bool], plain: pa.DataType | None = None) -> _Reader:
    """Reads columns that pass one of the checks as they are, or cast to a type."""
    return lambda stored, *_: (plain or stored, None) if any(check(stored) for check in checks) else None


_text = _of_kind(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, plain=pa.large_string())
_bytes = _of_kind(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
_READERS: dict[type[ct.DataType], _Reader] = {
    **dict.fromkeys(BITS, _integer),
    ct.NullType: _of_kind(),
    ct.FloatType: _float,
    ct.DoubleType: _float,
    ct.BooleanType: _of_kind(pa.types.is_boolean),
    ct.DecimalType: _decimal,
    ct.VarCharType: _text,
    ct.CharType: _text,
    ct.VarBinaryType: _bytes,
    ct.BinaryType: _bytes,
    ct.DateType: _of_kind(pa.types.is_date, plain=pa.date32()),
    ct.TimeType: _of_kind(pa.types.is_time, plain=pa.time64("us")),
    ct.LocalZonedTimestampType: _moment,
    ct.TimestampType: _local_time,
    ct.ArrayType: _array,
    ct.MapType: _map,
    ct.RowType: _row,
}


_ALIKE = frozenset({pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()}) | {
    *(pa.float32(), pa.float64(), pa.bool_(), pa.binary()),
}
"""Types whose values are the same in native columns."""
_TEXTS = frozenset({pa.string(), pa.large_string(), pa.string_view()})


class ArrowRecords(ColumnarRecords[Any]):
    """Records of Arrow columns that :func:`alike` lets pass. With ``single`` the only column has the records
    themselves."""

    def __init__(self, columns: Sequence[pa.Array], row_type: ct.RowType, single: bool = False) -> None:
        self._columns, self._row_type, self._single = columns, row_type, single

    def __len__(self) -> int:
        return len(self._columns[0])

    @cached_property
    def objects(self) -> list[Any]:
        columns = [column.to_pylist() for column in self._columns]
        return columns[0] if self._single else rows_of(columns, self._row_type)

    def columns(self, functions: ModuleType) -> Any:
        row_type, names = self._row_type, None
        if not self._single and row_type.form == "row":
            names = list(row_type.record_names or row_type.names)
        columns = list(map(_short, self._columns))
        batch = pa.RecordBatch.from_arrays(columns, [str(index) for index in range(len(columns))])
        return functions.Batch.of_arrow(batch, names, self._single)


def alike(column: pa.Array, reading: Inward) -> pa.Array | None:
    """A column as it is, or in another unit of time, if no value needs a conversion, neither for records nor for native
    columns, and none can be refused; else None. O(bytes) for texts."""
    if not _is_kept(column.type, reading):
        return None
    if reading[0] in _ENDS:
        column = column.cast(reading[0], safe=False)
        return column if _are_in_python(column) else None
    if _innermost(column.type) in _TEXTS:
        try:
            column.validate(full=True)
        except pa.ArrowException:  # a text that is not UTF-8
            return None
    return column


def _is_kept(stored: pa.DataType, reading: Inward) -> bool:
    """Whether values of a type need no conversion, but that texts must be UTF-8, and days and times those of Python."""
    plain, convert = reading
    if convert is None and plain in _ENDS:
        timestamps = pa.types.is_timestamp(stored) and pa.types.is_timestamp(plain)
        return stored == plain or timestamps or (pa.types.is_time32(stored) and pa.types.is_time(plain))
    return convert is None and _is_same(stored, plain)


def _are_in_python(column: pa.Array) -> bool:
    """Whether Python has all these days or times."""
    import pyarrow.compute as pc

    number = pa.int32() if pa.types.is_date(column.type) else pa.int64()
    ends = pc.call_function("min_max", [column.cast(number)]).as_py()
    first, last = _ENDS[column.type]
    return ends["min"] is None or (first <= ends["min"] and ends["max"] <= last)


def _ticks_to(end: datetime) -> int:
    return (end.replace(tzinfo=timezone.utc) - _EPOCH) // _MICROSECOND


_ENDS: dict[pa.DataType, tuple[int, int]] = {
    pa.date32(): (date.min.toordinal() - _EPOCH.toordinal(), date.max.toordinal() - _EPOCH.toordinal()),
    pa.timestamp("us"): (_ticks_to(datetime.min), _ticks_to(datetime.max)),
    pa.time64("us"): (0, timedelta(days=1) // _MICROSECOND - 1),
}
"""The first and the last day or time of Python's, by the type that they are cast to."""


def _is_same(stored: pa.DataType, plain: pa.DataType) -> bool:
    """Whether values of a type are those of another one. Recursive in lists inside of lists."""
    if pa.types.is_list(stored):
        return _is_same(stored.value_type, plain.value_type)
    return stored in _TEXTS or (plain in _ALIKE and stored == plain)


def _innermost(stored: pa.DataType) -> pa.DataType:
    """The type of what is in lists, if a type is one of lists."""
    while pa.types.is_list(stored):
        stored = stored.value_type
    return stored


def why_converted(row_type: ct.RowType, rules: ArrowRules = UTC) -> str:
    """Why columns of the types that rows have in Arrow become objects, see :func:`alike`; "" where they need not."""
    for field in row_type:
        stored = arrow_type(field.data_type, rules)
        if not _is_kept(stored, inward(stored, field.data_type, rules)):
            return f"values of {field.name!r}, which are {field.data_type}, are converted one by one"
    return ""


def _short(column: pa.Array) -> pa.Array:
    """Texts with short offsets, in lists too."""
    return column.cast(_short_type(column.type)) if _innermost(column.type) in _TEXTS else column


def _short_type(stored: pa.DataType) -> pa.DataType:
    return pa.list_(_short_type(stored.value_type)) if pa.types.is_list(stored) else pa.string()


def has_fields(row_type: ct.RowType) -> bool:
    """Whether records are rows or tuples, which can be columns."""
    return row_type.form in ("row", "tuple")


class BatchReader:
    """Makes records of the declared columns of a file's batches; FileFormatError if one is of another kind."""

    def __init__(self, schema: pa.Schema, row_type: ct.RowType, where: str, rules: ArrowRules = UTC) -> None:
        self._row_type, self._where = row_type, where
        self._has_fields = has_fields(row_type)
        self._columns = [self._reader(schema, field.name, field.data_type, rules) for field in row_type]

    def _reader(self, schema: pa.Schema, name: str, wanted: ct.DataType, rules: ArrowRules) -> Inward:
        if name not in schema.names:
            return pa.null(), None
        try:
            return inward(schema.field(name).type, wanted, rules)
        except Mismatch as error:
            why = f"cannot be read as {wanted}: {error}. Declare the type that the file has, and convert in a map()."
            raise FileFormatError(f"{self._where}: the column {name!r} {why}") from None

    def records(self, batch: pa.RecordBatch, place: str) -> Sequence[Any]:
        """The records of a batch; ``place`` is its part of the file, for messages. Raises FileFormatError."""
        columns = self._alike(batch) if self._has_fields else None
        if columns is not None:
            return ArrowRecords(columns, self._row_type)
        return rows_of((self._values(index, batch, place) for index in range(len(self._columns))), self._row_type)

    def _alike(self, batch: pa.RecordBatch) -> list[pa.Array] | None:
        """The declared columns, if none of their values is converted or refused."""
        columns = list[pa.Array]()
        for field, reading in zip(self._row_type, self._columns, strict=True):
            column = batch.column(field.name) if field.name in batch.schema.names else None
            if column is None or (column.null_count and not field.data_type.nullable):
                return None
            column = alike(column, reading)
            if column is None:
                return None
            columns.append(column)
        return columns

    def _values(self, index: int, batch: pa.RecordBatch, place: str) -> list[Any]:
        field, reading = self._row_type.fields[index], self._columns[index]
        if field.name not in batch.schema.names:
            return [None] * batch.num_rows
        column = batch.column(field.name)
        column = column.storage if isinstance(column, pa.ExtensionArray) else column
        try:
            values = column_values(column, reading)
        except REFUSALS as error:
            raise FileFormatError(
                f"{self._where}, {place}: {_culprit(column, reading)} in the column {field.name!r} cannot be read as "
                f"{field.data_type}: {error}. Declare a type that holds it."
            ) from error
        if column.null_count and not field.data_type.nullable:
            raise FileFormatError(
                f"{self._where}, {place}: the column {field.name!r} has no value in a record, and is declared as "
                f"{field.data_type} that is always there. Declare it nullable."
            )
        return values


def _culprit(column: pa.Array, reading: Inward) -> str:
    for row in range(len(column)):
        try:
            column_values(column.slice(row, 1), reading)
        except REFUSALS:
            try:
                return f"the value {shortened(column[row].as_py())}"
            except REFUSALS:
                with contextlib.suppress(*REFUSALS):  # of a text in a list
                    return f"the value {column[row]}"
    return "a value"


def column_of(
    values: Sequence[Any], wanted: ct.DataType | None, kind: pa.DataType, rules: ArrowRules = UTC
) -> pa.Array:
    """Values as an Arrow column of a type; ``wanted`` is None if they are converted already. Raises :class:`Unfit`."""

    def array(values: Sequence[Any]) -> pa.Array:
        return pa.array(values if wanted is None else outward_all(values, wanted, rules), kind)

    try:
        return array(values)
    except REFUSALS as error:
        for value in values:  # find the culprit
            try:
                array([value])
            except REFUSALS as reason:
                raise Unfit(value, str(reason)) from reason
        raise Unfit(values[0], str(error)) from error


def outward(wanted: ct.DataType, rules: ArrowRules = UTC) -> Convert:
    """The conversion of a value in a record, or None, into one that Arrow takes; raises one of :data:`REFUSALS`."""
    convert = _conversion(wanted, rules)
    return optional(lambda value: of_kind(value, wanted) if convert is None else convert(of_kind(value, wanted)))


def outward_all(values: Sequence[Any], wanted: ct.DataType, rules: ArrowRules = UTC) -> Sequence[Any]:
    """:func:`outward` for each value, at once if all are of the usual class."""
    convert, kinds = _conversion(wanted, rules), KINDS[type(wanted)]
    if convert is None and {*kinds, type(None)}.issuperset(map(type, values)):
        return values
    return list(map(outward(wanted, rules), values))


def _conversion(wanted: ct.DataType, rules: ArrowRules) -> Convert | None:
    """The conversion of a value of the right class; None if Arrow takes it as it is."""
    if isinstance(wanted, ct.LocalZonedTimestampType):
        return _ticks(wanted.precision, rules)
    if isinstance(wanted, ct.TimestampType):
        return _naive if rules.utc else _in_utc
    if isinstance(wanted, ct.ArrayType):
        element = wanted.element_type
        return lambda values: list(outward_all(values, element, rules))
    if isinstance(wanted, ct.MapType):
        key, item = wanted.key_type, wanted.value_type

        def pairs(value: dict[Any, Any]) -> list[tuple[Any, Any]]:
            items = outward_all(list(value.values()), item, rules)
            return list(zip(outward_all(list(value), key, rules), items, strict=True))

        return pairs
    if isinstance(wanted, ct.RowType):
        return _struct(wanted, rules)
    return bytes if rules.spark and isinstance(wanted, ct.VarBinaryType) else None


def _naive(value: datetime) -> datetime:
    if value.tzinfo is not None:
        raise ValueError("it is timezone-aware, but the column holds local times; declare TIMESTAMP_LTZ")
    return value


def _in_utc(value: datetime) -> datetime:
    return _naive(value).astimezone(timezone.utc).replace(tzinfo=None)


def _ticks(precision: int, rules: ArrowRules) -> Convert:
    per_second = 10**6 if precision <= 6 else 10**9

    def ticks(value: Any) -> int:
        if isinstance(value, datetime):
            if value.tzinfo is None:
                raise ValueError("a moment is an Instant, or a timezone-aware datetime")
            return (value - _EPOCH) // _MICROSECOND * (per_second // 10**6)
        whole, rest = divmod(value.nanos * per_second, 10**9)
        if rest and not rules.spark:
            raise ValueError("it has more than six digits of a fraction of a second; declare TIMESTAMP_LTZ(9)")
        return value.seconds * per_second + whole

    return ticks


def _struct(row_type: ct.RowType, rules: ArrowRules) -> Convert:
    names, known = tuple(row_type.names), frozenset(row_type.names)
    converts = [outward(field_type, rules) for field_type in row_type.types]

    def struct(value: Any) -> tuple[Any, ...]:
        fields = fields_of(value, names, known)
        return tuple([convert(field) for convert, field in zip(converts, fields, strict=True)])

    return struct


_WHOLE_KINDS = (*BITS, ct.BooleanType, ct.DoubleType, ct.VarCharType, ct.VarBinaryType)
"""Types that take whatever a native column of their kind has, but for whole numbers that are too large."""


def _fitting(column: pa.Array, wanted: ct.DataType, kind: pa.DataType, rules: ArrowRules) -> pa.Array | None:
    """A column of a native batch as one of a type; None if that is left to a conversion of each value."""
    if isinstance(wanted, ct.DateType | ct.TimeType) or (isinstance(wanted, ct.TimestampType) and rules.utc):
        return column.cast(kind) if column.type in (kind, pa.null()) else None
    inner, of_inner, has = wanted, kind, column.type
    while isinstance(inner, ct.ArrayType) and pa.types.is_list(of_inner) and of_inner.value_field.nullable:
        inner, of_inner = inner.element_type, of_inner.value_type
        if pa.types.is_list(has):
            has = has.value_type
        elif not pa.types.is_null(has):
            return None
    if not isinstance(inner, _WHOLE_KINDS):
        return None
    if column.type == kind:
        return column
    if pa.types.is_null(has) or has == of_inner or (pa.types.is_integer(has) and pa.types.is_integer(of_inner)):
        with contextlib.suppress(pa.ArrowException):
            return column.cast(kind)
    return None


def columns_of_native(
    batch: Any, names: list[str] | None, types: Sequence[ct.DataType], schema: pa.Schema, rules: ArrowRules = UTC
) -> pa.RecordBatch | None:
    """The records of a native batch as columns of a schema, by the names of their fields (None for single values);
    None if that is left to a conversion of each value."""
    columns = batch.to_arrow(names)
    fitting = None if columns is None else list(map(_fitting, columns.columns, types, schema.types, repeat(rules)))
    if fitting is None or any(column is None for column in fitting):
        return None
    return pa.RecordBatch.from_arrays(fitting, schema=schema)


class BatchWriter:
    """Makes Arrow batches of records for a file."""

    def __init__(self, row_type: ct.RowType, rules: ArrowRules = UTC) -> None:
        self.schema = arrow_schema(row_type, rules)
        self._names, self._types, self._rules = tuple(row_type.names), row_type.types, rules

    def batch(self, records: Sequence[Any]) -> pa.RecordBatch:
        """The records, at least one, as a batch; raises FileFormatError if one does not fit."""
        columns = columns_of(records, self._names)
        return pa.record_batch(list(map(self._column, range(len(columns)), columns)), schema=self.schema)

    def of_columns(self, batch: Any) -> pa.RecordBatch | None:
        """The same of a native batch; None if its columns are not those of the file as they are."""
        columns = columns_of_native(batch, list(self._names), self._types, self.schema, self._rules)
        if columns is None or any(
            column.null_count and not field.nullable for column, field in zip(columns, self.schema, strict=True)
        ):
            return None
        return columns

    def _column(self, index: int, values: Sequence[Any]) -> pa.Array:
        field, wanted = self.schema.field(index), self._types[index]
        try:
            column = column_of(values, wanted, field.type, self._rules)
        except Unfit as misfit:
            raise FileFormatError(
                f"The value {shortened(misfit.value)} cannot be written into the column {field.name!r} of type "
                f"{wanted}: {misfit.why}. Convert it in a map() before the sink, or declare another type."
            ) from misfit.__cause__
        if column.null_count and not field.nullable:
            hint = f"Declare the type {wanted} nullable, or give a value."
            raise FileFormatError(f"The column {field.name!r} cannot hold None, and a record has none. {hint}")
        return column
