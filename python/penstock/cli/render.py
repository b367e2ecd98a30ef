"""The output of commands with rich: in colours on a terminal, as plain lines elsewhere."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import click
from rich.console import Console

from penstock.cli.report import WIDTH

WIDEST = 160  # columns that a wide terminal is filled up to; where the output is no terminal it has WIDTH


def printer(*, no_color: bool = False) -> Callable[..., None]:
    """Prints what rich can draw: in colours and up to the terminal's width, or as plain lines of at most 100
    columns."""
    console = _console(no_color=no_color)
    if console.is_terminal:
        return console.print

    def show(*parts: Any) -> None:
        click.echo(_captured(console, parts), nl=False)

    return show


def drawn(*parts: Any) -> str:
    """The output of :func:`printer` on standard error, as a text."""
    return _captured(_console(err=True), parts)


def _console(*, no_color: bool = False, err: bool = False) -> Console:
    stream = sys.stderr if err else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # arrows must not end the command where the locale has none
    console = Console(stderr=err, no_color=no_color, highlight=False, markup=False, emoji=False)
    console.width = min(console.width, WIDEST) if console.is_terminal else WIDTH
    return console


def _captured(console: Console, parts: tuple[Any, ...]) -> str:
    with console.capture() as capture:
        console.print(*parts)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())
