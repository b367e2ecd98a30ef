"""A page: one HTML file with a plan in it."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from penstock.analysis.builder import model_of, model_of_graph
from penstock.analysis.model import ProgramModel
from penstock.analysis.native_code import as_dict
from penstock.errors import ConfigurationError, InvalidProgramError
from penstock.plan import JobGraph, Pipeline, StreamGraph
from penstock.viewer.data import embedded, page_data

ASSET = "viewer.html"
_HEIGHT = 560  # pixels of a page in a notebook
_LONGEST_TITLE = 200
_PLACE = re.compile(r"\{\{([A-Z]+)\}\}")


class Program(Protocol):
    """A program that has a plan, such as an environment."""

    def to_pipeline(self) -> Pipeline:
        """It, as a job that nobody runs."""
        ...


Plan = ProgramModel | Pipeline | StreamGraph | JobGraph | Program  # the kinds of plans that can be viewed


class Page:
    """A plan as a page, named like its job, with data of :func:`penstock.viewer.data.page_data`. In a notebook it shows
    itself."""

    def __init__(self, name: str, data: Mapping[str, Any]) -> None:
        self._name = name
        self._data = data

    def __repr__(self) -> str:
        return f"Page({self._name!r}, {self._data['model']['operators']['rows']:,} operators)"

    def html(self) -> str:
        """The whole page. It loads nothing, and runs no script but its own; O(operators + edges). A ConfigurationError
        if this Penstock was installed without the built viewer."""
        name = "".join(mark if mark.isprintable() else " " for mark in self._name[:_LONGEST_TITLE])
        return filled(
            TITLE=html.escape(name or "Plan"),
            CONNECT="'none'" if self._data["live"] is None else "'self'",
            DATA=f'<script type="application/json" id="plan">{embedded(self._data)}</script>',
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page into a file, such as ``plan.html``, which is replaced if it is there."""
        target = Path(path)
        target.write_text(self.html(), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        """For notebooks: a frame that has the page in it, and may run its script but see nothing around it."""
        source = html.escape(self.html())
        style = "width:100%;border:1px solid #8886;border-radius:8px"
        return (
            f'<iframe srcdoc="{source}" sandbox="allow-scripts allow-downloads allow-modals" title="Plan" '
            f'height="{_HEIGHT}" style="{style}"></iframe>'
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """For notebooks: as HTML where that is shown, and else as a line of text."""
        return {"text/html": self._repr_html_(), "text/plain": f"{self!r}; .save('plan.html') writes it"}


def view(plan: Plan, other: Plan | None = None) -> Page:
    """A page that shows a plan: its three graphs, chains, IDs, verdicts, states, and where operators were made.

    Args:
        plan: a program (an environment, or a :class:`~penstock.plan.Pipeline`), a model of one, or a planner's graph.
        other: an older plan; then the page also shows what has become of each operator since, and why.

    Raises:
        InvalidProgramError: it is not one of these, or a program without operators.
    """
    program = _pipeline(plan)
    model = as_model(plan if program is None else program)
    native = None if program is None else as_dict(program)
    if other is None:
        return Page(model.name, page_data(model, native=native))
    from penstock.compare.difference import compare
    from penstock.viewer.changes import judged, united

    difference = compare(as_model(other), model)
    both, changes = united(difference)
    return Page(both.name, page_data(both, changes, verdict=judged(difference), native=native))


def _pipeline(plan: Plan) -> Pipeline | None:
    """The program of a plan, whose functions are known; None where there is only a graph, or no plan."""
    if isinstance(plan, Pipeline):
        return plan
    if isinstance(plan, (ProgramModel, StreamGraph, JobGraph, type)) or not hasattr(plan, "to_pipeline"):
        return None
    return plan.to_pipeline()


def as_model(plan: Plan) -> ProgramModel:
    """The model of a plan, as of :func:`view`. O(operators + edges)."""
    if isinstance(plan, ProgramModel):
        return plan
    if isinstance(plan, Pipeline):
        return model_of(plan)
    if isinstance(plan, JobGraph):
        return model_of_graph(plan.stream_graph, plan.flink)
    if isinstance(plan, StreamGraph):
        return model_of_graph(plan)
    if isinstance(plan, type) or not hasattr(plan, "to_pipeline"):
        kind = f"the class {plan.__name__}" if isinstance(plan, type) else f"an object of {type(plan).__name__}"
        raise InvalidProgramError(
            f"view() was given {kind}, which has no plan. Give an environment, such as env of your program before "
            "env.execute(), a Pipeline, a StreamGraph or a JobGraph."
        )
    return model_of(plan.to_pipeline())


def filled(**values: str) -> str:
    """The built page with its places filled, in one go: what is put in can hold whatever it likes."""
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), _template())


@cache
def _template() -> str:
    try:
        return (files("penstock.viewer") / ASSET).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(
            f"This Penstock has no viewer: penstock/viewer/{ASSET} is missing. It was installed from a "
            "checkout where Node.js was not found or the page could not be built. Install Node.js 18 or newer, and run "
            "`pip install --force-reinstall --no-deps .` there, or `make viewer` where the sources themselves are run."
        ) from None
