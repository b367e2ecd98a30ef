"""Avro schemas as types of columns, for Parquet files whose records are those of an Avro schema.

Source of the semantics: ``AvroSchemaConverter`` of parquet-avro.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from penstock.common import column_types as ct
from penstock.errors import UnsupportedError

_PRIMITIVES: dict[str, ct.DataType] = {
    "boolean": ct.BooleanType(nullable=False),
    "int": ct.IntType(nullable=False),
    "long": ct.BigIntType(nullable=False),
    "float": ct.FloatType(nullable=False),
    "double": ct.DoubleType(nullable=False),
    "string": ct.VarCharType(nullable=False),
    "enum": ct.VarCharType(nullable=False),
    "bytes": ct.VarBinaryType(nullable=False),
    "fixed": ct.VarBinaryType(nullable=False),
}
_LOGICAL: dict[str, ct.DataType] = {
    "date": ct.DateType(nullable=False),
    "time-millis": ct.TimeType(3, nullable=False),
    "time-micros": ct.TimeType(6, nullable=False),
    "timestamp-millis": ct.LocalZonedTimestampType(3, zoned=True, nullable=False),
    "timestamp-micros": ct.LocalZonedTimestampType(6, zoned=True, nullable=False),
    "local-timestamp-millis": ct.TimestampType(3, nullable=False),
    "local-timestamp-micros": ct.TimestampType(6, nullable=False),
}


def row_type_of_avro(text: str) -> ct.RowType:
    """The columns of the records, which are dicts, of a valid Avro schema.

    Raises:
        UnsupportedError: a type that no column has.
    """
    return cast("ct.RowType", _type(json.loads(text), {}))


def _type(schema: Any, named: dict[str, ct.DataType]) -> ct.DataType:
    if isinstance(schema, list):
        return _union(cast("list[Any]", schema), named)
    if isinstance(schema, str):
        return _PRIMITIVES[schema] if schema in _PRIMITIVES else _named(schema, named)
    kind = schema["type"]
    if isinstance(kind, dict | list):
        return _type(kind, named)
    if schema.get("logicalType") == "decimal":
        return ct.DecimalType(schema["precision"], schema.get("scale", 0), nullable=False)
    if schema.get("logicalType") in _LOGICAL:
        return _LOGICAL[schema["logicalType"]]
    if kind in ("record", "error"):
        return _record(schema, named)
    if kind == "array":
        return ct.ArrayType(_type(schema["items"], named), nullable=False)
    if kind == "map":
        return ct.MapType(_PRIMITIVES["string"], _type(schema["values"], named), nullable=False)
    if kind in ("enum", "fixed"):
        named[schema["name"].rpartition(".")[2]] = _PRIMITIVES[kind]
    return _PRIMITIVES[kind] if kind in _PRIMITIVES else _named(kind, named)


def _named(name: str, named: Mapping[str, ct.DataType]) -> ct.DataType:
    short = name.rpartition(".")[2]
    if short in named:
        return named[short]
    raise UnsupportedError(
        f"The Avro type {name!r} stands inside itself, and a Parquet file has no such columns. Use Avro files: "
        "AvroBulkWriters, AvroReaderFormat."
    )


def _union(branches: list[Any], named: dict[str, ct.DataType]) -> ct.DataType:
    others = [branch for branch in branches if branch != "null"]
    if len(others) != 1:
        raise UnsupportedError(
            f"The Avro union {branches} has not one type beside null, and a Parquet file has no such column. Use Avro "
            "files: AvroBulkWriters, AvroReaderFormat."
        )
    found = _type(others[0], named)
    return found if len(others) == len(branches) else type(found)(**{**vars(found), "nullable": True})


def _record(schema: Mapping[str, Any], named: dict[str, ct.DataType]) -> ct.DataType:
    fields = tuple(ct.RowField(each["name"], _type(each["type"], named)) for each in schema["fields"])
    found = ct.RowType(fields, form="dict", nullable=False)
    named[schema["name"].rpartition(".")[2]] = found
    return found
