"""The schemas for rows in JSON, with PyFlink's names and builders (``pyflink.datastream.formats.json``)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from penstock.common import checks
from penstock.common.row import Row
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.common.typesystem.conversions import Convert
from penstock.connectors.schemas.base import TypedRows, row_type, unreadable, unwritable
from penstock.connectors.schemas.json_texts import writer
from penstock.connectors.schemas.json_types import type_of_schema
from penstock.connectors.schemas.json_values import has_decimals, parser, reader

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]

_READING = (
    "Correct what writes the messages or the type, or call ignore_parse_errors() on the builder: then what cannot be "
    "read is None."
)


class JsonRowDeserializationSchema(TypedRows, DeserializationSchema[Row | None]):
    """Rows out of JSON objects (Flink: ``JsonRowDeserializationSchema``). Made by :meth:`builder`.

    Args:
        type_info: the rows; a field is found by its name.
        fail_on_missing_field: whether a field that is not there is an error; else it is None.
        ignore_parse_errors: whether what cannot be read is None: a field, or the whole row if the message is not JSON.
    """

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
    def _parse(self) -> Convert:
        return parser(has_decimals(self.type_info))

    @cached_property
    def _read(self) -> Convert:
        return reader(self.type_info, "", self.fail_on_missing_field, self.ignore_parse_errors)

    def deserialize(self, message: bytes, /) -> Row | None:
        """The row of a JSON object; what follows the object is not looked at. O(the message).

        Returns:
            None for ``null``, and for anything but a JSON object if parse errors are ignored.

        Raises:
            SerializationError: it is not a JSON object, or a field does not fit its type.
        """
        try:
            return self._read(self._parse(message))
        except (ValueError, RecursionError) as failure:
            if self.ignore_parse_errors:
                return None
            unreadable(self, message, failure, _READING)

    def get_produced_type(self) -> TypeInformation[Any]:
        """The type of the rows."""
        return self.type_info

    class Builder:
        """Settings of a :class:`JsonRowDeserializationSchema`. Methods change it and return it."""

        def __init__(self) -> None:
            self._type_info: RowTypeInfo | None = None
            self._fail_on_missing_field = self._ignore_parse_errors = False

        def type_info(self, type_info: TypeInformation[Any]) -> JsonRowDeserializationSchema.Builder:
            """What the rows are.

            Args:
                type_info: such as ``Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])``.
            """
            self._type_info = row_type(type_info, "JsonRowDeserializationSchema.Builder.type_info")
            return self

        def json_schema(self, json_schema: str) -> JsonRowDeserializationSchema.Builder:
            """What the rows are, by a JSON schema: numbers are BIG_DEC, objects and tuples rows.

            Args:
                json_schema: a text; drafts up to 7, without unions but those with null.

            Raises:
                InvalidProgramError: it is none, or has what no type is there for.
            """
            call = "JsonRowDeserializationSchema.Builder.json_schema"
            self._type_info = row_type(type_of_schema(json_schema, call), call)
            return self

        def fail_on_missing_field(self) -> JsonRowDeserializationSchema.Builder:
            """A field that is not there is an error. Otherwise it is None."""
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self) -> JsonRowDeserializationSchema.Builder:
            """What cannot be read is None, a field or the whole row. Otherwise it is an error."""
            self._ignore_parse_errors = True
            return self

        def build(self) -> JsonRowDeserializationSchema:
            """The schema.

            Raises:
                InvalidProgramError: there is no type, or both ways with errors were asked for.
            """
            if self._type_info is None:
                checks.refuse("JsonRowDeserializationSchema has no type yet. Call type_info(…) before build().")
            if self._fail_on_missing_field and self._ignore_parse_errors:
                checks.illegal_argument(
                    "JsonRowDeserializationSchema was told both fail_on_missing_field() and ignore_parse_errors(). "
                    "Leave one out."
                )
            return JsonRowDeserializationSchema(self._type_info, self._fail_on_missing_field, self._ignore_parse_errors)


class JsonRowSerializationSchema(TypedRows, SerializationSchema[Any]):
    """Rows as JSON objects (Flink: ``JsonRowSerializationSchema``). Made by :meth:`builder`.

    Args:
        type_info: the rows; dicts are taken by name, tuples and lists by position.
    """

    def __init__(self, type_info: RowTypeInfo) -> None:
        self.type_info: RowTypeInfo = type_info
        _ = self._write

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        """Settings of a schema before it is made."""
        return JsonRowSerializationSchema.Builder()

    @cached_property
    def _write(self) -> Convert:
        return writer(self.type_info, "")

    def serialize(self, element: Any, /) -> bytes:
        """The JSON object of a row, in UTF-8. O(the row).

        Raises:
            SerializationError: the record does not fit the type.
        """
        try:
            return self._write(element).encode()
        except (ValueError, RecursionError) as failure:
            unwritable(self, element, failure, "Make sure that the type of the schema is that of the records.")

    class Builder:
        """Settings of a :class:`JsonRowSerializationSchema`. Methods change it and return it."""

        def __init__(self) -> None:
            self._type_info: RowTypeInfo | None = None

        def with_type_info(self, type_info: TypeInformation[Any]) -> JsonRowSerializationSchema.Builder:
            """What the rows are.

            Args:
                type_info: such as ``Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])``.
            """
            self._type_info = row_type(type_info, "JsonRowSerializationSchema.Builder.with_type_info")
            return self

        def build(self) -> JsonRowSerializationSchema:
            """The schema.

            Raises:
                InvalidProgramError: there is no type.
            """
            if self._type_info is None:
                checks.refuse("JsonRowSerializationSchema has no type yet. Call with_type_info(…) before build().")
            return JsonRowSerializationSchema(self._type_info)
