"""Files of JSON lines: an object on each line, a row each. Flink's DataStream API has no format for them. A piece of a
file is the lines that begin in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import IO, Any, cast

from penstock.common import column_types as ct
from penstock.common.callables import shortened
from penstock.common.column_types import DecimalType, RowType, row_type_of
from penstock.common.serialization import Encoder
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.common.typesystem.conversions import Convert, optional
from penstock.connectors.formats.csv_values import reader as of_text
from penstock.connectors.formats.csv_values import writer as to_text
from penstock.connectors.formats.fields import BITS, fields_of, maker, of_kind, types_in, within
from penstock.errors import FileFormatError
from penstock.runtime.io.file_format import StreamFormat, inflating, path_of
from penstock.runtime.io.file_source import pieces_of, read_text
from penstock.runtime.io.splits import Records, Split
from penstock.storage.storage import Dated

__all__ = ["JsonLinesEncoder", "JsonReaderFormat"]


@dataclass(frozen=True)
class JsonReaderFormat(StreamFormat[Any]):
    """Rows of JSON lines, for ``FileSource.for_record_stream_format``. Made by :meth:`for_row_type`."""

    row_type: RowType

    @staticmethod
    def for_row_type(row_type: RowType | RowTypeInfo | TupleTypeInfo) -> JsonReaderFormat:
        """Objects as rows. Fields that an object has not are None, if their type is nullable; others that it has are
        left out. Days, times and bytes (in Base64) are texts in JSON.

        Args:
            row_type: ``DataTypes.ROW([…])``, or a type of rows or tuples.

        Raises:
            TypeInfoError: no type of rows.
            UnsupportedError: a type that JSON has no values of.
        """
        return JsonReaderFormat(row_type_of(row_type, "JsonReaderFormat.for_row_type"))

    @property
    def produced_type(self) -> TypeInformation[Any]:
        """A row with the names of the fields."""
        return self.row_type.type_info

    def pieces(self, file: Dated, splittable: bool) -> list[Split]:
        """The file, or pieces of 32 MiB where it is not compressed."""
        return pieces_of(file, "UTF-8", splittable)

    def read(self, split: Split) -> Iterator[Records[Any]]:
        """The rows of a piece of a file. Lines without anything are left out."""
        convert = reader(self.row_type)
        exact = any(isinstance(each, DecimalType) for each in types_in(self.row_type))
        decode = json.JSONDecoder(parse_float=Decimal if exact else None).decode
        done = 0
        with inflating(path_of(split)):
            for lines in read_text(split, "UTF-8"):
                numbered = enumerate(lines.values, done + 1)
                rows = [self._row(line, number, split, decode, convert) for number, line in numbered if line.strip()]
                done += len(lines.values)
                yield Records(rows, lines.position)

    def _row(self, line: str, number: int, split: Split, decode: Convert, convert: Convert) -> Any:
        try:
            return convert(decode(line))
        except json.JSONDecodeError as error:
            raise FileFormatError(
                f"{_place(split, number)}: {shortened(line)} is not JSON: {error}. Perhaps the file has not been "
                "written to its end, or an object has several lines; there must be one on each."
            ) from error
        except _Misfit as misfit:
            raise FileFormatError(
                f"{_place(split, number)}: {shortened(misfit.value)} in the field {misfit.path!r} cannot be read as "
                f"{misfit.wanted}: {misfit.why}. Correct the file, or declare another type."
            ) from misfit.__cause__


def _place(split: Split, number: int) -> str:
    start = split.start or 0
    return f"{path_of(split)}, line {number}{f' after byte {start}' if start else ''}"


@dataclass(frozen=True)
class JsonLinesEncoder(Encoder[Any]):
    """Writes rows as JSON lines, for ``FileSink.for_row_format``. Made by :meth:`for_row_type`."""

    row_type: RowType

    @staticmethod
    def for_row_type(row_type: RowType | RowTypeInfo | TupleTypeInfo) -> JsonLinesEncoder:
        """Rows as objects. Records are rows, tuples, lists or dicts; rows and dicts are written by the names of their
        fields if these are the type's.

        Args:
            row_type: ``DataTypes.ROW([…])``, or a type of rows or tuples.

        Raises:
            TypeInfoError: no type of rows.
            UnsupportedError: a type that JSON has no values of.
        """
        return JsonLinesEncoder(row_type_of(row_type, "JsonLinesEncoder.for_row_type"))

    @cached_property
    def _convert(self) -> Convert:
        return writer(self.row_type)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.row_type,)

    def encode(self, element: Any, stream: IO[bytes], /) -> None:
        """Write the row's line."""
        try:
            stream.write(json.dumps(self._convert(element), ensure_ascii=False).encode() + b"\n")
        except _Misfit as misfit:
            raise FileFormatError(
                f"The value {shortened(misfit.value)} cannot be written into the field {misfit.path!r} of type "
                f"{misfit.wanted}: {misfit.why}. Convert it in a map() before the sink, or declare another type."
            ) from misfit.__cause__


_NUMBERS = (ct.FloatType, ct.DoubleType, ct.DecimalType)


class _Misfit(Exception):
    """A value that does not fit its type, the path of its field, and why."""

    def __init__(self, path: str, value: Any, wanted: ct.DataType, why: str) -> None:
        super().__init__(path, value, wanted, why)
        self.path, self.value, self.wanted, self.why = path, value, wanted, why


def reader(wanted: ct.DataType, path: str = "") -> Convert:
    """The conversion of a value in JSON, at a path of fields, into one in a record. It raises :class:`_Misfit`."""
    convert = _reader(wanted, path)

    def checked(value: Any) -> Any:
        if value is None:
            if wanted.nullable:
                return None
            raise _Misfit(path, None, wanted, "it is not there; declare the type nullable")
        try:
            return convert(value)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise _Misfit(path, value, wanted, str(error) or type(error).__name__) from error

    return checked


def _reader(wanted: ct.DataType, path: str) -> Convert:
    if type(wanted) in BITS:
        return _integer(wanted)
    if isinstance(wanted, _NUMBERS):
        text = of_text(wanted, "", None)
        return lambda value: text(str(_of(value, int, float, Decimal, str)))
    if isinstance(wanted, ct.BooleanType):
        return lambda value: _of(value, bool)
    if isinstance(wanted, ct.ArrayType):
        element = reader(wanted.element_type, f"{path}[]")
        return lambda value: list(map(element, _of(value, list)))
    if isinstance(wanted, ct.MapType):
        key, item = of_text(wanted.key_type, "", None), reader(wanted.value_type, f"{path}{{}}")
        return lambda value: {key(k): item(v) for k, v in _of(value, dict).items()}
    if isinstance(wanted, ct.RowType):
        return _row_reader(wanted, path)
    text = of_text(wanted, "", None)
    return lambda value: text(_of(value, str))


def _of(value: Any, *kinds: type) -> Any:
    if type(value) in kinds:
        return value
    raise TypeError(f"it is a {type(value).__name__}, not a {kinds[-1].__name__}")


def _integer(wanted: ct.DataType) -> Convert:
    fit = within(BITS[type(wanted)])
    return lambda value: fit(_of(value, int))


def _row_reader(wanted: ct.RowType, path: str) -> Convert:
    fields = [(field.name, reader(field.data_type, f"{path}.{field.name}".lstrip("."))) for field in wanted]
    make = maker(wanted)
    return lambda value: make([read(_of(value, dict).get(name)) for name, read in fields])


def writer(wanted: ct.DataType, path: str = "") -> Convert:
    """The conversion of a value in a record, at a path of fields, into one in JSON. It raises :class:`_Misfit`."""
    convert = _writer(wanted, path)

    def checked(value: Any) -> Any:
        if value is None and not wanted.nullable:
            raise _Misfit(path, None, wanted, "the field cannot hold None")
        try:
            return convert(of_kind(value, wanted))
        except (ValueError, TypeError, ArithmeticError) as error:
            raise _Misfit(path, value, wanted, str(error) or type(error).__name__) from error

    return checked if not wanted.nullable else optional(checked)


def _writer(wanted: ct.DataType, path: str) -> Callable[[Any], Any]:
    if type(wanted) in BITS:
        return _integer(wanted)
    if isinstance(wanted, ct.FloatType | ct.DoubleType):
        return lambda value: value if abs(value) < float("inf") else to_text(wanted)(value)
    if isinstance(wanted, ct.BooleanType | ct.VarCharType):
        return lambda value: value
    if isinstance(wanted, ct.ArrayType):
        element = writer(wanted.element_type, f"{path}[]")
        return lambda values: list(map(element, values))
    if isinstance(wanted, ct.MapType):
        key, item = to_text(wanted.key_type), writer(wanted.value_type, f"{path}{{}}")
        return lambda value: {key(k): item(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(wanted, ct.RowType):
        return _row_writer(wanted, path)
    return to_text(wanted)


def _row_writer(wanted: ct.RowType, path: str) -> Convert:
    names, known = tuple(wanted.names), frozenset(wanted.names)
    writers = [writer(field.data_type, f"{path}.{field.name}".lstrip(".")) for field in wanted]

    def write_row(value: Any) -> dict[str, Any]:
        values = fields_of(value, names, known)
        return {name: write(field) for name, write, field in zip(names, writers, values, strict=True)}

    return write_row
