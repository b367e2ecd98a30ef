"""What the commands print with rich: in colours on a terminal, as plain lines elsewhere."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import click
from rich.console import Console

from penstock.cli.report import WIDTH

WIDEST = 160
"""Columns that a wide terminal is filled up to; where the output is no terminal it has WIDTH."""


def printer(*, no_color: bool = False, err: bool = False) -> Callable[..., None]:
    """Prints what rich can draw: in colours and up to the terminal's width, or as plain lines of at most 100
    columns.

    Args:
        no_color: no colours on a terminal either.
        err: print to standard error.
    """
    stream = sys.stderr if err else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # arrows must not end the command where the locale has none
    console = Console(stderr=err, no_color=no_color, highlight=False, markup=False, emoji=False)
    if console.is_terminal:
        console.width = min(console.width, WIDEST)
        return console.print
    console.width = WIDTH

    def show(*parts: Any) -> None:
        with console.capture() as capture:
            console.print(*parts)
        click.echo("\n".join(line.rstrip() for line in capture.get().splitlines()), err=err)

    return show
