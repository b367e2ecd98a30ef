"""A program explained: one call for all formats and levels."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from typing import Any

from penstock.analysis.formats.dot import dot
from penstock.analysis.formats.flink import to_flink_job_json, to_flink_stream_json
from penstock.analysis.formats.lines import FORMATS, LEVELS
from penstock.analysis.formats.markdown import markdown
from penstock.analysis.formats.mermaid import mermaid
from penstock.analysis.formats.reasons import reasons
from penstock.analysis.model import ProgramModel
from penstock.analysis.reading import model_of
from penstock.analysis.why import why
from penstock.common import checks
from penstock.errors import PenstockError
from penstock.plan import Pipeline

_WIDTH = 100
_PARTS = {"stream": ("operators", "edges"), "job": ("vertices", "job_edges"), "execution": ("vertices", "job_edges")}


def explain(pipeline: Pipeline, format: str = "terminal", level: str | None = None) -> str:
    """A program's plan as a text. O(operators + edges), whatever the parallelism.

    Args:
        pipeline: the program.
        format: ``terminal`` (plain lines of 100 columns), ``markdown``, ``dot``, ``mermaid``, ``json`` (the model of
            :mod:`penstock.analysis.model`), or Flink's own: ``flink-stream``, ``flink-job``.
        level: ``stream``, ``job`` or ``execution``. None: all of them, in a picture the second. Flink's formats are of
            one level each.

    Raises:
        InvalidProgramError: an unknown format or level.
        PlanError: what the planner refuses, for Flink's formats; the others say so in the text.
    """
    _check(format, level)
    if format == "terminal":
        return _drawn(pipeline, level)
    if format == "flink-stream":
        return to_flink_stream_json(pipeline.stream_graph)
    if format == "flink-job":
        return to_flink_job_json(pipeline.job_graph())
    return _of_model[format](model_of(pipeline, states=format == "json"), level).removesuffix("\n")


def explain_id(pipeline: Pipeline, operator: str, format: str = "terminal") -> str:
    """Why an operator has its ID, and which edits would move it. O(operators + edges), some twenty times.

    Args:
        pipeline: the program.
        operator: its uid, name, number or ID.
        format: ``terminal``, ``markdown`` or ``json``.

    Raises:
        UnknownNameError: no operator is called so, or several are.
        InvalidProgramError: it has no ID; or another format.
    """
    formats = ("terminal", "markdown", "json")
    if format not in formats:
        checks.refuse(f"Why an operator has its ID is told as {', '.join(formats)}, and not as {format!r}. Give one.")
    found = why(model_of(pipeline, states=False), pipeline.stream_graph, operator)
    if format == "json":
        return json.dumps(found.to_dict(), indent=2)
    return reasons(found, as_markdown=format == "markdown").removesuffix("\n")


def _check(form: str, level: str | None) -> None:
    if form not in FORMATS:
        checks.refuse(f"explain() was given the format {form!r}. Give one of {', '.join(FORMATS)}.")
    if level is not None and level not in LEVELS:
        checks.refuse(f"explain() was given the level {level!r}. Give one of {', '.join(LEVELS)}, or leave it out.")
    if level is not None and form.startswith("flink-"):
        checks.refuse(
            f"explain() was given the level {level!r} and the format {form!r}, which is of one level only. Leave the "
            "level out."
        )


def _drawn(pipeline: Pipeline, level: str | None) -> str:
    """The drawing of the terminal, without colours."""
    from rich.console import Console

    from penstock.display.tables import Shown, heading
    from penstock.plan.drawing import program

    out = io.StringIO()
    console = Console(file=out, width=_WIDTH, highlight=False, markup=False, emoji=False, color_system=None)
    console.print(heading(f'Plan of job "{pipeline.name}" as Flink {pipeline.flink}'))
    try:
        for part in program(pipeline, Shown(sys.maxsize), LEVELS if level is None else (level,)):
            console.print(part)
    except PenstockError as error:
        console.print(f"\nRefused: {error}")
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _json(model: ProgramModel, level: str | None) -> str:
    document = model.to_dict()
    if level is not None:
        kept = {"format", "name", "flink", "refused", *_PARTS[level]}
        document = {key: value for key, value in document.items() if key in kept}
    return json.dumps(document, indent=2)


def _markdown(model: ProgramModel, level: str | None) -> str:
    return markdown(model, LEVELS if level is None else (level,))


_of_model: dict[str, Callable[[ProgramModel, Any], str]] = {
    "json": _json,
    "markdown": _markdown,
    "dot": lambda model, level: dot(model, level or "job"),
    "mermaid": lambda model, level: mermaid(model, level or "job"),
}
