"""Two plans in one: the newer one with the removed operators, and the change of each operator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.analysis.model import EdgeModel, OperatorModel, ProgramModel
from penstock.compare.difference import Difference, OperatorDiff
from penstock.compare.texts import shown, verdict
from penstock.viewer.data import Verdict

CHANGED = "changed"  # the status of an operator that has kept its ID, and differs otherwise
LOST = "lost"  # the status of an operator whose state is not found again
_LOSES = frozenset(("orphaned", "taken by another", "blocked", "lost in part"))
_KEEPS = frozenset(("kept", "new"))


def united(difference: Difference) -> tuple[ProgramModel, dict[int, dict[str, Any]]]:
    """The newer plan with the operators that were removed, and the change of each operator by node. Removed operators
    have new, higher node numbers and are in no vertex; their edges are added again. O(operators + edges)."""
    new, old = difference.new, difference.old
    after = max((operator.node for operator in new.operators), default=0) + 1
    here = {operator.old.node: operator.new.node for operator in difference.operators if operator.old and operator.new}
    gone: list[OperatorModel] = []
    changes: dict[int, dict[str, Any]] = {}
    for operator in difference.operators:
        node = -1 if operator.new is None else operator.new.node
        if operator.new is None and operator.old is not None:
            node = here[operator.old.node] = after + len(gone)
            gone.append(replace(operator.old, node=node, vertex=None, chain_index=None))
        changes[node] = _change(operator)
    removed, back = {operator.node for operator in gone}, list[EdgeModel]()
    for index, edge in enumerate(old.edges, len(new.edges)):
        source, target = here.get(edge.source), here.get(edge.target)
        if source is not None and target is not None and not removed.isdisjoint((source, target)):
            reason = f"it was {'chained' if edge.chained else 'there'} in the older plan"
            ends = {"source": source, "target": target, "index": index}
            back.append(replace(edge, **ends, chained=False, rule=None, reason=reason))
    return replace(new, operators=(*new.operators, *gone), edges=(*new.edges, *back)), changes


def judged(difference: Difference) -> Verdict:
    """The verdict of a page of two plans."""
    problems = [f"{shown(problem.operator, 100)}: {shown(problem.text, 1000)}." for problem in difference.problems]
    return {"safe": difference.safe, "text": verdict(difference), "problems": problems}


def _change(diff: OperatorDiff) -> dict[str, Any]:
    document = diff.to_dict()
    status = CHANGED if diff.change == "kept" and diff.differs else diff.change
    details = {
        "old ID": document.get("old_id") if diff.change == "moved" else None,
        "was called": diff.old.name if diff.old and diff.new and diff.old.name != diff.new.name else None,
        "state": None if diff.state == "none" else diff.state,
        "takes the state of": diff.takes or None,
        "what differs": list(diff.changes),
        "states": [f"{fate.name}: {fate.fate}{f', {fate.text}' if fate.text else ''}" for fate in diff.states],
    }
    loses = diff.state in _LOSES or any(fate.fate not in _KEEPS for fate in diff.states)
    return {
        "status": LOST if loses else status,
        "change": status,
        "cause": "" if diff.cause is None else diff.cause.text,
        "details": {name: value for name, value in details.items() if value},
    }
