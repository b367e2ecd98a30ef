"""The layout of a CSV file: its columns, and the characters between them.

Sources: names and defaults of ``CsvSchema`` (PyFlink 2.3), Jackson's ``CsvDecoder`` and ``CsvEncoder``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from penstock.common import checks
from penstock.common import column_types as ct
from penstock.common.column_types import ArrayType, DataType, RowType, VarCharType, data_type_of
from penstock.common.typeinfo import TypeInformation
from penstock.errors import UnsupportedError
from penstock.runtime.columns.layouts import Layout, NoForm, scalar
from penstock.runtime.columns.parts import Unfit

_NUMBERS = (ct.TinyIntType, ct.SmallIntType, ct.IntType, ct.BigIntType, ct.FloatType, ct.DoubleType, ct.DecimalType)
ARRAY_SEPARATOR = ";"


_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_LONGEST_BARE = 24  # A longer text is put in quotes whatever its characters


@dataclass(frozen=True)
class CsvForm:
    """The characters of CSV."""

    separator: str = ","  # between columns
    quote: str = '"'  # around texts; "" for none
    escape: str = ""  # before a character that is taken as it is; "" for none
    line_separator: str = "\n"  # after each row that is written
    null: str | None = None  # the text that stands for None
    array_separator: str = ";"  # between the elements of an array
    comments: bool = False  # lines that begin with # are skipped


class CsvTokenizer:
    """Splits rows into their fields."""

    def __init__(self, form: CsvForm) -> None:
        self._separator, self._quote, self._escape = form.separator, form.quote, form.escape
        self._special = re.compile(f"[{re.escape(form.quote + form.escape)}]") if form.quote + form.escape else None
        self._ends = re.compile(f"[{re.escape(form.separator + form.escape)}\r\n]")
        self._blanks = re.compile("[ \t]*" if form.separator not in " \t" else "\t*" if form.separator == " " else " *")

    def row(self, text: str, at: int = 0, more: Callable[[], str] = str) -> list[str]:
        """The fields of the row that begins at a place of a text; ``more`` returns the next line, or ""."""
        if self._special is None or not self._special.search(text, at):
            return text[at : self._line_end(text, at)].split(self._separator)
        fields: list[str] = []
        while True:
            if self._quote and text.startswith(self._quote, at):
                field, text, at = self._quoted(text, at + 1, more)
            else:
                field, text, at = self._bare(text, at, more)
            fields.append(field)
            if not text.startswith(self._separator, at):
                return fields
            at += 1

    def _line_end(self, text: str, at: int) -> int:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        carriage = text.find("\r", at, end)
        return end if carriage < 0 else carriage

    def _bare(self, text: str, at: int, more: Callable[[], str]) -> tuple[str, str, int]:
        """A field without quotes; then the text, and the place in it behind the field."""
        parts: list[str] = []
        while True:
            match = self._ends.search(text, at)
            end = len(text) if match is None else match.start()
            parts.append(text[at:end])
            if match is None or match[0] != self._escape:
                return "".join(parts), text, end
            parts.append(self._unescaped(text, end + 1))
            at = end + 2
            if at == len(text):  # the line end was escaped
                text, at = more(), 0

    def _quoted(self, text: str, at: int, more: Callable[[], str]) -> tuple[str, str, int]:
        """A field behind its opening quote; then the text, and the place in it behind the field."""
        assert self._special is not None
        parts: list[str] = []
        while True:
            match = self._special.search(text, at)
            if match is None:
                parts.append(text[at:])
                following = more()
                if not following:
                    raise Unfit(text, f"has no closing {self._quote} of a field")
                text, at = following, 0
                continue
            parts.append(text[at : match.start()])
            at = match.end()
            if match[0] == self._escape:
                parts.append(self._unescaped(text, at))
            elif text.startswith(self._quote, at):
                parts.append(self._quote)
            else:
                return "".join(parts), text, self._behind(text, at)
            at += 1

    def _behind(self, text: str, at: int) -> int:
        """The place of the separator, or the end, behind a closing quote."""
        match = self._blanks.match(text, at)
        end = at if match is None else match.end()
        if end < len(text) and text[end] not in f"\r\n{self._separator}":
            raise Unfit(text, f"goes on behind the closing {self._quote} of a field")
        return end

    def _unescaped(self, text: str, at: int) -> str:
        if at >= len(text):
            raise Unfit(text, "ends behind an escape character")
        return _ESCAPED.get(text[at], text[at])


def quoter(form: CsvForm, begins_comment: str = "") -> Callable[[str], str]:
    """The function that puts a text in quotes if it needs them: it is long, begins a comment, or has a character that
    is special or, as Jackson sees it, so low that it could be."""
    highest = max(f"{form.separator}{form.quote}{form.line_separator}")
    pattern = f"[\\x00-{re.escape(highest)}\\\\{re.escape(form.escape)}]"
    special = re.compile(f"{pattern}|^{begins_comment}" if begins_comment else pattern).search
    quote, escape = form.quote, form.escape

    def quoted(text: str) -> str:
        units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
        if units <= _LONGEST_BARE and not special(text):
            return text
        if escape:
            text = text.replace(escape, escape * 2)
        return f"{quote}{text.replace(quote, quote * 2)}{quote}"

    return quoted


def ascii_only(text: str) -> str:
    """The text; NoForm if it has other characters, which native code does not look for."""
    if not text.isascii():
        raise NoForm
    return text


def quoted_layout(form: CsvForm, begins_comment: str, none: str | None) -> Layout:
    """How native code puts a text in quotes, the same as :func:`quoter`."""
    if len(form.quote) != 1 or len(form.escape) > 1 or form.escape == form.quote:
        raise NoForm
    ascii_only(form.escape)
    highest = max(ascii_only(f"{form.separator}{form.quote}{form.line_separator}"))
    special = "".join(map(chr, range(ord(highest) + 1))) + f"\\{form.escape}"
    options = {"special": special, "first": begins_comment, "longest": _LONGEST_BARE}
    return scalar("csv", none, quote=form.quote, escape=form.escape, **options)


@dataclass(frozen=True)
class CsvColumn:
    """A column. ``separator`` is between the elements of an array, "" for that of the schema."""

    name: str
    data_type: DataType
    separator: str = ""


@dataclass(frozen=True)
class CsvSchema(CsvForm):
    """The columns and characters of CSV files. Made by :meth:`builder`."""

    columns: tuple[CsvColumn, ...] = ()
    header: bool = False  # the first line names the columns
    strict: bool = False  # and they must be these
    skip: bool = False  # the first line of data
    rest: bool = False  # lines may have more columns, which are ignored

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        """Begin with no columns, and commas between them."""
        return CsvSchemaBuilder()

    @property
    def row_type(self) -> RowType:
        return RowType(tuple(ct.RowField(column.name, column.data_type) for column in self.columns))

    def elements_of(self, column: CsvColumn) -> str:
        """The separator of the elements of an array; "" for nothing."""
        return column.separator or self.array_separator

    def size(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


class CsvSchemaBuilder:
    """Describes a CSV file. Methods change it and return it."""

    def __init__(self) -> None:
        self._schema = CsvSchema()

    def _with(self, **changes: Any) -> CsvSchemaBuilder:
        self._schema = replace(self._schema, **changes)
        return self

    def _add(self, call: str, name: Any, data_type: DataType, separator: str = "") -> CsvSchemaBuilder:
        if checks.text(name, call, "name of the column") in [column.name for column in self._schema.columns]:
            checks.illegal_argument(f"{call}({name!r}): there is a column of this name. Give each column its own.")
        return self._with(columns=(*self._schema.columns, CsvColumn(name, data_type, separator)))

    def build(self) -> CsvSchema:
        """The schema."""
        return self._schema

    def add_string_column(self, name: str) -> CsvSchemaBuilder:
        """A column of texts."""
        return self._add("add_string_column", name, VarCharType())

    def add_boolean_column(self, name: str) -> CsvSchemaBuilder:
        """A column of ``true``, in any case, and anything else, which is False as in Java."""
        return self._add("add_boolean_column", name, ct.BooleanType())

    def add_number_column(self, name: str, number_type: DataType | None = None) -> CsvSchemaBuilder:
        """A column of TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE or DECIMAL of ``DataTypes``; None for BIGINT."""
        wanted = ct.BigIntType() if number_type is None else _data_type(number_type, "add_number_column")
        if not isinstance(wanted, _NUMBERS):
            checks.refuse(f"add_number_column({name!r}): {wanted} is not a number type. Give one: DataTypes.INT().")
        return self._add("add_number_column", name, wanted)

    def add_array_column(
        self, name: str, separator: str = ARRAY_SEPARATOR, element_type: DataType | None = None
    ) -> CsvSchemaBuilder:
        """A column of lists, with the separator between the elements, and their type; None for texts."""
        checks.text(separator, "add_array_column", "separator")
        element = VarCharType() if element_type is None else _data_type(element_type, "add_array_column")
        _plain(element, f"add_array_column({name!r})")
        return self._add("add_array_column", name, ArrayType(element), separator)

    def add_column(self, name: str, data_type: DataType | TypeInformation[Any]) -> CsvSchemaBuilder:
        """A column of any of ``DataTypes`` or ``Types`` that a text can show. PyFlink has no such method."""
        wanted = _data_type(data_type, "add_column")
        _plain(wanted.element_type if isinstance(wanted, ArrayType) else wanted, f"add_column({name!r})")
        return self._add("add_column", name, wanted)

    def add_columns_from(self, schema: CsvSchema) -> CsvSchemaBuilder:
        """All columns of another schema."""
        checks.instance(schema, "add_columns_from", CsvSchema, "Give a CsvSchema, which build() returns.")
        for column in schema.columns:
            self._add("add_columns_from", column.name, column.data_type, column.separator)
        return self

    def clear_columns(self) -> CsvSchemaBuilder:
        """No columns."""
        return self._with(columns=())

    def set_allow_comments(self, allow: bool = True) -> CsvSchemaBuilder:
        """Whether lines that begin with # are left out."""
        return self._with(comments=checks.boolean(allow, "set_allow_comments", "allow"))

    def set_any_property_name(self, name: str) -> CsvSchemaBuilder:
        """Lines may have more columns than the schema. They are left out, as in PyFlink; the name has no effect."""
        checks.text(name, "set_any_property_name", "name")
        return self._with(rest=True)

    def set_array_element_separator(self, separator: str) -> CsvSchemaBuilder:
        """The separator of elements of arrays in columns without a separator of their own."""
        return self._with(array_separator=checks.text(separator, "set_array_element_separator", "separator"))

    def disable_array_element_separator(self) -> CsvSchemaBuilder:
        """Arrays of columns without a separator of their own have one element."""
        return self._with(array_separator="")

    def remove_array_element_separator(self, index: int) -> CsvSchemaBuilder:
        """Let a column, counted from 0, have no separator of its own."""
        columns = list(self._schema.columns)
        if not 0 <= checks.integer(index, "remove_array_element_separator", "index") < len(columns):
            checks.illegal_argument(
                f"remove_array_element_separator({index}): there are {len(columns)} columns. Give a number from 0."
            )
        columns[index] = replace(columns[index], separator="")
        return self._with(columns=tuple(columns))

    def set_column_separator(self, char: str) -> CsvSchemaBuilder:
        """The character between columns; a comma without this call."""
        return self._with(separator=checks.character(char, "set_column_separator", "separator"))

    def set_escape_char(self, char: str) -> CsvSchemaBuilder:
        r"""The character before one that is meant as it is; before n, r, t and 0 a line end, a carriage return, a tab,
        a zero. Without this call there is none."""
        return self._with(escape=checks.character(char, "set_escape_char", "escape character"))

    def disable_escape_char(self) -> CsvSchemaBuilder:
        """No character is special before another."""
        return self._with(escape="")

    def set_quote_char(self, char: str) -> CsvSchemaBuilder:
        """The character around texts; ``"`` without this call."""
        return self._with(quote=checks.character(char, "set_quote_char", "quotation mark"))

    def disable_quote_char(self) -> CsvSchemaBuilder:
        """No character is special around texts."""
        return self._with(quote="")

    def set_line_separator(self, separator: str) -> CsvSchemaBuilder:
        r"""The end of the lines that are written: ``\n``, ``\r\n`` or ``\r``. All are read."""
        if checks.text(separator, "set_line_separator", "separator") not in ("\n", "\r\n", "\r"):
            raise UnsupportedError(
                f"set_line_separator({separator!r}): a reader takes \\n, \\r\\n and \\r for the end of a line. Give "
                "one of these."
            )
        return self._with(line_separator=separator)

    def set_null_value(self, null_value: str) -> CsvSchemaBuilder:
        """The text that stands for None, in quotes or not. Otherwise nothing is written for None."""
        return self._with(null=checks.text(null_value, "set_null_value", "null value"))

    def set_skip_first_data_row(self, skip: bool = True) -> CsvSchemaBuilder:
        """Whether the first line of data is left out."""
        return self._with(skip=checks.boolean(skip, "set_skip_first_data_row", "skip"))

    def set_use_header(self, use: bool = True) -> CsvSchemaBuilder:
        """Whether the first line names the columns; see :meth:`set_strict_headers`."""
        return self._with(header=checks.boolean(use, "set_use_header", "use"))

    def set_strict_headers(self, strict: bool = True) -> CsvSchemaBuilder:
        """Whether a file with other names in its header is refused."""
        return self._with(strict=checks.boolean(strict, "set_strict_headers", "strict"))

    def size(self) -> int:
        """Number of columns."""
        return len(self._schema)

    def __len__(self) -> int:
        return len(self._schema)


def _data_type(value: Any, call: str) -> DataType:
    if isinstance(value, TypeInformation):
        return data_type_of(value)
    return checks.instance(value, call, DataType, "Give a type of column: DataTypes.INT().", ", which is not a type")


def _plain(wanted: DataType, call: str) -> None:
    if isinstance(wanted, ArrayType | ct.MapType | RowType):
        raise UnsupportedError(
            f"{call} was given values of the type {wanted}, which a column of text cannot show. Use Parquet, Avro or "
            "JSON lines, or give the fields columns of their own."
        )
