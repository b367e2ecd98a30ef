"""The schemas of messages that native code reads and writes in their place."""

from __future__ import annotations

import codecs
from types import ModuleType
from typing import Any

from penstock.common.serialization import ByteArraySchema, SimpleStringSchema
from penstock.connectors.schemas.avro_rows import AvroRowDeserializationSchema, AvroRowSerializationSchema
from penstock.connectors.schemas.json_rows import JsonRowDeserializationSchema, JsonRowSerializationSchema
from penstock.runtime.columns.layouts import (
    Layout,
    NoForm,
    compiled,
    compiled_reading,
    layout_or_none,
    scalar,
)


def reading_of(functions: ModuleType, schema: Any, wanted: bool) -> Any:
    """Native code that reads what a schema reads; None if there is none. Texts and bytes are quicker as objects, unless
    columns are ``wanted``."""
    return compiled_reading(functions, layout_or_none(lambda: _reading(schema, wanted)))


def _reading(schema: Any, wanted: bool) -> Layout:
    if type(schema) in (JsonRowDeserializationSchema, AvroRowDeserializationSchema):
        return schema.reading
    if wanted and type(schema) is SimpleStringSchema and _is_utf8(schema):
        return {"format": "text"}
    if wanted and type(schema) is ByteArraySchema:
        return {"format": "bytes"}
    raise NoForm


def layout_of(functions: ModuleType, schema: Any) -> Any:
    """Native code that writes what a schema writes; None if there is none."""
    return compiled(functions, layout_or_none(lambda: _layout(schema)))


def _layout(schema: Any) -> Layout:
    if type(schema) in (JsonRowSerializationSchema, AvroRowSerializationSchema):
        return schema.layout
    if type(schema) is SimpleStringSchema and _is_utf8(schema):
        return scalar("plain")
    if type(schema) is ByteArraySchema:
        return scalar("bytes")
    raise NoForm


def _is_utf8(schema: SimpleStringSchema) -> bool:
    return codecs.lookup(schema.charset).name == "utf-8"
