"""Drawings of rich as HTML for a notebook, without a style sheet and in the notebook's own colours."""

from __future__ import annotations

from html import escape

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from penstock.display.tables import IDENTITY, NO, QUIET, TITLE, YES

_STYLES = {
    TITLE: "font-weight:bold",
    QUIET: "opacity:.65",
    IDENTITY: "font-family:monospace",
    YES: "color:#2e8b57",
    NO: "color:#b8860b",
}
_CELL = "padding:2px 12px 2px 0;vertical-align:top;white-space:pre-line;text-align:"


def html(part: RenderableType) -> str:
    """A drawing of groups, paddings, tables and texts as HTML; a TypeError for anything else."""
    if isinstance(part, Text):
        return f"<div>{_text(part)}</div>" if part.plain.strip() else "<br>"
    if isinstance(part, Group):
        return "".join(map(html, part.renderables))
    if isinstance(part, Padding):
        return f'<div style="margin-left:{part.left}em">{html(part.renderable)}</div>'
    if isinstance(part, Table):
        return _table(part)
    raise TypeError(f"{type(part).__name__} has no form in HTML here")


def _table(table: Table) -> str:
    columns = table.columns
    head = "".join(_cell("th", column.justify, escape(str(column.header))) for column in columns)
    body = ""
    for row in zip(*(column.cells for column in columns), strict=True):
        cells = (_cell("td", column.justify, _text(cell)) for column, cell in zip(columns, row, strict=True))
        body += f"<tr>{''.join(cells)}</tr>"
    top = f"<thead><tr>{head}</tr></thead>" if table.show_header else ""
    return f'<table style="border-collapse:collapse;margin:.3em 0 .6em">{top}<tbody>{body}</tbody></table>'


def _cell(tag: str, side: str, content: str) -> str:
    return f'<{tag} style="{_CELL}{side}">{content}</{tag}>'


def _text(cell: RenderableType) -> str:
    """A text with its styles, those of parts after that of the whole."""
    if not isinstance(cell, Text):
        return escape(str(cell))
    pieces, end = list[str](), 0
    for span in cell.spans:
        pieces += [escape(cell.plain[end : span.start]), _styled(escape(cell.plain[span.start : span.end]), span.style)]
        end = span.end
    return _styled("".join(pieces) + escape(cell.plain[end:]), cell.style)


def _styled(text: str, style: object) -> str:
    css = _STYLES.get(str(style))
    return f'<span style="{css}">{text}</span>' if css and text else text
