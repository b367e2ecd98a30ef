"""Files of JSON lines: an object on each line, a row each. A piece of a file is the lines that begin in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import IO, Any

from penstock.common.callables import shortened
from penstock.common.column_types import DecimalType, RowType
from penstock.common.conversions import Convert
from penstock.common.serialization import Encoder
from penstock.common.typeinfo import TypeInformation
from penstock.errors import FileFormatError
from penstock.runtime.io.file_source import pieces_of, read_text
from penstock.runtime.io.formats.base import StreamFormat, inflating, path_of
from penstock.runtime.io.formats.inner import types_in
from penstock.runtime.io.formats.json_values import Misfit, reader, writer
from penstock.runtime.io.splits import Records, Split
from penstock.runtime.io.storage import Dated


@dataclass(frozen=True)
class JsonLines(StreamFormat[Any]):
    """Rows of JSON lines. Positions are bytes.

    Attributes:
        row_type: which fields are read, and as what.
    """

    row_type: RowType

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
                f"{_place(split, number)}: {shortened(line)} is no JSON: {error}. Perhaps the file has not been "
                "written to its end, or an object has several lines; there must be one on each."
            ) from error
        except Misfit as misfit:
            raise FileFormatError(
                f"{_place(split, number)}: {shortened(misfit.value)} in the field {misfit.path!r} cannot be read as "
                f"{misfit.wanted}: {misfit.why}. Correct the file, or declare another type."
            ) from misfit.__cause__


def _place(split: Split, number: int) -> str:
    start = split.start or 0
    return f"{path_of(split)}, line {number}{f' after byte {start}' if start else ''}"


@dataclass(frozen=True)
class JsonEncoder(Encoder[Any]):
    """Writes rows as JSON lines.

    Attributes:
        row_type: of the rows.
    """

    row_type: RowType

    @cached_property
    def _convert(self) -> Convert:
        return writer(self.row_type)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.row_type,)

    def encode(self, element: Any, stream: IO[bytes], /) -> None:
        """Write the row's line."""
        try:
            stream.write(json.dumps(self._convert(element), ensure_ascii=False).encode() + b"\n")
        except Misfit as misfit:
            raise FileFormatError(
                f"The value {shortened(misfit.value)} cannot be written into the field {misfit.path!r} of type "
                f"{misfit.wanted}: {misfit.why}. Convert it in a map() before the sink, or declare another type."
            ) from misfit.__cause__
