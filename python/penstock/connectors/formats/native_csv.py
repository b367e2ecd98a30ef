"""The rows of CSV files as native batches. Where native code cannot vouch for a value, Python converts the texts of its
row; where it cannot say what the fields are, Python reads the file from there on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import IO, Any

from penstock.connectors.formats.csv_schema import CsvSchema, ascii_only
from penstock.connectors.formats.fields import native_scalar
from penstock.runtime.columns.layouts import MOST_DOUBTS, Layout, layout_or_none
from penstock.runtime.io.files import BLOCK_BYTES
from penstock.runtime.native import BatchRecords


class Unsure(Exception):
    """Python reads the file from here on, and says what is wrong with it, if anything is."""


def native_rows(functions: ModuleType, schema: CsvSchema) -> Any:
    """Native code that reads the rows of a file of a schema; None if there is none."""
    layout = layout_or_none(lambda: _layout(schema))
    try:
        return None if layout is None else functions.CsvRows(json.dumps(layout))
    except ValueError:  # of special characters, or of another native module
        return None


def _layout(schema: CsvSchema) -> Layout:
    return {
        **{name: ascii_only(getattr(schema, name)) for name in ("separator", "quote", "escape")},
        **{name: getattr(schema, name) for name in ("null", "comments", "rest", "header", "strict", "skip")},
        "names": [column.name for column in schema.columns],
        "fields": [native_scalar(column.data_type) for column in schema.columns],
    }


Part = tuple[Sequence[Any], int]
"""Records, and how many."""


class NativeRows:
    """Reads the rows of an open file. ``convert`` makes records of the texts of rows."""

    def __init__(self, rows: Any, file: IO[bytes], convert: Callable[[list[list[str]]], Sequence[Any]]) -> None:
        self._rows, self._file, self._convert = rows, file, convert
        self._ended = False

    def pass_over(self, count: int) -> None:
        """Leave out so many rows."""
        while count:
            passed, why = self._rows.skip(count)
            count -= passed
            if count:
                self._go_on(why)

    def parts(self, most: int) -> list[Part]:
        """The next records in parts, none at the end of the file."""
        parts, left, doubts = list[Part](), most, 0
        if self._rows.waiting < BLOCK_BYTES and not self._ended:
            self._read()
        while left:
            batch, why = self._rows.read(left)
            if len(batch):
                parts.append((BatchRecords(batch), len(batch)))
                left -= len(batch)
            if why == "doubt":
                doubts += 1
                records = self._converted(left if doubts > MOST_DOUBTS else 1)
                parts.append((records, len(records)))
                left -= len(records)
            elif left and why == "data" and self._ended:
                break
            elif left:
                self._go_on(why)
        return parts

    def _converted(self, most: int) -> Sequence[Any]:
        texts, _ = self._rows.texts(most)
        try:
            return self._convert(texts)
        except Exception as error:  # Python names the line
            raise Unsure from error

    def _go_on(self, why: str) -> None:
        """Read more, where that is why there are no more rows."""
        if why != "data" or self._ended:
            raise Unsure
        self._read()

    def _read(self) -> None:
        try:
            # as much as waits: a row may be longer than many blocks
            block = self._file.read(max(BLOCK_BYTES, self._rows.waiting))
        except Exception as error:
            raise Unsure from error
        self._ended = not block
        if not self._rows.add(block):
            raise Unsure
