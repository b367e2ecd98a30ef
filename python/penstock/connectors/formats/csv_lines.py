"""Rows of CSV as texts, and texts as rows, as Jackson does it for Flink: for files and for messages.

Sources of the semantics: Jackson's ``CsvDecoder`` and ``CsvEncoder``. Both take O(the row).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from penstock.connectors.parts import Unfit

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
            end = self._line_end(text, at)
            return text[at:end].split(self._separator)
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
            found = self._ends.search(text, at)
            end = len(text) if found is None else found.start()
            parts.append(text[at:end])
            if found is None or found[0] != self._escape:
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
            found = self._special.search(text, at)
            if found is None:
                parts.append(text[at:])
                following = more()
                if not following:
                    raise Unfit(text, f"has no closing {self._quote} of a field")
                text, at = following, 0
                continue
            parts.append(text[at : found.start()])
            at = found.end()
            if found[0] == self._escape:
                parts.append(self._unescaped(text, at))
            elif text.startswith(self._quote, at):
                parts.append(self._quote)
            else:
                return "".join(parts), text, self._behind(text, at)
            at += 1

    def _behind(self, text: str, at: int) -> int:
        """The place of the separator, or the end, behind a closing quote."""
        found = self._blanks.match(text, at)
        end = at if found is None else found.end()
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
