"""A line of CSV as fields, and fields as a line, as Jackson does it for Flink.

Sources of the semantics: Jackson's ``CsvDecoder`` and ``CsvEncoder``. Both take O(the line).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.runtime.io.java_texts import Unfit

_MEANT = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_LONGEST_LOOKED_AT = 24
"""A longer text gets quotation marks whatever is in it."""


@dataclass(frozen=True)
class CsvForm:
    """How lines look.

    Attributes:
        field_delimiter: between fields, one character.
        line_delimiter: behind a line that is written.
        array_delimiter: between the elements of an array or of a row in a row.
        quote: around fields; "" for none.
        escape: before a character that is meant as it is; "" for none.
        null: what stands for None; None if nothing does.
        comments: whether lines that begin with # are passed over, and empty ones.
    """

    field_delimiter: str = ","
    line_delimiter: str = "\n"
    array_delimiter: str = ";"
    quote: str = '"'
    escape: str = ""
    null: str | None = None
    comments: bool = False


def splitter(form: CsvForm, count: int) -> Callable[[str], list[str]]:
    """What takes the first line of a message apart.

    Args:
        form: of the lines.
        count: of the fields; one delimiter may follow the last.
    """
    ends = re.compile(f"[{re.escape(form.field_delimiter + form.escape)}\r\n]")

    def split(message: str) -> list[str]:
        start, fields = _first_line(message, form.comments), []
        while True:
            quoted = bool(form.quote) and message.startswith(form.quote, start)
            field, end = _quoted(message, start + 1, form) if quoted else _bare(message, start, form, ends)
            fields.append(field)
            if end >= len(message) or message[end] in "\r\n":
                break
            start = end + 1
        if len(fields) == count + 1 and fields[-1] == "":
            fields.pop()
        if len(fields) > count:
            raise Unfit(message, f"has {len(fields)} fields, and the type has {count}")
        return fields

    return split


def _first_line(message: str, comments: bool) -> int:
    """Where the first line begins that is no comment."""
    start = int(message.startswith("\ufeff"))
    while comments and start < len(message) and message[start] in "#\r\n":
        end = re.compile("[\r\n]").search(message, start)
        start = len(message) if end is None else end.end()
    if start == len(message):
        raise Unfit(message, "has no line")
    return start


def _bare(message: str, start: int, form: CsvForm, ends: re.Pattern[str]) -> tuple[str, int]:
    """A field without quotation marks, and where it ends."""
    parts: list[str] = []
    while True:
        found = ends.search(message, start)
        end = len(message) if found is None else found.start()
        parts.append(message[start:end])
        if found is None or not form.escape or found[0] != form.escape:
            return "".join(parts), end
        parts.append(_unescaped(message, end + 1))
        start = end + 2


def _quoted(message: str, start: int, form: CsvForm) -> tuple[str, int]:
    """A field whose quotation mark has been read, and where it ends."""
    parts: list[str] = []
    stops = re.compile(f"[{re.escape(form.quote + form.escape)}]")
    while True:
        found = stops.search(message, start)
        if found is None:
            raise Unfit(message, f"has no closing {form.quote} of a field")
        parts.append(message[start : found.start()])
        start = found.end()
        if found[0] == form.escape:
            parts.append(_unescaped(message, start))
        elif message.startswith(form.quote, start):
            parts.append(form.quote)
        else:
            return "".join(parts), _behind(message, start, form)
        start += 1


def _behind(message: str, start: int, form: CsvForm) -> int:
    """Where the delimiter behind a closing quotation mark is."""
    while message.startswith(" ", start) and form.field_delimiter != " ":
        start += 1
    if start < len(message) and message[start] not in f"\r\n{form.field_delimiter}":
        raise Unfit(message, f"goes on behind the closing {form.quote} of a field")
    return start


def _unescaped(message: str, at: int) -> str:
    if at >= len(message):
        raise Unfit(message, "ends behind an escape character")
    return _MEANT.get(message[at], message[at])


def joiner(form: CsvForm) -> Callable[[Sequence[str | None], Sequence[bool]], str]:
    """What makes a line of fields: of the texts, and whether each is a plain number that never gets quotation marks."""
    special = "\\" + "".join(map(chr, range(max(map(ord, f"{form.field_delimiter}{form.quote}\r\n")) + 1)))
    dangerous = re.compile(f"[{re.escape(special)}]")
    null = form.null or ""

    def text(field: str | None, plain: bool) -> str:
        if field is None or plain or not form.quote:
            return null if field is None else field
        units = len(field) if field.isascii() else len(field.encode("utf-16-le", "surrogatepass")) // 2
        if units <= _LONGEST_LOOKED_AT and not dangerous.search(field):
            return field
        inside = field.replace(form.escape, form.escape * 2) if form.escape else field
        return f"{form.quote}{inside.replace(form.quote, form.quote * 2)}{form.quote}"

    def join(fields: Sequence[str | None], plain: Sequence[bool]) -> str:
        return form.field_delimiter.join(map(text, fields, plain)) + form.line_delimiter

    return join
