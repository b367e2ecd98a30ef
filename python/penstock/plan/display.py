"""What the native graphs show of themselves where rich prints them, or a notebook. Their classes are Rust's, which
knows neither, so they get it from here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock._native import ExecutionGraph, JobGraph, StreamGraph
from penstock.display import ROWS

if TYPE_CHECKING:
    from rich.console import RenderableType


def _rich(function: str) -> Callable[[Any], RenderableType]:
    def rich(graph: Any) -> RenderableType:
        from penstock.display.tables import Shown
        from penstock.plan import drawing

        return getattr(drawing, function)(graph, Shown(ROWS))

    return rich


def _html(graph: Any) -> str:
    from penstock.display.html import html

    return html(graph.__rich__())


def give_display() -> None:
    """Let rich and notebooks draw the three graphs."""
    graphs = {StreamGraph: "stream_graph", JobGraph: "job_graph", ExecutionGraph: "execution_graph"}
    for graph, function in graphs.items():
        for name, method in {"__rich__": _rich(function), "_repr_html_": _html}.items():
            setattr(graph, name, method)
