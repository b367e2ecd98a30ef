"""Arrow batches as records, and records as Arrow batches, by the types of Spark's columns.

Moments cross as whole microseconds: Python's ``datetime`` knows fewer years than Spark. pyarrow is imported where
batches are.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import repeat
from typing import Any

from penstock.common.callables import shown
from penstock.common.conversions import Convert, optional, same
from penstock.common.row import Row, in_order
from penstock.common.time import Instant
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from penstock.errors import TypeInfoError
from penstock.runtime.io import spark_types
from penstock.runtime.io.moments import instant_of, microseconds_of
from penstock.runtime.io.spark_types import SparkType, digits, name_of


def arrow_type(spark: SparkType, *, physical: bool = False) -> Any:
    """The Arrow type of a column.

    Args:
        spark: type of the column.
        physical: moments are integers.
    """
    import pyarrow as pa

    name = name_of(spark)
    if isinstance(spark, str):
        if name == "decimal":
            return pa.decimal128(*digits(spark))
        if name == "timestamp" and physical:
            return pa.int64()
        return _simple()[name]
    if name == "array":
        return pa.list_(arrow_type(spark["elementType"], physical=physical))
    if name == "map":
        key, value = (arrow_type(spark[part], physical=physical) for part in ("keyType", "valueType"))
        return pa.map_(key, value)
    return pa.struct([pa.field(each["name"], arrow_type(each["type"], physical=physical)) for each in spark["fields"]])


def _simple() -> dict[str, Any]:
    import pyarrow as pa

    numbers = {"byte": pa.int8(), "short": pa.int16(), "integer": pa.int32(), "long": pa.int64()}
    times = {"timestamp": pa.timestamp("us", "UTC"), "timestamp_ntz": pa.timestamp("us"), "time": pa.time64("ns")}
    texts = dict.fromkeys(("string", "char", "varchar"), pa.string())
    others = {"boolean": pa.bool_(), "date": pa.date32(), "binary": pa.binary(), "void": pa.null()}
    return {**numbers, **times, **texts, **others, "float": pa.float32(), "double": pa.float64()}


def arrow_schema(schema: Mapping[str, Any]) -> Any:
    """The Arrow schema of a whole schema of Spark."""
    import pyarrow as pa

    return pa.schema([pa.field(field["name"], arrow_type(field["type"])) for field in schema["fields"]])


# --- Arrow in, records out ----------------------------------------------------------------------------------------


def records(
    batches: Iterable[Any], schema: Mapping[str, Any], declared: TypeInformation[Any]
) -> Iterator[Sequence[Any]]:
    """The records of Arrow batches, a list for each.

    Args:
        batches: with the columns of the schema, in order.
        schema: of Spark.
        declared: type of the records: a row or tuple of all columns, or that of the only one.
    """
    fields = schema["fields"]
    types = _field_types(declared, len(fields))
    columns = [
        (each["name"], each["type"], reader(each["type"], kind)) for each, kind in zip(fields, types, strict=True)
    ]
    make = _maker(declared)
    for batch in batches:
        yield make([_values(batch.column(index), *column) for index, column in enumerate(columns)])


def _field_types(declared: TypeInformation[Any], count: int) -> Sequence[TypeInformation[Any]]:
    if isinstance(declared, RowTypeInfo | TupleTypeInfo):
        return declared.field_types
    return [declared] * count


def _maker(declared: TypeInformation[Any]) -> Callable[[list[list[Any]]], list[Any]]:
    """Makes records of the values of their columns."""
    if isinstance(declared, RowTypeInfo):
        names = declared.field_names
        return lambda columns: list(map(Row.of_values, zip(*columns, strict=True), repeat(names)))
    if isinstance(declared, TupleTypeInfo):
        return lambda columns: list(zip(*columns, strict=True))
    return lambda columns: columns[0]


def _values(column: Any, name: str, spark: SparkType, convert: Convert | None) -> list[Any]:
    """The values of a column."""
    try:
        values = (
            column.view(arrow_type(spark, physical=True)).to_pylist() if _has_moments(spark) else column.to_pylist()
        )
        return values if convert is None else list(map(convert, values))
    except (OverflowError, ValueError) as error:
        raise TypeInfoError(
            f"A value of the column {name!r}, {spark_types.shown(spark)}, is none of Python's: {error}. Its dates and "
            "times are those of the years 1 to 9999. Leave others out in Spark, by where() say, or read a timestamp, "
            "which is an Instant of any year."
        ) from error


def _has_moments(spark: SparkType) -> bool:
    if isinstance(spark, str):
        return spark == "timestamp"
    parts = [spark[part] for part in ("elementType", "keyType", "valueType") if part in spark]
    return any(map(_has_moments, parts + [field["type"] for field in spark.get("fields", ())]))


def reader(spark: SparkType, declared: TypeInformation[Any]) -> Convert | None:
    """What makes a record's value of what Arrow gives for it; None if that is it.

    Args:
        spark: type of the column.
        declared: type of the value, see :func:`.spark_types.check_declared`.
    """
    name = name_of(spark)
    if isinstance(spark, str):
        whole = name == "decimal" and declared == Types.BIG_INT()
        return optional(instant_of) if name == "timestamp" else optional(int) if whole else None
    if name == "array":
        element = (
            declared.element_type
            if isinstance(declared, ListTypeInfo | ArrayTypeInfo)
            else spark_types.type_of(spark["elementType"])
        )
        convert = reader(spark["elementType"], element)
        return None if convert is None else optional(lambda value: list(map(convert, value)))
    if name == "map":
        types = declared if isinstance(declared, MapTypeInfo) else spark_types.type_of(spark)
        assert isinstance(types, MapTypeInfo)
        key, item = (
            reader(spark["keyType"], types.key_type) or same,
            reader(spark["valueType"], types.value_type) or same,
        )
        return optional(lambda value: {key(k): item(v) for k, v in value})
    kind = declared if isinstance(declared, RowTypeInfo | TupleTypeInfo) else spark_types.type_of(spark)
    assert isinstance(kind, RowTypeInfo | TupleTypeInfo)
    fields = [reader(each["type"], own) or same for each, own in zip(spark["fields"], kind.field_types, strict=True)]
    names = kind.field_names if isinstance(kind, RowTypeInfo) else None

    def struct(value: Any) -> Any:
        values = [convert(each) for convert, each in zip(fields, value.values(), strict=True)]
        return tuple(values) if names is None else Row.of_values(values, names)

    return optional(struct)


# --- records in, Arrow out ----------------------------------------------------------------------------------------


class ArrowWriter:
    """Makes Arrow batches of records.

    Args:
        schema: of Spark.

    Attributes:
        schema: of the batches, Arrow's.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = arrow_schema(schema)
        self._fields = schema["fields"]
        self._names = tuple(field["name"] for field in self._fields)
        converts = [writer(field["type"]) for field in self._fields]
        deep = [not isinstance(field["type"], str) or field["type"] == "binary" for field in self._fields]
        self._now = {index: convert for index, convert in enumerate(converts) if deep[index]}
        self._later = {i: convert for i, convert in enumerate(converts) if not deep[i] and convert is not same}

    def values(self, record: Any) -> tuple[Any, ...]:
        """The values of a record by column; of what could change later, a copy.

        Raises:
            TypeInfoError: the record, or a part of one of its values, is not what the schema says.
        """
        plain = type(record) is tuple and len(record) == len(self._names)
        values = record if plain else self._of(record)
        if not self._now:
            return tuple(values)
        copies = list(values)
        for index, convert in self._now.items():
            copies[index] = self._converted(index, convert, copies[index])
        return tuple(copies)

    def _converted(self, index: int, convert: Convert, value: Any) -> Any:
        try:
            return None if value is None else convert(value)
        except (TypeError, ValueError) as error:
            raise _misfit(self._names[index], self._fields[index]["type"], value, str(error)) from None

    def _of(self, record: Any) -> Sequence[Any]:
        """The values of a record in the order of the columns: by name where it has the same, else by position."""
        names = self._names
        if isinstance(record, Row | tuple | list | dict):
            values = _by_name(record, names)
            if values is not None:
                return values
        elif len(names) == 1:
            return (record,)
        raise TypeInfoError(
            f"The record {shown(record)} does not have the columns {list(names)}. Give each record as a Row, tuple or "
            "dict of them."
        )

    def batch(self, rows: Sequence[tuple[Any, ...]]) -> Any:
        """A batch of the values of some records, one at least.

        Raises:
            TypeInfoError: a value is not of its column's type.
        """
        import pyarrow as pa

        columns = [self._column(index, [row[index] for row in rows]) for index in range(len(self._names))]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _column(self, index: int, values: list[Any]) -> Any:
        import pyarrow as pa

        kind, convert = self.schema.field(index).type, self._later.get(index)
        if convert is not None:
            values = [self._converted(index, convert, value) for value in values]
        try:
            return pa.array(values, kind)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            for value in values:
                self._check(index, value)
            raise

    def _check(self, index: int, value: Any) -> None:
        import pyarrow as pa

        try:
            pa.array([value], self.schema.field(index).type)
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise _misfit(self._names[index], self._fields[index]["type"], value, str(error)) from None


def size(rows: Sequence[tuple[Any, ...]]) -> int:
    """About how many bytes the values of some records take."""
    return sum(map(_size, rows))


def _size(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    return sum(map(_size, value)) if isinstance(value, tuple | list) else 8


def _misfit(name: str, spark: SparkType, value: Any, why: str) -> TypeInfoError:
    return TypeInfoError(
        f"The field {name!r} of a record is {shown(value)}, which is no {spark_types.shown(spark)}: {why.rstrip('.')}. "
        "Convert it before, or give the sink a schema with another type for it."
    )


def _by_name(record: Any, names: tuple[str, ...]) -> Sequence[Any] | None:
    """The values of a record, or of a part of it, in the order of names; None if it has others."""
    if isinstance(record, dict):
        return [record[name] for name in names] if record.keys() == set(names) else None
    if len(record) != len(names):
        return None
    return in_order(record, names) if isinstance(record, Row) else record


def writer(spark: SparkType) -> Convert:
    """What makes of a value, which is not None, what Arrow takes for the type of a column. It raises TypeError or
    ValueError where Arrow would take a value that is something else."""
    name = name_of(spark)
    if isinstance(spark, str):
        return _SIMPLE.get(name, same)
    if name == "array":
        element = optional(writer(spark["elementType"]))
        return lambda value: [element(each) for each in _a(value, "list", list, tuple)]
    if name == "map":
        key, item = writer(spark["keyType"]), optional(writer(spark["valueType"]))
        return lambda value: [(key(k), item(v)) for k, v in _a(value, "dict", dict).items()]
    names = tuple(field["name"] for field in spark["fields"])
    fields = [optional(writer(field["type"])) for field in spark["fields"]]

    def struct(value: Any) -> tuple[Any, ...]:
        values = _by_name(_a(value, "Row, tuple or dict", Row, tuple, list, dict), names)
        if values is None:
            raise TypeError(f"it does not have the fields {list(names)}")
        return tuple(convert(each) for convert, each in zip(fields, values, strict=True))

    return struct


def _a(value: Any, what: str, *classes: type) -> Any:
    if isinstance(value, classes):
        return value
    raise TypeError(f"a {what} is needed")


def _microseconds(value: Any) -> int:
    if isinstance(value, Instant):
        return value.seconds * 1_000_000 + value.nanos // 1000
    if not isinstance(value, datetime.datetime) or value.tzinfo is None:
        raise TypeError("an Instant, or a datetime with a zone, is needed; one without is a timestamp_ntz")
    return microseconds_of(value)


def _without_zone(value: Any) -> Any:
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        return value
    raise TypeError("a datetime without a zone is needed; a moment is a timestamp")


def _date(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        raise TypeError("a date is needed, without a time of day")
    return _a(value, "date", datetime.date)


def _whole(value: Any) -> Any:
    if type(value) is int:
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError("an int is needed")
    return int(value)


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise TypeError("a number is needed")
    return value


_SIMPLE: dict[str, Convert] = {
    "timestamp": _microseconds,
    "timestamp_ntz": _without_zone,
    "date": _date,
    "time": lambda value: _a(value, "time", datetime.time),
    "double": _number,
    "float": _number,
    "decimal": lambda value: _a(_number(value), "Decimal or int", Decimal, int),
    **dict.fromkeys(("string", "char", "varchar"), lambda value: _a(value, "str", str)),
    **dict.fromkeys(("byte", "short", "integer", "long"), _whole),
    "binary": lambda value: bytes(_a(value, "bytes object", bytes, bytearray)),
}
