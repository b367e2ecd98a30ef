"""What of a plan goes into its page, and how that is written so that no text of a program can leave its place."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from penstock.analysis.model import EdgeModel, JobEdgeModel, OperatorModel, ProgramModel, VertexModel
from penstock.viewer.columns import table

FORMAT = 1
"""Of the data; the page reads this one."""

_APART = ("states", "site")
_ESCAPED = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


def page_data(
    model: ProgramModel, changes: Mapping[int, Mapping[str, Any]] | None = None, feed: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """All that a page shows. O(operators + edges).

    Args:
        model: the plan.
        changes: what has become of operators since an older plan, by node.
        feed: where the page finds the numbers of a running job, and how often it asks.
    """
    return {"format": FORMAT, "model": _model(model, changes), "live": None if feed is None else dict(feed)}


def _model(model: ProgramModel, changes: Mapping[int, Mapping[str, Any]] | None) -> dict[str, Any]:
    more: dict[str, list[Any]] = {"states": [_states(each) for each in model.operators], **_sites(model)}
    if changes is not None:
        more["change"] = [changes.get(each.node) for each in model.operators]
    return {
        "name": model.name,
        "flink": model.flink,
        "refused": model.refused,
        "operators": table(model.operators, _names(OperatorModel, _APART), more),
        "edges": table(model.edges, _names(EdgeModel)),
        "vertices": table(model.vertices, _names(VertexModel, ("resources",)), _resources(model)),
        "job_edges": table(model.job_edges, _names(JobEdgeModel)),
    }


def _names(of: type, without: tuple[str, ...] = ()) -> list[str]:
    return [each.name for each in fields(of) if each.name not in without]


def _resources(model: ProgramModel) -> dict[str, list[Any]]:
    return {"resources": [dict(each.resources) for each in model.vertices]}


def _states(operator: OperatorModel) -> list[dict[str, Any]] | None:
    return None if operator.states is None else [asdict(state) for state in operator.states]


def _sites(model: ProgramModel) -> dict[str, list[Any]]:
    """Places as columns; files below the working folder relative to it, as a page may be handed on."""
    here = os.path.join(os.getcwd(), "")
    sites = [each.site for each in model.operators]
    return {
        "file": [None if site is None else site.file.removeprefix(here) for site in sites],
        "line": [None if site is None else site.line for site in sites],
        "call": [None if site is None else site.call for site in sites],
    }


def embedded(data: Any) -> str:
    """JSON that may stand in a script element of an HTML page: nothing in it begins a tag, a comment or an entity, nor
    ends a line of JavaScript.

    Args:
        data: what JSON can write.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # lone surrogates, which a name may have, are no UTF-8
    return text.translate(_ESCAPED).encode("utf-8", "backslashreplace").decode("utf-8")
