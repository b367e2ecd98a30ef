"""The types of an Avro schema, and the conversion of values to and from fastavro.

Sources of the semantics: Flink 2.3 ``AvroSchemaConverter``, ``AvroRowDeserializationSchema``,
``AvroRowSerializationSchema``. Records are rows, arrays object arrays, a union with null is its other type; of logical
types dates, times, timestamps and decimals are known.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, cast

from penstock.common.row import Row
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.typesystem.conversions import Convert, optional, same
from penstock.connectors.java_texts import Unfit
from penstock.connectors.schemas.json_texts import first_fields_of
from penstock.runtime.buffers.borders import float32

_LOGICAL: dict[str, TypeInformation[Any]] = {
    "date": Types.SQL_DATE(),
    "time-millis": Types.SQL_TIME(),
    "time-micros": Types.SQL_TIME(),
    "timestamp-millis": Types.SQL_TIMESTAMP(),
    "timestamp-micros": Types.SQL_TIMESTAMP(),
    "decimal": Types.BIG_DEC(),
}
_PLAIN: dict[str, TypeInformation[Any]] = {
    "string": Types.STRING(),
    "enum": Types.STRING(),
    "int": Types.INT(),
    "long": Types.LONG(),
    "float": Types.FLOAT(),
    "double": Types.DOUBLE(),
    "boolean": Types.BOOLEAN(),
    "bytes": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "fixed": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "null": Types.PICKLED_BYTE_ARRAY(),
}


class AvroForm:
    """A parsed schema, with the types behind its names.

    Raises:
        ValueError: it contains itself, which no type can express.
    """

    def __init__(self, schema: Any) -> None:
        self.named: dict[str, Any] = {}
        self.schema = self._known(schema, ())
        self.type_info = self._type(self.schema)

    def _known(self, schema: Any, inside: tuple[str, ...]) -> Any:
        """The schema without logical types that Flink does not know, and with names resolved."""
        if isinstance(schema, list):
            return [self._known(each, inside) for each in cast("list[Any]", schema)]
        if not isinstance(schema, dict):
            return schema
        made = dict(cast("dict[str, Any]", schema))
        if made.get("logicalType") not in _LOGICAL:
            made.pop("logicalType", None)
        name = str(made.get("name", ""))
        self.named.setdefault(name, made)
        for part in ("type", "items", "values"):
            if isinstance(made.get(part), dict | list):
                made[part] = self._known(made[part], inside)
        if "fields" in made:
            made["fields"] = [self._known(field, inside) for field in made["fields"]]
        return made

    def _resolved(self, schema: Any) -> Any:
        """A schema whose type is a word."""
        if isinstance(schema, str):
            return self.named[schema] if schema in self.named and schema not in _PLAIN else {"type": schema}
        if isinstance(schema, dict) and isinstance(schema["type"], dict | list):
            return self._resolved(schema["type"])
        return schema

    def _single(self, schema: list[Any]) -> Any:
        """The one type of a union besides null; None if there are several."""
        others = [each for each in schema if each != "null"]
        return others[0] if len(others) == 1 and len(schema) <= 2 else None

    def _type(self, schema: Any, depth: int = 0) -> TypeInformation[Any]:
        if depth > 100:
            raise ValueError("it contains itself, or is nested more than 100 deep")
        found = self._resolved(schema)
        if isinstance(found, list):
            single = self._single(cast("list[Any]", found))
            return Types.PICKLED_BYTE_ARRAY() if single is None else self._type(single, depth + 1)
        kind = found["type"]
        if kind == "record":
            names = [field["name"] for field in found["fields"]]
            return Types.ROW_NAMED(names, [self._type(field["type"], depth + 1) for field in found["fields"]])
        if kind == "array":
            return Types.OBJECT_ARRAY(self._type(found["items"], depth + 1))
        if kind == "map":
            return Types.MAP(Types.STRING(), self._type(found["values"], depth + 1))
        return _LOGICAL.get(found.get("logicalType"), _PLAIN.get(kind) or Types.PICKLED_BYTE_ARRAY())

    def converter(self, scalar: Callable[[dict[str, Any]], Convert], record: Callable[..., Convert]) -> Convert:
        """The conversion of records: of scalars by ``scalar``, of records by ``record`` of names and conversions."""
        return self._converter(self.schema, scalar, record)

    def _converter(self, schema: Any, scalar: Callable[[Any], Convert], record: Callable[..., Convert]) -> Convert:
        found = self._resolved(schema)
        if isinstance(found, list):
            single = self._single(cast("list[Any]", found))
            return same if single is None else optional(self._converter(single, scalar, record))
        kind = found["type"]
        if kind == "record":
            fields = found["fields"]
            ways = [self._converter(field["type"], scalar, record) for field in fields]
            return record(tuple(field["name"] for field in fields), ways)
        if kind == "array":
            return _each(self._converter(found["items"], scalar, record))
        if kind == "map":
            return _values(self._converter(found["values"], scalar, record))
        return scalar(found)


def _each(convert: Convert) -> Convert:
    def way(values: Any) -> Any:
        if not isinstance(values, list | tuple):
            raise Unfit(values, "is not a list")
        return [convert(value) for value in cast("list[Any]", values)]

    return way


def _values(convert: Convert) -> Convert:
    def way(values: Any) -> Any:
        if not isinstance(values, dict):
            raise Unfit(values, "is not a dict")
        return {str(name): convert(value) for name, value in cast("dict[Any, Any]", values).items()}

    return way


def scalar_in(schema: dict[str, Any]) -> Convert:
    """What fastavro has read, as a value: timestamps without zone, floats of 32 bits."""
    if str(schema.get("logicalType", "")).startswith("timestamp-"):
        return lambda value: value.replace(tzinfo=None)
    return float32 if schema["type"] == "float" else same


def record_in(names: tuple[str, ...], ways: list[Convert]) -> Convert:
    """A record as a row."""
    return lambda record: Row.of_values([way(record[name]) for name, way in zip(names, ways, strict=True)], names)


def scalar_out(schema: dict[str, Any]) -> Convert:
    """A value as fastavro writes it: timestamps in UTC, decimals with the digits of the schema."""
    logical = str(schema.get("logicalType", ""))
    if logical.startswith("timestamp-"):
        return lambda value: value.replace(tzinfo=timezone.utc) if isinstance(value, datetime) else value
    if logical == "decimal":
        return lambda value: _scaled(value, int(schema.get("scale", 0)))
    return optional(str) if schema["type"] == "string" else same


def _scaled(value: Any, scale: int) -> Any:
    if not isinstance(value, Decimal):
        raise Unfit(value, "is not a Decimal")
    exact = value.quantize(Decimal(1).scaleb(-scale))
    if exact != value:
        raise Unfit(value, f"has more than {scale} digits behind the point")
    return exact


def record_out(names: tuple[str, ...], ways: list[Convert]) -> Convert:
    """A row as a record."""

    def way(record: Any) -> dict[str, Any]:
        name, found = "", {}
        try:
            for name, convert, value in zip(names, ways, first_fields_of(record, names), strict=True):
                found[name] = convert(value)
        except Unfit as failure:
            raise failure.inside(f".{name}") from None
        return found

    return way
