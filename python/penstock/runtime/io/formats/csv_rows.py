r"""The lines of CSV files as rows of texts, as Flink's reader takes them apart.

Python's own reader does nearly all of it. What it refuses (spaces behind a closing quote) and escapes, which mean
something else there, are read by a slower one.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from itertools import islice
from typing import IO

from penstock.errors import FileFormatError
from penstock.runtime.io.formats.csv_schema import CsvSchema

_ESCAPED = {"0": "\0", "n": "\n", "r": "\r", "t": "\t"}
Row = list[str]


class CsvRows:
    """The rows of a file, header and comments left out, from its beginning.

    Args:
        file: its text, opened so that line ends are as they are.
        schema: what it looks like.

    Attributes:
        line: number of the line that was read last, from 1.
    """

    def __init__(self, file: IO[str], schema: CsvSchema, *, slow: bool = False) -> None:
        self._file, self._schema = file, schema
        self.line = 0
        self._inside = False
        if slow or schema.escape:
            self._rows: Iterator[Row] = self._slow()
        else:
            self._rows = self._quick()

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        self._inside = False
        return next(self._rows) or [""]  # of an empty line

    def begin(self, name: str) -> None:
        """Leave out what stands before the data.

        Args:
            name: of the file.

        Raises:
            FileFormatError: the header names other columns.
        """
        if self._schema.header:
            header = next(self, None)
            if header is not None and self._schema.strict:
                self._check(header, name)
        if self._schema.skip:
            next(self, None)

    def _check(self, header: Row, name: str) -> None:
        found, wanted = header, [column.name for column in self._schema.columns]
        if found[: len(wanted)] != wanted or (len(found) > len(wanted) and not self._schema.rest):
            raise FileFormatError(
                f"{name}, line {self.line}: the header names the columns {found}, and the schema has {wanted}. "
                "Describe the columns that the file has, or leave set_strict_headers() out."
            )

    def _lines(self) -> Iterator[str]:
        """The lines of the file; a comment only where a row begins."""
        for line in self._file:
            self.line += 1
            if not self._inside and self._schema.comments and line.lstrip().startswith("#"):
                continue
            self._inside = True
            yield line

    def _quick(self) -> Iterator[Row]:
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        schema = self._schema
        return csv.reader(
            self._lines(),
            delimiter=schema.separator,
            quotechar=schema.quote or None,
            quoting=csv.QUOTE_MINIMAL if schema.quote else csv.QUOTE_NONE,
            strict=True,
        )

    def _slow(self) -> Iterator[Row]:
        for line in self._lines():
            yield self._row(line)

    def _row(self, line: str) -> Row:
        """The fields of a row that begins with a line; more lines are read while a quote is open."""
        schema, row, at = self._schema, Row(), 0
        while True:
            if schema.quote and line.startswith(schema.quote, at):
                field, line, at = self._quoted(line, at + 1)
            else:
                field, line, at = self._bare(line, at)
            row.append(field)
            if not line.startswith(schema.separator, at):
                return row
            at += 1

    def _bare(self, line: str, at: int) -> tuple[str, str, int]:
        """A field without quotes; the line and the place behind it."""
        schema, made = self._schema, list[str]()
        ends = (schema.separator, "\n", "\r")
        while at < len(line) and line[at] not in ends:
            if line[at] != schema.escape:
                made.append(line[at])
                at += 1
                continue
            char, at = self._escaped(line, at + 1)
            made.append(char)
            if at == len(line):  # the line end was escaped
                line, at = next(self._lines(), ""), 0
        return "".join(made), line, at

    def _escaped(self, line: str, at: int) -> tuple[str, int]:
        """The character that an escape before the place stands for, and the place behind it."""
        if at == len(line):
            raise csv.Error("the file ends behind an escape")
        return _ESCAPED.get(line[at], line[at]), at + 1

    def _quoted(self, line: str, at: int) -> tuple[str, str, int]:
        """A field after its opening quote; the line and the place behind it."""
        schema, made = self._schema, list[str]()
        while True:
            while at == len(line):
                line, at = next(self._lines(), ""), 0
                if not line:
                    raise csv.Error("a quote is not closed")
            char = line[at]
            if char == schema.escape:
                char, at = self._escaped(line, at + 1)
                made.append(char)
            elif char != schema.quote:
                made.append(char)
                at += 1
            elif line.startswith(schema.quote, at + 1):
                made.append(char)
                at += 2
            else:
                return "".join(made), line, self._behind(line, at + 1)

    def _behind(self, line: str, at: int) -> int:
        """The place behind spaces that follow a closing quote."""
        while at < len(line) and line[at] in " \t" and line[at] != self._schema.separator:
            at += 1
        if at < len(line) and line[at] not in (self._schema.separator, "\n", "\r"):
            raise csv.Error(f"{line[at]!r} stands behind a closing quote")
        return at


def batches(rows: CsvRows, size: int) -> Iterator[list[Row]]:
    """Rows, some at a time."""
    while batch := list(islice(rows, size)):
        yield batch
