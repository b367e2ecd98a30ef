"""Texts for terminals and notebooks: escaped, or shown line by line."""

from __future__ import annotations

import unicodedata
from typing import Any

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str, limit: int | None = None) -> str:
    r"""A text with invisible characters as escapes, such as ``\n`` or ``\u202e``, so that names of strangers cannot
    control a terminal or the direction of writing; cut after ``limit`` characters. O(characters)."""
    cut = text if limit is None or len(text) <= limit else text[: limit - 1] + "…"
    if cut.isascii() and cut.isprintable():
        return cut
    return "".join(c.encode("unicode_escape").decode() if unicodedata.category(c) in _UNSEEN else c for c in cut)


def annotation(
    level: str, title: str, text: str, file: str | None = None, line: int | None = None, last: int | None = None
) -> str:
    """A workflow command of GitHub, which shows it beside lines of a file; ``level`` is ``error``, ``warning`` or
    ``notice``."""

    def data(value: object) -> str:
        return str(value).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    parts = {"file": file, "line": line, "endLine": last, "title": title}
    known = {name: data(value) for name, value in parts.items() if value is not None}
    values = ",".join(f"{name}={value.replace(':', '%3A').replace(',', '%2C')}" for name, value in known.items())
    return f"::{level} {values}::{data(text)}"


class Lines(str):
    """A text that a notebook and IPython show line by line instead of quoted, with ``\\n``; or laid out, if it is
    Markdown."""

    __slots__ = ("_markdown",)
    _markdown: bool

    def __new__(cls, text: str, *, markdown: bool = False) -> Lines:
        lines = super().__new__(cls, text)
        lines._markdown = markdown
        return lines

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # a text's own ``repr`` would come before a ``_repr_mimebundle_``
        printer.text(str(self))

    def _repr_markdown_(self) -> str | None:
        return str(self) if self._markdown else None
