"""Types of Spark's columns as types of columns here, and back. Spark's types are in the form of their ``jsonValue()``:
plain data, which travels and can be read without pyspark. Source of the names: ``pyspark.sql.types``,
``StructType.json``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.common import column_types as ct
from penstock.common.column_types import data_type_of
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from penstock.errors import TypeInfoError, UnsupportedError

SparkType = str | Mapping[str, Any]

_TYPES: dict[str, ct.DataType] = {
    "byte": ct.TinyIntType(),
    "short": ct.SmallIntType(),
    "integer": ct.IntType(),
    "long": ct.BigIntType(),
    "float": ct.FloatType(),
    "double": ct.DoubleType(),
    "string": ct.VarCharType(),
    "boolean": ct.BooleanType(),
    "binary": ct.VarBinaryType(),
    "date": ct.DateType(),
    "time": ct.TimeType(6),
    "timestamp": ct.LocalZonedTimestampType(),
    "timestamp_ntz": ct.TimestampType(),
    "void": ct.NullType(),
}
"""Types of columns by the name of Spark's type, without its parameters."""
_NAMES = {type(data_type): name for name, data_type in _TYPES.items()}
_NAMES |= {ct.CharType: "string", ct.BinaryType: "binary", ct.TimeType: "time(6)"}
_INTEGERS = ["byte", "short", "integer", "long"]
_WIDER: dict[str, list[str]] = {
    "short": _INTEGERS[:2],
    "integer": _INTEGERS[:3],
    "long": _INTEGERS,
    "decimal(38,0)": _INTEGERS,
    "double": ["float", "double"],
}
"""Other types of columns that a declared type takes."""

VALUE = "value"  # name of the column of records without fields


def name_of(spark: SparkType) -> str:
    """The name of a type, without its parameters."""
    return re.split(r"[( ]", spark if isinstance(spark, str) else spark["type"])[0]


def digits(spark: str) -> tuple[int, int]:
    """Precision and scale of a ``decimal(p,s)``."""
    precision, scale = re.findall(r"\d+", spark)
    return int(precision), int(scale)


def from_ddl(ddl: str) -> Any:
    """The schema that a text describes, as pyspark has it. Before 4.0 there is no public way, and a SparkSession has to
    be there."""
    from pyspark.sql import types

    read: Any = getattr(types.StructType, "fromDDL", None) or types._parse_datatype_string  # type: ignore[attr-defined]
    return read(ddl)


def shown(spark: SparkType) -> str:
    """A type as Spark's DDL has it."""
    name = name_of(spark)
    if isinstance(spark, str):
        return {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint"}.get(spark, spark)
    if name == "array":
        return f"array<{shown(spark['elementType'])}>"
    if name == "map":
        return f"map<{shown(spark['keyType'])},{shown(spark['valueType'])}>"
    if name == "struct":
        fields = (f"{part['name']}:{shown(part['type'])}" for part in spark["fields"])
        return f"struct<{','.join(fields)}>"
    return name


def type_of(spark: SparkType) -> TypeInformation[Any]:
    """The type of the values of a column, or of the rows of a schema; raises as :func:`data_type`."""
    return data_type(spark).type_info


def data_type(
    spark: SparkType, declared: TypeInformation[Any] | None = None, instants: bool = True, column: str = ""
) -> ct.DataType:
    """Spark's type of a column, or a schema, as one of ours; UnsupportedError if it has no counterpart. ``declared`` is
    the type in records, if the program declares it; ``instants`` whether values of a ``timestamp`` are Instants,
    otherwise aware datetimes; ``column`` the path, for errors."""
    name = name_of(spark)
    if not isinstance(spark, str):
        if name == "array":
            element = declared.element_type if isinstance(declared, ListTypeInfo | ArrayTypeInfo) else None
            return ct.ArrayType(data_type(spark["elementType"], element, instants, f"{column}[]"))
        if name == "map":
            is_map = isinstance(declared, MapTypeInfo)
            key = data_type(spark["keyType"], declared.key_type if is_map else None, instants, f"{column}.key")
            item = declared.value_type if is_map else None
            return ct.MapType(key, data_type(spark["valueType"], item, instants, f"{column}.value"))
        if name == "struct":
            return rows_in(spark, declared, instants, column)
    elif name == "decimal":
        return ct.DecimalType(*digits(spark), whole=declared == Types.BIG_INT())
    elif name == "timestamp":
        return ct.LocalZonedTimestampType(zoned=not instants)
    elif name in ("char", "varchar"):
        return _TYPES["string"]
    elif name in _TYPES:
        return _TYPES[name]
    raise UnsupportedError(
        f"The column {column!r} has Spark's type {shown(spark)}, which has no counterpart here. Convert it in "
        f"Spark, by df.withColumn({column.partition('.')[0].removesuffix('[]')!r}, ….cast('string')), or leave it out."
    )


def rows_in(
    schema: Mapping[str, Any], declared: TypeInformation[Any] | None = None, instants: bool = True, column: str = ""
) -> ct.RowType:
    """:func:`data_type` of a schema, or of a struct."""
    names = [field["name"] for field in schema["fields"]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TypeInfoError(
            f"{f'The column {column!r}' if column else 'The DataFrame'} has several fields named {twice}, and fields "
            "of a row differ in their names. Rename them in Spark: df.toDF('a', 'b', …), or select() with aliases."
        )
    is_declared = isinstance(declared, RowTypeInfo | TupleTypeInfo)
    types = declared.field_types if is_declared else [None] * len(names)
    paths = [f"{column}.{name}" if column else name for name in names]
    fields = [
        ct.RowField(name, data_type(field["type"], type_info, instants, path))
        for name, field, type_info, path in zip(names, schema["fields"], types, paths, strict=True)
    ]
    form = "tuple" if isinstance(declared, TupleTypeInfo) else "row"
    record_names = declared.field_names if isinstance(declared, RowTypeInfo) else None
    return ct.RowType(tuple(fields), form=form, record_names=record_names)


def check_declared(spark: SparkType, declared: TypeInformation[Any], column: str) -> None:
    """Refuse, by a TypeInfoError, a declared type that does not fit a column, whose path is named."""
    if not _fits(spark, declared, column):
        raise TypeInfoError(
            f"from_spark() was given the type {declared} for the column {column!r}, whose type in Spark is "
            f"{shown(spark)}. Leave type_info out, declare {type_of(spark)}, or convert the column in Spark: "
            f"cast({shown(_column(declared) or '…')!r})."
        )


def _fits(spark: SparkType, declared: TypeInformation[Any], column: str) -> bool:
    name = name_of(spark)
    if isinstance(declared, PickledBytesTypeInfo):
        return True
    if not isinstance(spark, str):
        if name == "array" and isinstance(declared, ListTypeInfo | ArrayTypeInfo):
            check_declared(spark["elementType"], declared.element_type, f"{column}[]")
        elif name == "map" and isinstance(declared, MapTypeInfo):
            check_declared(spark["keyType"], declared.key_type, f"{column}.key")
            check_declared(spark["valueType"], declared.value_type, f"{column}.value")
        elif name == "struct" and isinstance(declared, RowTypeInfo | TupleTypeInfo):
            check_fields(spark["fields"], declared, column)
        else:
            return False
        return True
    wanted = _column(declared)
    if wanted is None or declared == Types.CHAR():
        return False
    if name == "decimal" and declared == Types.BIG_INT():
        return digits(spark)[1] == 0
    return name == name_of(wanted) or name in _WIDER.get(str(wanted), []) or type_of(spark) == declared


def check_fields(fields: list[Mapping[str, Any]], declared: RowTypeInfo | TupleTypeInfo, column: str = "") -> None:
    """:func:`check_declared` for each field of a row or tuple, in order."""
    if len(fields) != len(declared.field_types):
        raise TypeInfoError(
            f"from_spark() was given the type {declared} of {len(declared.field_types)} fields for "
            f"{f'the column {column!r}' if column else 'a DataFrame'} of {len(fields)}: "
            f"{[field['name'] for field in fields]}. Declare one type for each, or select() the ones you want."
        )
    for field, field_type in zip(fields, declared.field_types, strict=True):
        check_declared(field["type"], field_type, f"{column}.{field['name']}" if column else field["name"])


def schema_of(declared: TypeInformation[Any] | None) -> Mapping[str, Any] | None:
    """The schema of a DataFrame of records: a column per field, or one named ``value``; None for undeclared types."""
    if isinstance(declared, RowTypeInfo | TupleTypeInfo):
        fields = list(zip(declared.field_names, declared.field_types, strict=True))
    else:
        fields = [] if declared is None else [(VALUE, declared)]
    columns = [(name, column) for name, field in fields if (column := _column(field)) is not None]
    return _struct(columns) if fields and len(columns) == len(fields) else None


def undeclared(declared: TypeInformation[Any] | None) -> str:
    """The declaration that is missing if :func:`schema_of` returns None."""
    if not isinstance(declared, RowTypeInfo | TupleTypeInfo):
        return "the type of the stream's records is not declared"
    fields = zip(declared.field_names, declared.field_types, strict=True)
    names = [name for name, field in fields if _column(field) is None]
    return f"the type of the fields {names} of {declared} is not declared" if names else "the records have no fields"


def _struct(fields: Iterable[tuple[str, SparkType]]) -> Mapping[str, Any]:
    columns = [{"name": name, "type": spark, "nullable": True, "metadata": {}} for name, spark in fields]
    return {"type": "struct", "fields": columns}


def _column(declared: TypeInformation[Any]) -> SparkType | None:
    """Spark's type of a column of such values; None if there is none."""
    try:
        return _spark(data_type_of(declared))
    except UnsupportedError:
        return None


def _spark(wanted: ct.DataType) -> SparkType:
    if isinstance(wanted, ct.DecimalType):
        return f"decimal({wanted.precision},{wanted.scale})"
    if isinstance(wanted, ct.ArrayType):
        return {"type": "array", "elementType": _spark(wanted.element_type), "containsNull": True}
    if isinstance(wanted, ct.MapType):
        key, value = _spark(wanted.key_type), _spark(wanted.value_type)
        return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
    if isinstance(wanted, ct.RowType):
        return _struct((field.name, _spark(field.data_type)) for field in wanted)
    return _NAMES[type(wanted)]


def nullable(spark: SparkType) -> SparkType:
    """A type whose values and parts may all be null: the values that a task makes are not checked for nulls."""
    if isinstance(spark, str):
        return spark
    flags = dict.fromkeys(spark.keys() & {"containsNull", "nullable", "valueContainsNull"}, True)
    types = {key: nullable(spark[key]) for key in spark.keys() & {"elementType", "keyType", "type", "valueType"}}
    fields = {"fields": [nullable(field) for field in spark["fields"]]} if "fields" in spark else {}
    return {**spark, **flags, **types, **fields}
