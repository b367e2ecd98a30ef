"""Types of Spark's columns as types of records, and back. A type of Spark is here what its ``jsonValue()`` gives: plain
data that travels, and that nobody needs pyspark to read.

Source of the names: ``pyspark.sql.types``, ``StructType.json``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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
    Types,
)
from penstock.errors import TypeInfoError, UnsupportedError

SparkType = str | Mapping[str, Any]

_TYPES: dict[str, TypeInformation[Any]] = {
    "byte": Types.BYTE(),
    "short": Types.SHORT(),
    "integer": Types.INT(),
    "long": Types.LONG(),
    "float": Types.FLOAT(),
    "double": Types.DOUBLE(),
    "decimal": Types.BIG_DEC(),
    "string": Types.STRING(),
    "char": Types.STRING(),
    "varchar": Types.STRING(),
    "binary": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "boolean": Types.BOOLEAN(),
    "date": Types.SQL_DATE(),
    "time": Types.SQL_TIME(),
    "timestamp_ntz": Types.SQL_TIMESTAMP(),
    "timestamp": Types.INSTANT(),
    "void": Types.PICKLED_BYTE_ARRAY(),
}
"""By the name of Spark's type, without what stands in brackets."""

_INTEGERS = ["byte", "short", "integer", "long"]
_COLUMNS: dict[BasicType | SqlTimeType, str] = {
    BasicType.STRING: "string",
    BasicType.CHAR: "string",
    BasicType.BYTE: "byte",
    BasicType.SHORT: "short",
    BasicType.INT: "integer",
    BasicType.LONG: "long",
    BasicType.BIG_INT: "decimal(38,0)",
    BasicType.FLOAT: "float",
    BasicType.DOUBLE: "double",
    BasicType.BIG_DEC: "decimal(38,18)",
    BasicType.BOOLEAN: "boolean",
    BasicType.INSTANT: "timestamp",
    SqlTimeType.DATE: "date",
    SqlTimeType.TIME: "time(6)",
    SqlTimeType.TIMESTAMP: "timestamp_ntz",
}
_WIDER: dict[str, list[str]] = {
    "short": _INTEGERS[:2],
    "integer": _INTEGERS[:3],
    "long": _INTEGERS,
    "decimal(38,0)": _INTEGERS,
    "double": ["float", "double"],
}
"""Columns that a declared type takes besides its own."""

VALUE = "value"
"""The column of records that have no fields."""


def name_of(spark: SparkType) -> str:
    """The name of a type, without what stands in brackets."""
    return re.split(r"[( ]", spark if isinstance(spark, str) else spark["type"])[0]


def digits(spark: str) -> tuple[int, int]:
    """Precision and scale of a ``decimal(p,s)``."""
    precision, scale = re.findall(r"\d+", spark)
    return int(precision), int(scale)


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
        fields = (f"{each['name']}:{shown(each['type'])}" for each in spark["fields"])
        return f"struct<{','.join(fields)}>"
    return name


def type_of(spark: SparkType, column: str = "") -> TypeInformation[Any]:
    """The type of the values of a column; of a whole schema, that of its rows.

    Args:
        spark: the type of the column, or a schema.
        column: its path, for the error; empty for the schema itself.

    Raises:
        UnsupportedError: it has no counterpart, such as an interval.
        TypeInfoError: two columns have one name.
    """
    name = name_of(spark)
    if isinstance(spark, str):
        if name in _TYPES:
            return _TYPES[name]
    elif name == "array":
        return Types.LIST(type_of(spark["elementType"], f"{column}[]"))
    elif name == "map":
        return Types.MAP(type_of(spark["keyType"], f"{column}.key"), type_of(spark["valueType"], f"{column}.value"))
    elif name == "struct":
        return _row(spark, column)
    raise UnsupportedError(
        f"The column {column!r} has Spark's type {shown(spark)}, which no type of records stands for. Convert it in "
        f"Spark before, df.withColumn({column.partition('.')[0].removesuffix('[]')!r}, ….cast('string')) say, or leave "
        "it out by select()."
    )


def _row(spark: Mapping[str, Any], column: str) -> TypeInformation[Any]:
    names = [field["name"] for field in spark["fields"]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TypeInfoError(
            f"{f'The column {column!r}' if column else 'The DataFrame'} has several fields named {twice}, and fields "
            "of a row differ in their names. Rename them in Spark: df.toDF('a', 'b', …), or select() with aliases."
        )
    paths = [f"{column}.{name}" if column else name for name in names]
    return Types.ROW_NAMED(names, [type_of(f["type"], path) for f, path in zip(spark["fields"], paths, strict=True)])


def check_declared(spark: SparkType, declared: TypeInformation[Any], column: str) -> None:
    """Refuse a declared type that the values of a column are not.

    Args:
        spark: type of the column.
        declared: what the program says of its values.
        column: its path, for the error.

    Raises:
        TypeInfoError: they are something else.
    """
    if not _fits(spark, declared, column):
        raise TypeInfoError(
            f"from_spark() was given the type {declared} for the column {column!r}, whose type in Spark is "
            f"{shown(spark)}. Leave type_info out, declare {type_of(spark, column)}, or convert the column in Spark: "
            f"cast({shown(_column(declared)) if _has_column(declared) else '…'!r})."
        )


def _fits(spark: SparkType, declared: TypeInformation[Any], column: str) -> bool:
    name = name_of(spark)
    if isinstance(declared, PickledBytesTypeInfo):
        return True
    if name == "array" and isinstance(declared, ListTypeInfo | ArrayTypeInfo):
        assert not isinstance(spark, str)
        check_declared(spark["elementType"], declared.element_type, f"{column}[]")
        return True
    if name == "map" and isinstance(declared, MapTypeInfo):
        assert not isinstance(spark, str)
        check_declared(spark["keyType"], declared.key_type, f"{column}.key")
        check_declared(spark["valueType"], declared.value_type, f"{column}.value")
        return True
    if name == "struct" and isinstance(declared, RowTypeInfo | TupleTypeInfo):
        assert not isinstance(spark, str)
        check_fields(spark["fields"], declared, column)
        return True
    if not isinstance(spark, str) or not _has_column(declared) or declared == Types.CHAR():
        return False
    wanted = _column(declared)
    if name == "decimal" and declared == Types.BIG_INT():
        return digits(spark)[1] == 0
    return name == name_of(wanted) or name in _WIDER.get(str(wanted), []) or type_of(spark) == declared


def check_fields(fields: list[Mapping[str, Any]], declared: RowTypeInfo | TupleTypeInfo, column: str = "") -> None:
    """:func:`check_declared` for each field of a row or tuple, which takes them in order.

    Raises:
        TypeInfoError: there are more or fewer, or one is something else.
    """
    if len(fields) != len(declared.field_types):
        raise TypeInfoError(
            f"from_spark() was given the type {declared} of {len(declared.field_types)} fields for "
            f"{f'the column {column!r}' if column else 'a DataFrame'} of {len(fields)}: "
            f"{[field['name'] for field in fields]}. Declare one type for each, or select() the ones you want."
        )
    for field, each in zip(fields, declared.field_types, strict=True):
        check_declared(field["type"], each, f"{column}.{field['name']}" if column else field["name"])


def _has_column(declared: TypeInformation[Any]) -> bool:
    try:
        _column(declared)
    except TypeInfoError:
        return False
    return True


def schema_of(declared: TypeInformation[Any] | None) -> Mapping[str, Any] | None:
    """The schema of a DataFrame of records: a column per field of a row or tuple, one named ``value`` for all others.

    Args:
        declared: type of the records, None for undeclared.

    Returns:
        None if the records, or a field of theirs, may be anything.
    """
    if isinstance(declared, RowTypeInfo | TupleTypeInfo):
        fields = list(zip(declared.field_names, declared.field_types, strict=True))
    else:
        fields = [] if declared is None else [(VALUE, declared)]
    try:
        return _struct(fields) if fields else None
    except TypeInfoError:
        return None


def undeclared(declared: TypeInformation[Any] | None) -> str:
    """Which declaration is missing where :func:`schema_of` gives none."""
    if not isinstance(declared, RowTypeInfo | TupleTypeInfo):
        return "the type of the stream's records is not declared"
    fields = zip(declared.field_names, declared.field_types, strict=True)
    names = [name for name, each in fields if not _has_column(each)]
    return f"the type of the fields {names} of {declared} is not declared" if names else "the records have no fields"


def _struct(fields: list[tuple[str, TypeInformation[Any]]]) -> Mapping[str, Any]:
    columns = [{"name": n, "type": _column(each), "nullable": True, "metadata": {}} for n, each in fields]
    return {"type": "struct", "fields": columns}


def _column(declared: TypeInformation[Any]) -> SparkType:
    """The type of a column of such values."""
    if isinstance(declared, BasicTypeInfo):
        return _COLUMNS[declared.basic_type]
    if isinstance(declared, SqlTimeTypeInfo):
        return _COLUMNS[declared.sql_type]
    if isinstance(declared, ArrayTypeInfo) and declared == _TYPES["binary"]:
        return "binary"
    if isinstance(declared, ListTypeInfo | ArrayTypeInfo):
        return {"type": "array", "elementType": _column(declared.element_type), "containsNull": True}
    if isinstance(declared, MapTypeInfo):
        key, value = _column(declared.key_type), _column(declared.value_type)
        return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
    if isinstance(declared, RowTypeInfo | TupleTypeInfo):
        return _struct(list(zip(declared.field_names, declared.field_types, strict=True)))
    raise TypeInfoError(f"{declared} may be anything")


def nullable(spark: SparkType) -> SparkType:
    """A type whose values and parts may all be null: what a task makes is not looked at for nulls."""
    if isinstance(spark, str):
        return spark
    name = name_of(spark)
    if name == "array":
        return {**spark, "elementType": nullable(spark["elementType"]), "containsNull": True}
    if name == "map":
        key, value = nullable(spark["keyType"]), nullable(spark["valueType"])
        return {**spark, "keyType": key, "valueType": value, "valueContainsNull": True}
    if name == "struct":
        fields = [{**field, "type": nullable(field["type"]), "nullable": True} for field in spark["fields"]]
        return {**spark, "fields": fields}
    return spark
