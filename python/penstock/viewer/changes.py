"""Two plans in one: the newer one, with what has gone beside what is there, and what has become of each operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.analysis.model import EdgeModel, OperatorModel, ProgramModel
from penstock.compare.difference import Difference, OperatorDiff

CHANGED = "changed"
"""What the page calls an operator that has kept its ID, and differs otherwise."""


def united(difference: Difference) -> tuple[ProgramModel, dict[int, dict[str, Any]]]:
    """The newer plan with the operators that were removed, and the change of each operator by node. O(operators +
    edges).

    Args:
        difference: of the two plans.

    Returns:
        Removed operators have new, higher node numbers and are in no vertex; edges that they had are there again.
    """
    new, old = difference.new, difference.old
    after = max((each.node for each in new.operators), default=0) + 1
    here = {each.old.node: each.new.node for each in difference.operators if each.old and each.new}
    gone: list[OperatorModel] = []
    changes: dict[int, dict[str, Any]] = {}
    for each in difference.operators:
        node = -1 if each.new is None else each.new.node
        if each.new is None and each.old is not None:
            node = here[each.old.node] = after + len(gone)
            gone.append(replace(each.old, node=node, vertex=None, chain_index=None))
        changes[node] = _change(each)
    removed = {each.node for each in gone}
    edges = [_moved(edge, here, len(new.edges) + at) for at, edge in enumerate(old.edges) if _known(edge, here)]
    back = tuple(edge for edge in edges if edge.source in removed or edge.target in removed)
    return replace(new, operators=(*new.operators, *gone), edges=(*new.edges, *back)), changes


def _known(edge: EdgeModel, here: Mapping[int, int]) -> bool:
    return edge.source in here and edge.target in here


def _moved(edge: EdgeModel, here: Mapping[int, int], index: int) -> EdgeModel:
    reason = f"it was {'chained' if edge.chained else 'there'} in the older plan"
    return replace(
        edge, source=here[edge.source], target=here[edge.target], index=index, chained=False, rule=None, reason=reason
    )


def _change(each: OperatorDiff) -> dict[str, Any]:
    """What the page tells of an operator."""
    told = each.to_dict()
    status = CHANGED if each.change == "kept" and each.differs else each.change
    details = {
        "old ID": told.get("old_id") if each.change == "moved" else None,
        "was called": each.old.name if each.old and each.new and each.old.name != each.new.name else None,
        "state": None if each.state == "none" else each.state,
        "takes the state of": each.takes or None,
        "what differs": list(each.changes),
        "states": [f"{fate.name}: {fate.fate}{f', {fate.text}' if fate.text else ''}" for fate in each.states],
    }
    cause = "" if each.cause is None else each.cause.text
    return {"status": status, "cause": cause, "details": {name: value for name, value in details.items() if value}}
