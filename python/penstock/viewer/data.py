"""The data of a plan's page, written so that no text of a program can break out of its place."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, TypedDict

import penstock
from penstock.analysis.model import EdgeModel, JobEdgeModel, OperatorModel, ProgramModel, VertexModel

FORMAT = 1  # version of the data

_ESCAPED = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


class Verdict(TypedDict):
    """Whether a plan loses state of an older one, in one sentence, and each problem in some."""

    safe: bool
    text: str
    problems: list[str]


def page_data(
    model: ProgramModel,
    changes: Mapping[int, Mapping[str, Any]] | None = None,
    feed: Mapping[str, Any] | None = None,
    verdict: Verdict | None = None,
    native: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The data of a page: a plan, the changes of operators since an older plan by node, the feed of a running job, the
    verdict on state of the older plan, and what native code runs, as of :func:`penstock.analysis.native_code.as_dict`.
    O(operators + edges)."""
    here = os.path.join(os.getcwd(), "")  # files below it are named relative to it, as a page may be shared
    sites = [operator.site for operator in model.operators]
    states = [operator.states for operator in model.operators]
    more: dict[str, list[Any]] = {
        "states": [None if kept is None else [asdict(state) for state in kept] for kept in states],
        "file": [site and site.file.removeprefix(here) for site in sites],
        "line": [site and site.line for site in sites],
        "call": [site and site.call for site in sites],
    }
    if changes is not None:
        more["change"] = [changes.get(operator.node) for operator in model.operators]
    if native is not None:
        functions = {operator["node"]: operator["functions"] for operator in native["operators"]}
        for verdicts in functions.values():
            for one in verdicts:
                one["file"] = one["file"] and one["file"].removeprefix(here)
        more["functions"] = [functions.get(operator.node) for operator in model.operators]
    resources = {"resources": [dict(vertex.resources) for vertex in model.vertices]}
    document = {
        "name": model.name,
        "flink": model.flink,
        "refused": model.refused,
        "operators": table(model.operators, _names(OperatorModel, "states", "site"), more),
        "edges": table(model.edges, _names(EdgeModel)),
        "vertices": table(model.vertices, _names(VertexModel, "resources"), resources),
        "job_edges": table(model.job_edges, _names(JobEdgeModel)),
        "penstock": penstock.__version__,
        "verdict": verdict,
        "native": None if native is None else native["native"],
    }
    return {"format": FORMAT, "model": document, "live": None if feed is None else dict(feed)}


def _names(of: type, *without: str) -> list[str]:
    return [field.name for field in fields(of) if field.name not in without]


def embedded(data: Any) -> str:
    """JSON for a script element of an HTML page: nothing in it begins a tag, a comment or an entity, or ends a line of
    JavaScript."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # lone surrogates, which a name may have, are no UTF-8
    return text.translate(_ESCAPED).encode("utf-8", "backslashreplace").decode("utf-8")


_FEW = 4  # with at least so many rows per distinct value, values are written once


def table(
    rows: Sequence[object], fields: Iterable[str], more: Mapping[str, Sequence[Any]] | None = None
) -> dict[str, Any]:
    """Objects as a table by column, so that 100,000 operators with few distinct values are few and short lists;
    ``more`` are columns that are not attributes of the objects. O(rows times fields)."""
    columns = {name: column([getattr(row, name) for row in rows]) for name in fields}
    columns.update({name: column(values) for name, values in (more or {}).items()})
    return {"rows": len(rows), "columns": columns}


def column(values: Sequence[Any]) -> Any:
    """A column: a list of its values, ``{"all": value}`` if all are equal, or ``{"of": values, "at": positions}`` if
    few are distinct. Values that are not hashable stay as they are."""
    positions: dict[Hashable, int] = {}
    most = max(len(values) // _FEW, 1)
    at: list[int] = []
    for value in values:
        try:
            at.append(positions.setdefault((type(value), value), len(positions)))
        except TypeError:
            return list(values)
        if len(positions) > most:
            return list(values)
    distinct = [value for _, value in positions]  # type: ignore[misc]
    if len(distinct) == 1:
        return {"all": distinct[0]}
    return {"of": distinct, "at": at} if values else []
