"""The schemas for rows in CSV, with PyFlink's names and builders (``pyflink.datastream.formats.csv``)."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from penstock.common import checks
from penstock.common.row import Row
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.common.typesystem.conversions import Convert
from penstock.connectors.formats.csv_lines import CsvForm
from penstock.connectors.schemas.base import TypedRows, row_type, unreadable, unwritable
from penstock.connectors.schemas.csv_values import check, reader, writer

__all__ = ["CsvRowDeserializationSchema", "CsvRowSerializationSchema"]

_READING = (
    "Correct what writes the lines or the type, or call set_ignore_parse_errors(True) on the builder: then what cannot "
    "be read is None."
)
_ENDS = ("\n", "\r", "\r\n", "")

B = TypeVar("B", bound="_Builder")


class _Builder:
    """The settings that both builders have. Methods change it and return it.

    Args:
        type_info: the rows: scalars, arrays and rows of scalars.
    """

    owner = ""

    def __init__(self, type_info: TypeInformation[Any]) -> None:
        self._type_info: RowTypeInfo = row_type(type_info, f"{self.owner}.Builder")
        check(self._type_info)
        self._form: CsvForm = CsvForm()

    def _with(self: B, **changes: Any) -> B:
        self._form = replace(self._form, **changes)
        return self

    def _call(self, method: str) -> str:
        return f"{self.owner}.Builder.{method}"

    def set_array_element_delimiter(self: B, delimiter: str) -> B:
        """What is between the elements of an array, or of a row in the row; ``;`` if it is not said.

        Args:
            delimiter: one character or more.
        """
        checks.text(delimiter, self._call("set_array_element_delimiter"), "delimiter")
        if not delimiter:
            checks.illegal_argument(f"{self._call('set_array_element_delimiter')}(''): it is empty. Give ';', say.")
        return self._with(array_separator=delimiter)

    def set_quote_character(self: B, c: str) -> B:
        """What is around fields that have delimiters in them; ``"`` if it is not said.

        Args:
            c: one character.
        """
        return self._with(quote=checks.character(c, self._call("set_quote_character"), "quotation mark"))

    def set_escape_character(self: B, c: str) -> B:
        """What stands before a character that is meant as it is; nothing if it is not said.

        Args:
            c: one character.
        """
        return self._with(escape=checks.character(c, self._call("set_escape_character"), "escape character"))


class CsvRowDeserializationSchema(TypedRows, DeserializationSchema[Row | None]):
    """Rows out of lines of CSV (Flink: ``CsvRowDeserializationSchema``). Made by its ``Builder``.

    Args:
        type_info: the rows, a field per column.
        form: how lines look.
        ignore_parse_errors: whether what cannot be read is None: a field, or the whole row.
    """

    def __init__(self, type_info: RowTypeInfo, form: CsvForm, ignore_parse_errors: bool) -> None:
        self.type_info: RowTypeInfo = type_info
        self.form: CsvForm = form
        self.ignore_parse_errors: bool = ignore_parse_errors

    @cached_property
    def _read(self) -> Convert:
        return reader(self.type_info, self.form, self.ignore_parse_errors)

    def deserialize(self, message: bytes, /) -> Row | None:
        """The row of a line; what follows the line is not looked at. O(the message).

        Returns:
            None for a message without a line, if parse errors are ignored.

        Raises:
            SerializationError: it is not a line of CSV, or a field does not fit its type.
        """
        try:
            return self._read(message.decode())
        except ValueError as failure:
            if self.ignore_parse_errors:
                return None
            unreadable(self, message, failure, _READING)

    def get_produced_type(self) -> TypeInformation[Any]:
        """The type of the rows."""
        return self.type_info

    class Builder(_Builder):
        """Settings of a :class:`CsvRowDeserializationSchema`. Methods change it and return it.

        Args:
            type_info: such as ``Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])``.
        """

        owner = "CsvRowDeserializationSchema"

        def __init__(self, type_info: TypeInformation[Any]) -> None:
            super().__init__(type_info)
            self._ignore_parse_errors: bool = False

        def set_field_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            """What is between fields; ``,`` if it is not said.

            Args:
                delimiter: one character.
            """
            return self._with(separator=checks.character(delimiter, self._call("set_field_delimiter"), "delimiter"))

        def set_allow_comments(self, allow_comments: bool) -> CsvRowDeserializationSchema.Builder:
            """Whether lines that begin with ``#``, and empty ones, are passed over."""
            return self._with(comments=checks.boolean(allow_comments, self._call("set_allow_comments"), "it"))

        def set_null_literal(self, null_literal: str) -> CsvRowDeserializationSchema.Builder:
            """What stands for None; nothing does if it is not said.

            Args:
                null_literal: a text, which may be empty.
            """
            return self._with(null=checks.text(null_literal, self._call("set_null_literal"), "literal"))

        def set_ignore_parse_errors(self, ignore_parse_errors: bool) -> CsvRowDeserializationSchema.Builder:
            """Whether what cannot be read is None, a field or the whole row; otherwise it is an error."""
            call = self._call("set_ignore_parse_errors")
            self._ignore_parse_errors = checks.boolean(ignore_parse_errors, call, "it")
            return self

        def build(self) -> CsvRowDeserializationSchema:
            """The schema."""
            return CsvRowDeserializationSchema(self._type_info, self._form, self._ignore_parse_errors)


class CsvRowSerializationSchema(TypedRows, SerializationSchema[Any]):
    """Rows as lines of CSV (Flink: ``CsvRowSerializationSchema``). Made by its ``Builder``.

    Args:
        type_info: the rows; dicts are taken by name, tuples and lists by position.
        form: how lines look.
    """

    def __init__(self, type_info: RowTypeInfo, form: CsvForm) -> None:
        self.type_info: RowTypeInfo = type_info
        self.form: CsvForm = form

    @cached_property
    def _write(self) -> Convert:
        return writer(self.type_info, self.form)

    def serialize(self, element: Any, /) -> bytes:
        """The line of a row with its end, in UTF-8. O(the row).

        Raises:
            SerializationError: the record does not fit the type.
        """
        try:
            return self._write(element).encode()
        except ValueError as failure:
            unwritable(self, element, failure, "Make sure that the type of the schema is that of the records.")

    class Builder(_Builder):
        """Settings of a :class:`CsvRowSerializationSchema`. Methods change it and return it.

        Args:
            type_info: such as ``Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])``.
        """

        owner = "CsvRowSerializationSchema"

        def set_field_delimiter(self, c: str) -> CsvRowSerializationSchema.Builder:
            """What is between fields; ``,`` if it is not said.

            Args:
                c: one character.
            """
            return self._with(separator=checks.character(c, self._call("set_field_delimiter"), "delimiter"))

        def set_line_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            r"""What is behind a line; ``\n`` if it is not said.

            Args:
                delimiter: ``\n``, ``\r``, ``\r\n``, or nothing.
            """
            call = self._call("set_line_delimiter")
            if checks.text(delimiter, call, "delimiter") not in _ENDS:
                checks.illegal_argument(f"{call}({delimiter!r}): it is one of {', '.join(map(repr, _ENDS))}.")
            return self._with(line_separator=delimiter)

        def disable_quote_character(self) -> CsvRowSerializationSchema.Builder:
            """Write fields as they are, whatever is in them."""
            return self._with(quote="")

        def set_null_literal(self, s: str) -> CsvRowSerializationSchema.Builder:
            """What stands for None; an empty field if it is not said."""
            return self._with(null=checks.text(s, self._call("set_null_literal"), "literal"))

        def build(self) -> CsvRowSerializationSchema:
            """The schema."""
            return CsvRowSerializationSchema(self._type_info, self._form)
