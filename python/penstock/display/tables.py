"""Tables without lines, and the few styles there are. A layout needs 100 columns; operator IDs are never broken, names
are folded. Texts are never read as markup: a name may have brackets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

YES, NO, QUIET, TITLE, IDENTITY = "green", "yellow", "dim", "bold", "cyan"

_FIXED = frozenset(
    (
        *("operator ID", "ID from", "id", "edge", "p", "edges", "subtasks", "max p", "distribution", "partitioner"),
        *("in", "out", "late", "tasks", "in/s", "out/s", "records", "lag", "keys", "state", "busy"),
    )
)
"""Columns whose texts are not folded."""

Drawn = Iterator[RenderableType]


@dataclass(frozen=True)
class Shown:
    """How much of a table is shown: so many rows, with a hint behind the number of omitted rows; ``width`` is the
    characters of a line, for drawings that can do without some columns."""

    rows: int
    hint: str = ""
    width: int = 100

    def table(self, columns: Iterable[str], rows: Iterable[Iterable[str | Text]], total: int, what: str) -> Drawn:
        """An indented table, and the number of omitted rows. ``>`` in front of a column's name aligns it to the right;
        ``what`` names the rows, in the plural."""
        if total:
            table = _borderless(columns)
            for _, row in zip(range(self.rows), rows, strict=False):
                table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
            yield Padding(table, (1, 0, 0, 2))
        yield from self.rest(total, what)

    def listed(self, columns: Iterable[str], rows: Iterable[Iterable[str | Text]], what: str) -> Drawn:
        """A table of rows whose number is known then."""
        known = list(rows)
        return self.table(columns, known, len(known), what)

    def rest(self, total: int, what: str) -> Drawn:
        """A line with the number of rows that are not shown."""
        if total > self.rows:
            yield Text(f"  … and {total - self.rows:,} more {what}{self.hint}", style=NO)


def heading(text: str) -> Text:
    """A title line."""
    return Text(text, style=TITLE)


def section(title: str, *parts: RenderableType) -> Group:
    """A title and its parts, after an empty line."""
    return Group(Text(""), heading(title), *parts)


def identity(operator_id: str) -> Text:
    """An operator ID."""
    return Text(operator_id, style=IDENTITY)


def count(number: int, one: str, many: str | None = None) -> str:
    """Such as ``1,000 edges``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _borderless(columns: Iterable[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    for name in columns:
        text = name.lstrip(">")
        justify = "right" if name != text else "left"
        table.add_column(text, justify=justify, no_wrap=text in _FIXED, overflow="fold")
    return table
