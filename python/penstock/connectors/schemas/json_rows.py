"""The schemas for rows in JSON, with PyFlink's names and builders (``pyflink.datastream.formats.json``). Sources of the
semantics: Flink 2.3 ``JsonRowDeserializationSchema``, ``JsonRowSerializationSchema``."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from penstock.common import checks
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    ListTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SqlTimeType,
    TypeInformation,
    Types,
)
from penstock.common.typesystem.conversions import Convert
from penstock.connectors.schemas.base import RowReader, RowWriter, row_type
from penstock.connectors.schemas.json_types import type_of_schema
from penstock.connectors.schemas.json_values import decoder, quoted, reader, value_writer
from penstock.runtime.buffers.value_checks import BITS, Kind, kind_of
from penstock.runtime.columns.layouts import Layout, NoForm, items, record, scalar, whole

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]


class JsonRowDeserializationSchema(RowReader):
    """Rows out of JSON objects (Flink: ``JsonRowDeserializationSchema``). Made by :meth:`builder`."""

    advice = (
        "Correct what writes the messages or the type, or call ignore_parse_errors() on the builder: then what cannot "
        "be read is None."
    )

    def __init__(self, type_info: RowTypeInfo, fail_on_missing_field: bool, ignore_parse_errors: bool) -> None:
        self.type_info: RowTypeInfo = type_info
        self.fail_on_missing_field: bool = fail_on_missing_field
        self.ignore_parse_errors: bool = ignore_parse_errors
        _ = self._read  # refuses a type without a form in JSON now, and not in a task

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        """Settings of a schema before it is made."""
        return JsonRowDeserializationSchema.Builder()

    @cached_property
    def _read(self) -> Convert:
        """Reads the beginning of a message."""
        decode = decoder(self.type_info)
        convert = reader(self.type_info, "", self.fail_on_missing_field, self.ignore_parse_errors)

        def read(message: bytes) -> Any:
            node = decode(message.decode(json.detect_encoding(message)).lstrip(" \t\r\n"))[0]
            return None if node is None else convert(node)

        return read

    @property
    def reading(self) -> Layout:
        """How native code reads the messages; raises NoForm if it does not."""
        return {"format": "json", "strict": self.fail_on_missing_field, **_native_row(self.type_info)}

    class Builder:
        """Settings of a :class:`JsonRowDeserializationSchema`. Methods change it and return it."""

        def __init__(self) -> None:
            self._type_info: RowTypeInfo | None = None
            self._fail_on_missing_field = self._ignore_parse_errors = False

        def type_info(self, type_info: TypeInformation[Any]) -> JsonRowDeserializationSchema.Builder:
            """The type of the rows, such as ``Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])``."""
            self._type_info = row_type(type_info, "JsonRowDeserializationSchema.Builder.type_info")
            return self

        def json_schema(self, json_schema: str) -> JsonRowDeserializationSchema.Builder:
            """The type of the rows, by the text of a JSON schema: drafts up to 7, without unions but those with null.
            Numbers are BIG_DEC, objects and tuples rows. InvalidProgramError if it has what no type is there for."""
            call = "JsonRowDeserializationSchema.Builder.json_schema"
            self._type_info = row_type(type_of_schema(json_schema, call), call)
            return self

        def fail_on_missing_field(self) -> JsonRowDeserializationSchema.Builder:
            """A field that is not there is an error. Otherwise it is None."""
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self) -> JsonRowDeserializationSchema.Builder:
            """A value that cannot be read is None, a field or the whole row. Otherwise it is an error."""
            self._ignore_parse_errors = True
            return self

        def build(self) -> JsonRowDeserializationSchema:
            """The schema; InvalidProgramError if there is no type, or both ways with errors were asked for."""
            if self._type_info is None:
                checks.refuse("JsonRowDeserializationSchema has no type yet. Call type_info(…) before build().")
            if self._fail_on_missing_field and self._ignore_parse_errors:
                checks.illegal_argument(
                    "JsonRowDeserializationSchema has both fail_on_missing_field() and ignore_parse_errors(). "
                    "Leave one out."
                )
            return JsonRowDeserializationSchema(self._type_info, self._fail_on_missing_field, self._ignore_parse_errors)


class JsonRowSerializationSchema(RowWriter):
    """Rows as JSON objects (Flink: ``JsonRowSerializationSchema``), dicts by name, tuples and lists by position. Made
    by :meth:`builder`."""

    def __init__(self, type_info: RowTypeInfo) -> None:
        self.type_info: RowTypeInfo = type_info
        _ = self._write

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        """Settings of a schema before it is made."""
        return JsonRowSerializationSchema.Builder()

    @cached_property
    def _write(self) -> Convert:
        write = value_writer(self.type_info, "")
        return lambda record: "null" if record is None else write(record)

    @property
    def layout(self) -> Layout:
        """How native code writes the rows; raises NoForm if it does not."""
        return _native_form(self.type_info)

    class Builder:
        """Settings of a :class:`JsonRowSerializationSchema`. Methods change it and return it."""

        def __init__(self) -> None:
            self._type_info: RowTypeInfo | None = None

        def with_type_info(self, type_info: TypeInformation[Any]) -> JsonRowSerializationSchema.Builder:
            """The type of the rows, such as ``Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])``."""
            self._type_info = row_type(type_info, "JsonRowSerializationSchema.Builder.with_type_info")
            return self

        def build(self) -> JsonRowSerializationSchema:
            """The schema; InvalidProgramError if there is no type."""
            if self._type_info is None:
                checks.refuse("JsonRowSerializationSchema has no type yet. Call with_type_info(…) before build().")
            return JsonRowSerializationSchema(self._type_info)


def _native_row(type_info: RowTypeInfo) -> Layout:
    """How native code reads an object."""
    return {"names": list(type_info.field_names), "fields": list(map(_native_field, type_info.field_types))}


def _native_field(type_info: TypeInformation[Any]) -> Layout:
    if isinstance(type_info, RowTypeInfo):
        return {"as": "row", **_native_row(type_info)}
    if isinstance(type_info, ListTypeInfo | ArrayTypeInfo):
        primitive = isinstance(type_info, PrimitiveArrayTypeInfo)  # of null Python makes 0
        return {"as": "list", "item": {**_native_field(_element_of(type_info)), "needed": primitive}}
    kind = kind_of(type_info)
    if kind in BITS:
        return {"as": "int", "bits": BITS[kind]}
    if kind is BasicType.FLOAT:
        return {"as": "single"}
    if kind in _TIMES:
        return {"as": _TIMES[kind], "utc": True}
    if kind not in _NATIVE:
        raise NoForm
    return {"as": _NATIVE[kind]}


def _element_of(type_info: ListTypeInfo[Any] | ArrayTypeInfo[Any]) -> TypeInformation[Any]:
    if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):  # bytes, in Base64
        raise NoForm
    return type_info.element_type


def _native_form(type_info: TypeInformation[Any]) -> Layout:
    """How native code writes a value."""
    if isinstance(type_info, RowTypeInfo):
        labels = [f"{quoted(name)}:" for name in type_info.field_names]
        fields = list(map(_native_form, type_info.field_types))
        return record(("{", ",", "}"), fields, labels=labels, names=type_info.field_names, none="null")
    if isinstance(type_info, ListTypeInfo | ArrayTypeInfo):
        return items(("[", ",", "]"), _native_form(_element_of(type_info)), "null")
    kind = kind_of(type_info)
    if kind in BITS:
        return whole(BITS[kind], "null")
    if kind is BasicType.STRING:
        return scalar("json", "null", upper=True, pairs=True)
    if kind in _TIMES:
        return scalar(_TIMES[kind], "null", utc=True)
    if kind not in _NATIVE:
        raise NoForm
    return scalar("bool" if kind is BasicType.BOOLEAN else "java_json", "null")


_NATIVE = {BasicType.DOUBLE: "double", BasicType.BOOLEAN: "bool", BasicType.STRING: "text"}
"""The kinds of fields, beside whole numbers, that native code reads and writes."""
_TIMES: dict[Kind | None, str] = {
    SqlTimeType.DATE: "day",
    SqlTimeType.TIMESTAMP: "time",
    SqlTimeType.TIME: "clock",
}
"""The same, of dates and times."""
