"""The schemas for rows in Avro, with PyFlink's names (``pyflink.datastream.formats.avro``), by fastavro, which is
loaded when a schema is made: ``pip install 'penstock[avro]'``. Sources of the semantics: Flink 2.3
``AvroSchemaConverter``, ``AvroRowDeserializationSchema``, ``AvroRowSerializationSchema``. Records are rows, arrays
object arrays, a union with null is its other type; of logical types dates, times, timestamps and decimals are known."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from functools import cached_property
from typing import Any, cast

from penstock.common import checks
from penstock.common.extras import fastavro
from penstock.common.row import Row
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import RowTypeInfo, TypeInformation, Types
from penstock.common.typesystem.conversions import Convert, optional, same
from penstock.connectors.schemas.base import first_fields_of, unreadable, unwritable
from penstock.errors import UnsupportedError
from penstock.runtime.buffers.borders import float32
from penstock.runtime.columns.layouts import Layout, NoForm, record
from penstock.runtime.columns.layouts import scalar as scalar_form
from penstock.runtime.columns.parts import Unfit, elements, entries, fields

__all__ = ["AvroRowDeserializationSchema", "AvroRowSerializationSchema"]


class _AvroRows:
    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        call = type(self).__name__
        if record_class is not None:
            raise UnsupportedError(
                f"{call}(record_class={record_class!r}): a class of Java has no schema here. Give "
                "avro_schema_string=…, the schema in JSON."
            )
        self.avro_schema_string: str = checks.text(avro_schema_string, call, "avro_schema_string")
        try:
            type_info, _ = self._form.type_info, self._parsed
        except (ValueError, KeyError, TypeError, fastavro().schema.SchemaParseException) as error:
            checks.illegal_argument(f"{call}(): it is not an Avro schema: {type(error).__name__}: {error}.")
        if not isinstance(type_info, RowTypeInfo):
            checks.illegal_argument(f"{call}(): the schema is that of {type_info!r}, and a record's is needed.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(avro_schema_string={self.avro_schema_string!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {"avro_schema_string": self.avro_schema_string}

    @cached_property
    def _form(self) -> _AvroForm:
        return _AvroForm(json.loads(self.avro_schema_string))

    @cached_property
    def _parsed(self) -> Any:
        return fastavro().parse_schema(self._form.schema)


class AvroRowDeserializationSchema(_AvroRows, DeserializationSchema[Row]):
    """Rows out of records of Avro, without a header, by a schema in JSON (Flink: ``AvroRowDeserializationSchema``).
    ``record_class`` is refused (UnsupportedError), as is a schema not of a record (InvalidProgramError)."""

    @cached_property
    def _convert(self) -> Convert:
        return self._form.converter(_scalar_in, _record_in)

    @property
    def reading(self) -> Layout:
        """How native code reads the messages; raises NoForm if it does not."""
        return {"format": "avro", **self._form.native_row(self._form.schema)}

    def deserialize(self, message: bytes, /) -> Row:
        """The row of a record; SerializationError if it is not one of the schema. O(the message)."""
        try:
            return self._convert(fastavro().schemaless_reader(io.BytesIO(message), self._parsed, None))
        except Exception as failure:
            unreadable(self, message, failure, "Correct the schema: Avro's messages say nothing of theirs.")

    def get_produced_type(self) -> TypeInformation[Any]:
        return self._form.type_info


class AvroRowSerializationSchema(_AvroRows, SerializationSchema[Any]):
    """Rows as records of Avro, without a header, by a schema in JSON (Flink: ``AvroRowSerializationSchema``). Dicts are
    taken by name, others by position. A decimal has the digits of the schema; Flink writes another number if it has
    fewer."""

    @cached_property
    def _convert(self) -> Convert:
        return self._form.converter(_scalar_out, _record_out)

    @property
    def layout(self) -> Layout:
        """How native code writes the rows; raises NoForm if it does not."""
        return self._form.native_form(self._form.schema)

    def serialize(self, element: Any, /) -> bytes:
        """The record of a row; SerializationError if it does not fit the schema. O(the row)."""
        buffer = io.BytesIO()
        try:
            fastavro().schemaless_writer(buffer, self._parsed, self._convert(element))
        except Exception as failure:
            unwritable(self, element, failure, "Make sure that the schema is that of the records.")
        return buffer.getvalue()


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


_NATIVE_KINDS = {"int": "int", "long": "int", "double": "double", "boolean": "bool", "string": "text"}
_READ_KINDS = {**_NATIVE_KINDS, "float": "single", "bytes": "bytes"}
_NATIVE_BITS = {"int": 32, "long": 64}


class _AvroForm:
    """A parsed schema, with the types behind its names; ValueError if it contains itself, which no type can express."""

    def __init__(self, schema: Any) -> None:
        self.named: dict[str, Any] = {}
        self.schema = self._known(schema)
        self.type_info = self._type(self.schema)

    def _known(self, schema: Any) -> Any:
        """The schema without logical types that Flink does not know."""
        if isinstance(schema, list):
            return [self._known(part) for part in cast("list[Any]", schema)]
        if not isinstance(schema, dict):
            return schema
        known = dict(cast("dict[str, Any]", schema))
        if known.get("logicalType") not in _LOGICAL:
            known.pop("logicalType", None)
        self.named.setdefault(str(known.get("name", "")), known)
        for part in ("type", "items", "values", "fields"):
            if isinstance(known.get(part), dict | list):
                known[part] = self._known(known[part])
        return known

    def _resolved(self, schema: Any) -> Any:
        """A schema whose type is a word."""
        if isinstance(schema, str):
            return self.named[schema] if schema in self.named and schema not in _PLAIN else {"type": schema}
        if isinstance(schema, dict) and isinstance(schema["type"], dict | list):
            return self._resolved(schema["type"])
        return schema

    def _single(self, schema: list[Any]) -> Any:
        """The one type of a union beside null; None if there are several."""
        others = [branch for branch in schema if branch != "null"]
        return others[0] if len(others) == 1 and len(schema) <= 2 else None

    def _type(self, schema: Any, depth: int = 0) -> TypeInformation[Any]:
        if depth > 100:
            raise ValueError("it contains itself, or is nested more than 100 deep")
        resolved = self._resolved(schema)
        if isinstance(resolved, list):
            single = self._single(cast("list[Any]", resolved))
            return Types.PICKLED_BYTE_ARRAY() if single is None else self._type(single, depth + 1)
        kind = resolved["type"]
        if kind == "record":
            names = [field["name"] for field in resolved["fields"]]
            return Types.ROW_NAMED(names, [self._type(field["type"], depth + 1) for field in resolved["fields"]])
        if kind == "array":
            return Types.OBJECT_ARRAY(self._type(resolved["items"], depth + 1))
        if kind == "map":
            return Types.MAP(Types.STRING(), self._type(resolved["values"], depth + 1))
        return _LOGICAL.get(resolved.get("logicalType"), _PLAIN.get(kind) or Types.PICKLED_BYTE_ARRAY())

    def native_row(self, schema: Any) -> Layout:
        """How native code reads a record."""
        fields = self._resolved(schema)["fields"]
        return {
            "names": [field["name"] for field in fields],
            "fields": [self._native_field(field["type"]) for field in fields],
        }

    def _native_field(self, schema: Any) -> Layout:
        kind, null, resolved = self._native_kind(schema)
        if kind == "record":
            return {"as": "row", "null": null, **self.native_row(resolved)}
        if kind == "array":
            return {"as": "list", "null": null, "item": self._native_field(resolved["items"])}
        return {"as": _READ_KINDS[kind], "null": null, "bits": _NATIVE_BITS.get(kind)}

    def _native_kind(self, schema: Any) -> tuple[str, int | None, Any]:
        """The kind of a field, of a union of it with null the branch of that, and its schema."""
        resolved, null = self._resolved(schema), None
        if isinstance(resolved, list):
            branches = cast("list[Any]", resolved)
            single = self._single(branches)
            if single is None or len(branches) != 2:
                raise NoForm
            null, resolved = branches.index("null"), self._resolved(single)
        kind = resolved["type"] if isinstance(resolved, dict) and "logicalType" not in resolved else ""
        if kind not in ("record", "array") and kind not in _READ_KINDS:
            raise NoForm
        return kind, null, resolved

    def native_form(self, schema: Any) -> Layout:
        """How native code writes a value."""
        kind, null, resolved = self._native_kind(schema)
        if kind == "record":
            parts = resolved["fields"]
            names = [field["name"] for field in parts]
            form = record(("", "", ""), [self.native_form(field["type"]) for field in parts], names=names)
        elif kind == "array":
            form = {"as": "avro_list", "item": self.native_form(resolved["items"])}
        elif kind not in _NATIVE_KINDS:
            raise NoForm
        else:
            form = scalar_form(f"avro_{_NATIVE_KINDS[kind]}", bits=_NATIVE_BITS.get(kind))
        return form if null is None else {**form, "before": chr(2 * (1 - null)), "none": chr(2 * null)}

    def converter(
        self, scalar: Callable[[dict[str, Any]], Convert], record: Callable[..., Convert], schema: Any = None
    ) -> Convert:
        """The conversion of records: of scalars by ``scalar``, of records by ``record`` of names and conversions."""
        resolved = self._resolved(self.schema if schema is None else schema)
        if isinstance(resolved, list):
            single = self._single(cast("list[Any]", resolved))
            return same if single is None else optional(self.converter(scalar, record, single))
        kind = resolved["type"]
        if kind == "record":
            names = tuple(field["name"] for field in resolved["fields"])
            return record(names, [self.converter(scalar, record, field["type"]) for field in resolved["fields"]])
        if kind == "array":
            return elements(self.converter(scalar, record, resolved["items"]))
        if kind == "map":
            return entries(str, self.converter(scalar, record, resolved["values"]))
        return scalar(resolved)


def _scalar_in(schema: dict[str, Any]) -> Convert:
    """A value that fastavro has read, as ours: timestamps without zone, floats of 32 bits."""
    if str(schema.get("logicalType", "")).startswith("timestamp-"):
        return lambda value: value.replace(tzinfo=None)
    return float32 if schema["type"] == "float" else same


def _record_in(names: tuple[str, ...], converts: list[Convert]) -> Convert:
    convert = fields(names, converts)
    return lambda record: Row.of_values(convert(map(record.__getitem__, names)), names)


def _scalar_out(schema: dict[str, Any]) -> Convert:
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


def _record_out(names: tuple[str, ...], converts: list[Convert]) -> Convert:
    convert = fields(names, converts)
    return lambda record: dict(zip(names, convert(first_fields_of(record, names)), strict=True))
