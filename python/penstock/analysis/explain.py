"""A program explained: one call for all formats and levels."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

from penstock.analysis.builder import model_of
from penstock.analysis.model import ProgramModel
from penstock.analysis.pictures import dot, mermaid
from penstock.analysis.program import Program
from penstock.analysis.texts import FORMATS, LEVELS, markdown, reasons
from penstock.analysis.why import why
from penstock.common import checks

_WIDTH = 100
_PARTS = {"stream": ("operators", "edges"), "job": ("vertices", "job_edges"), "execution": ("vertices", "job_edges")}


def explain(program: Program, format: str = "terminal", level: str | None = None) -> str:
    """A program's plan as a text, as :meth:`penstock.plan.Pipeline.explain` documents it. O(operators + edges)."""
    if format not in FORMATS:
        checks.refuse(f"explain() was given the format {format!r}. Give one of {', '.join(FORMATS)}.")
    if level is not None and level not in LEVELS:
        checks.refuse(f"explain() was given the level {level!r}. Give one of {', '.join(LEVELS)}, or leave it out.")
    if level is not None and format.startswith("flink-"):
        checks.refuse(
            f"explain() was given the level {level!r} and the format {format!r}, which is of one level only. Leave the "
            "level out."
        )
    if format == "flink-stream":
        return program.stream_graph.streaming_plan_json()
    if format == "flink-job":
        return program.job_graph().json_plan()
    states = format == "json" or (format == "terminal" and level in (None, "stream"))
    model = model_of(program, states=states)
    if format == "terminal":
        return _drawn(model, level)
    if format == "json":
        return json.dumps(document(program, model, level), indent=2)
    if format == "markdown":
        return markdown(model, LEVELS if level is None else (level,)).removesuffix("\n")
    return (dot if format == "dot" else mermaid)(model, level or "job").removesuffix("\n")


def document(program: Program, model: ProgramModel, level: str | None = None) -> dict[str, Any]:
    """The JSON of a plan: its model, and the graph as ``spec``, which `penstock plan` and `penstock uid` read."""
    whole = model.to_dict()
    if level is None:
        return {**whole, "spec": program.stream_graph.to_dict()}
    return {key: whole[key] for key in ("format", "name", "flink", *_PARTS[level], "refused")}


def explain_id(program: Program, operator: str, format: str = "terminal") -> str:
    """Why an operator, given by uid, name, number or ID, has its ID, and which edits would move it."""
    formats = ("terminal", "markdown", "json")
    if format not in formats:
        checks.refuse(f"Why an operator has its ID is written as {', '.join(formats)}, not as {format!r}. Give one.")
    answer = why(model_of(program, states=False), program.stream_graph, operator)
    if format == "json":
        return json.dumps(answer.to_dict(), indent=2)
    return reasons(answer, as_markdown=format == "markdown").removesuffix("\n")


def _drawn(model: ProgramModel, level: str | None) -> str:
    from rich.console import Console

    from penstock.analysis import drawing
    from penstock.display.tables import Shown, heading

    out = io.StringIO()
    plain: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False, "color_system": None}
    # in a notebook rich shows what it prints, and writes nothing into the file, unless it is told that this is none
    console = Console(file=out, width=_WIDTH, force_jupyter=False, force_terminal=False, **plain)
    console.print(heading(f'Plan of job "{model.name}" as Flink {model.flink}'))
    for part in drawing.program(model, Shown(sys.maxsize), LEVELS if level is None else (level,)):
        console.print(part)
    if model.refused is not None and level != "stream":
        console.print(f"\nRefused: {model.refused}")
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
