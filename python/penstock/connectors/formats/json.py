"""Files of JSON lines: an object on each line, a row each. Flink's DataStream API has no format for them. A piece of a
file is the lines that begin in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from types import ModuleType
from typing import IO, Any

from penstock.common import column_types as ct
from penstock.common.callables import shortened
from penstock.common.column_types import DecimalType, RowType, row_type_of
from penstock.common.serialization import Encoder
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.common.typesystem.conversions import Convert, same
from penstock.connectors.formats.fields import native_scalar, text_reader, text_writer
from penstock.errors import FileFormatError
from penstock.runtime.columns.layouts import (
    MOST_DOUBTS,
    Layout,
    NoForm,
    compiled_reading,
    items,
    layout_or_none,
    record,
    scalar,
    whole,
)
from penstock.runtime.columns.parts import Unfit, elements, entries, fields, within
from penstock.runtime.columns.records import BITS, fields_of, maker, of_kind, types_in
from penstock.runtime.io.file_format import StreamFormat, inflating, path_of
from penstock.runtime.io.file_source import pieces_of, read_blocks, read_text
from penstock.runtime.io.files import text_lines
from penstock.runtime.io.splits import Records, Split
from penstock.runtime.native import BatchRecords
from penstock.storage.storage import Dated

__all__ = ["JsonLinesEncoder", "JsonReaderFormat"]


@dataclass(frozen=True)
class JsonReaderFormat(StreamFormat[Any]):
    """Rows of JSON lines, for ``FileSource.for_record_stream_format``. Made by :meth:`for_row_type`."""

    row_type: RowType

    @staticmethod
    def for_row_type(row_type: RowType | RowTypeInfo | TupleTypeInfo) -> JsonReaderFormat:
        """Objects as rows of ``DataTypes.ROW([…])``, or of a type of rows or tuples. Fields that an object has not are
        None, if their type is nullable; others that it has are left out. Days, times and bytes (in Base64) are texts in
        JSON. UnsupportedError for a type that JSON has no values of."""
        return JsonReaderFormat(row_type_of(row_type, "JsonReaderFormat.for_row_type"))

    @property
    def produced_type(self) -> TypeInformation[Any]:
        return self.row_type.type_info

    def pieces(self, file: Dated, splittable: bool) -> list[Split]:
        """The file, or pieces of 32 MiB where it is not compressed."""
        return pieces_of(file, "UTF-8", splittable)

    @property
    def reading(self) -> Layout | None:
        """How native code reads the rows; None if it does not."""
        return layout_or_none(lambda: {"format": "json", "finite": True, **_native_row(self.row_type)})

    def read(self, split: Split) -> Iterator[Records[Any]]:
        """The rows of a piece of a file. Lines without anything are left out."""
        rows = _Rows(self.row_type, split)
        with inflating(path_of(split)):
            for lines in read_text(split, "UTF-8"):
                yield Records(rows.of(lines.values), lines.position)

    def read_columns(self, split: Split, functions: ModuleType) -> Iterator[Records[Any]]:
        """As :meth:`read`; lines that native code reads for certain become columns."""
        reading = self._native(functions)
        return self.read(split) if reading is None else self._read_columns(split, reading)

    def why_objects(self, functions: ModuleType) -> str:
        return "native code does not read all of its types in JSON" if self._native(functions) is None else ""

    def _native(self, functions: ModuleType) -> Any:
        return compiled_reading(functions, self.reading) if type(self) is JsonReaderFormat else None

    def _read_columns(self, split: Split, reading: Any) -> Iterator[Records[Any]]:
        rows = _Rows(self.row_type, split)
        with inflating(path_of(split)):
            for block, position in read_blocks(split):
                for values, behind in list(_parts(block, rows, reading)):  # an error of one comes before any of them
                    yield Records(values, position - len(block) + behind)


class _Rows:
    """Makes rows of the lines of a split, one after the other."""

    def __init__(self, row_type: RowType, split: Split) -> None:
        exact = any(isinstance(part, DecimalType) for part in types_in(row_type))
        self._decode = json.JSONDecoder(parse_float=Decimal if exact else None).decode
        self._convert, self._split = _codec(row_type, reads=True), split
        self.done = 0  # lines

    def of(self, lines: Sequence[str]) -> list[Any]:
        """The rows of the next lines."""
        numbered = enumerate(lines, self.done + 1)
        rows = [self._row(line, number) for number, line in numbered if line.strip()]
        self.done += len(lines)
        return rows

    def _row(self, line: str, number: int) -> Any:
        try:
            return self._convert(self._decode(line))
        except json.JSONDecodeError as error:
            raise FileFormatError(
                f"{_place(self._split, number)}: {shortened(line)} is not JSON: {error}. Perhaps the file has not been "
                "written to its end, or an object has several lines; there must be one on each."
            ) from error
        except _Misfit as misfit:
            raise FileFormatError(
                f"{_place(self._split, number)}: {shortened(misfit.value)} in the field {misfit.place!r} cannot be "
                f"read as {misfit.wanted}: {misfit.why}. Correct the file, or declare another type."
            ) from misfit.__cause__


def _parts(block: bytes, rows: _Rows, reading: Any) -> Iterator[tuple[Sequence[Any], int]]:
    """The records of a block of whole lines in parts, each with the place behind it; the last with that of its end."""
    at = doubts = 0
    while at < len(block):
        batch, lines, at = reading.lines(block, at)
        rows.done += lines
        if len(batch) or at == len(block):
            yield BatchRecords(batch), at
        if at < len(block):
            doubts += 1
            end = len(block) if doubts > MOST_DOUBTS else block.find(b"\n", at) + 1 or len(block)
            yield rows.of(text_lines(block[at:end].decode(errors="replace"))), end
            at = end


def _place(split: Split, number: int) -> str:
    start = split.start or 0
    return f"{path_of(split)}, line {number}{f' after byte {start}' if start else ''}"


@dataclass(frozen=True)
class JsonLinesEncoder(Encoder[Any]):
    """Writes rows as JSON lines, for ``FileSink.for_row_format``. Made by :meth:`for_row_type`."""

    row_type: RowType

    @staticmethod
    def for_row_type(row_type: RowType | RowTypeInfo | TupleTypeInfo) -> JsonLinesEncoder:
        """Rows as objects of ``DataTypes.ROW([…])``, or of a type of rows or tuples. Records are rows, tuples, lists or
        dicts; rows and dicts are written by the names of their fields if these are the type's. UnsupportedError for a
        type that JSON has no values of."""
        return JsonLinesEncoder(row_type_of(row_type, "JsonLinesEncoder.for_row_type"))

    @cached_property
    def _convert(self) -> Convert:
        return _codec(self.row_type, reads=False)

    @property
    def layout(self) -> Layout | None:
        """How native code writes the rows; None if it does not."""
        return layout_or_none(lambda: {**_layout(self.row_type), "none": None, "end": "\n"})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.row_type,)

    def encode(self, element: Any, stream: IO[bytes], /) -> None:
        try:
            stream.write(json.dumps(self._convert(element), ensure_ascii=False).encode() + b"\n")
        except _Misfit as misfit:
            raise FileFormatError(
                f"The value {shortened(misfit.value)} cannot be written into the field {misfit.place!r} of type "
                f"{misfit.wanted}: {misfit.why}. Convert it in a map() before the sink, or declare another type."
            ) from misfit.__cause__


def _native_row(row_type: RowType) -> Layout:
    """How native code reads an object."""
    if row_type.form not in ("row", "tuple") or row_type.record_names is not None:
        raise NoForm
    fields = list(map(_native_field, row_type.types))
    return {"names": row_type.names, "form": row_type.form, "fields": fields}


def _native_field(wanted: ct.DataType) -> Layout:
    """The same of a field."""
    if isinstance(wanted, RowType):
        form = {"as": "row", **_native_row(wanted)}
    elif isinstance(wanted, ct.ArrayType):
        form = {"as": "list", "item": _native_field(wanted.element_type)}
    else:
        form = native_scalar(wanted)
    return {**form, "needed": not wanted.nullable}


def _layout(wanted: ct.DataType) -> Layout:
    """How native code writes a value, the same as :func:`_codec`."""
    none, kind = "null" if wanted.nullable else None, type(wanted)
    if isinstance(wanted, RowType):
        labels = [f"{json.dumps(name, ensure_ascii=False)}: " for name in wanted.names]
        fields = list(map(_layout, wanted.types))
        return record(("{", ", ", "}"), fields, labels=labels, names=wanted.names, none=none)
    if isinstance(wanted, ct.ArrayType):
        return items(("[", ", ", "]"), _layout(wanted.element_type), none)
    if kind in BITS:
        return whole(BITS[kind], none)
    if kind not in _FORMS:
        raise NoForm
    return scalar(_FORMS[kind], none)


_FORMS: dict[type[ct.DataType], str] = {
    ct.BooleanType: "bool",
    ct.VarCharType: "json",
    ct.CharType: "json",
    ct.DoubleType: "python_json",
    ct.DateType: "day",
    ct.TimestampType: "time",
    ct.TimeType: "clock",
}


class _Misfit(Unfit):
    """A value that does not fit its type in the file, and why."""

    def __init__(self, value: Any, wanted: ct.DataType, why: str) -> None:
        super().__init__(value, why)
        self.wanted = wanted


def _codec(wanted: ct.DataType, reads: bool) -> Convert:
    """The conversion of a value in JSON into one in a record, or back; it raises :class:`_Misfit`."""
    convert = _converter(wanted, reads)
    missing = "it is not there; declare the type nullable" if reads else "the field cannot hold None"

    def checked(value: Any) -> Any:
        if value is None:
            if wanted.nullable:
                return None
            raise _Misfit(None, wanted, missing)
        try:
            return convert(value if reads else of_kind(value, wanted))
        except _Misfit:  # of a part
            raise
        except (ValueError, TypeError, ArithmeticError) as error:
            raise _Misfit(value, wanted, str(error) or type(error).__name__) from error

    return checked


def _converter(wanted: ct.DataType, reads: bool) -> Convert:
    if isinstance(wanted, ct.ArrayType):
        return elements(_codec(wanted.element_type, reads), skips=False)
    if isinstance(wanted, ct.MapType):
        key = text_reader(wanted.key_type, "", None) if reads else text_writer(wanted.key_type)
        return entries(key, _codec(wanted.value_type, reads), skips=False)
    if isinstance(wanted, ct.RowType):
        names, known = tuple(wanted.names), frozenset(wanted.names)
        make = maker(wanted)
        convert = fields(names, [_codec(part, reads) for part in wanted.types], skips=False)
        if reads:
            return lambda value: make(convert(map(_of(value, dict).get, names)))
        return lambda value: dict(zip(names, convert(fields_of(value, names, known)), strict=True))
    if type(wanted) in BITS:
        fit = within(BITS[type(wanted)])
        return lambda value: fit(_of(value, int))
    return _scalar_reader(wanted) if reads else _scalar_writer(wanted)


def _scalar_reader(wanted: ct.DataType) -> Convert:
    if isinstance(wanted, ct.BooleanType):
        return lambda value: _of(value, bool)
    read = text_reader(wanted, "", None)
    if isinstance(wanted, ct.FloatType | ct.DoubleType | ct.DecimalType):
        return lambda value: read(str(_of(value, int, float, Decimal, str)))
    return lambda value: read(_of(value, str))


def _scalar_writer(wanted: ct.DataType) -> Convert:
    if isinstance(wanted, ct.BooleanType | ct.VarCharType):
        return same
    write = text_writer(wanted)
    if isinstance(wanted, ct.FloatType | ct.DoubleType):
        return lambda value: value if abs(value) < float("inf") else write(value)
    return write


def _of(value: Any, *kinds: type) -> Any:
    if type(value) in kinds:
        return value
    raise TypeError(f"it is a {type(value).__name__}, not a {kinds[-1].__name__}")
