"""Advice on problems that no pin of an ID solves: calls in the program, or another savepoint.

Cost: O(operators) for each problem.
"""

from __future__ import annotations

from penstock.analysis.model import StateModel
from penstock.compare import states
from penstock.compare.difference import (
    KEY_GROUPS,
    MIXED,
    ORPHANED,
    UNREAD,
    UNREADABLE,
    Difference,
    OperatorDiff,
    Problem,
)

_ASKED_FOR = {
    "value": "ValueStateDescriptor",
    "list": "ListStateDescriptor",
    "map": "MapStateDescriptor",
    "reducing": "ReducingStateDescriptor",
    "aggregating": "AggregatingStateDescriptor",
}
_BUILT_IN = ("Reduce", "Fold", "Window", "IntervalJoin")
_NOT_NEEDED = "if it is not needed any more, allow that state is left behind: --allow-non-restored-state (-n)"
_OTHER_UID = "to begin without it, give the operator another uid and allow that state is left behind (-n)"


def advice(difference: Difference, problem: Problem) -> str:
    """Advice as a sentence without its end; "" if pins solve the problem."""
    if problem.kind == ORPHANED and problem.cause is None:
        return _NOT_NEEDED
    meant = (problem.operator, problem.site)
    pairs = (diff for diff in difference.operators if diff.new and (diff.new.name, diff.new.site) == meant)
    diff = next(pairs, None)
    if diff is None or diff.new is None or diff.old is None:
        return ""
    groups, new = diff.old.effective_max_parallelism, diff.new
    if problem.kind == KEY_GROUPS:
        rewrite = f"penstock savepoint set-max-parallelism SAVEPOINT NEW {new.uid or new.operator_id}"
        if new.parallelism > groups:
            return f"lower the parallelism to {groups}, or have another savepoint made: {rewrite} {new.parallelism}"
        return f"set_max_parallelism({groups}), or have another savepoint made: {rewrite} {new.max_parallelism}"
    if problem.kind == MIXED:
        return f"set_max_parallelism({groups}) on both operators, or disable_chaining()"
    if problem.kind == UNREADABLE:
        return _unreadable(diff, problem)
    return _unread(diff, problem) if problem.kind == UNREAD else ""


def _state_of(diff: OperatorDiff, problem: Problem, fate: str) -> tuple[StateModel | None, StateModel | None]:
    """The state of a problem: as it was, and as the new program declares it."""
    name = next((state.name for state in diff.states if state.fate == fate and repr(state.name) in problem.text), None)
    old, new = (() if side is None else side.states or () for side in (diff.old, diff.new))
    was, now = ({state.name: state for state in side} for side in (old, new))
    after = now.get(name or "")
    before = was.get(name or "")
    if before is None and after is not None:
        before = next((was[former_name] for former_name in after.former_names if former_name in was), None)
    return before, after


def _unreadable(diff: OperatorDiff, problem: Problem) -> str:
    before, after = _state_of(diff, problem, states.UNREADABLE)
    built_in = diff.new is not None and diff.new.type in _BUILT_IN
    if before is None or after is None or built_in or after.kind not in _ASKED_FOR:
        return f"keep the type that it had, or, {_OTHER_UID}"
    if before.version > after.version:
        return f"put back the migrated_by() of its descriptor that made version {before.version}"
    what = "kind" if before.kind != after.kind else "type"
    call = f"{_ASKED_FOR[after.kind]}({after.name!r}, …).migrated_by(function, version={after.version + 1})"
    return f"keep the {what}, or say what becomes of old values: {call}"


def _unread(diff: OperatorDiff, problem: Problem) -> str:
    before, _ = _state_of(diff, problem, states.UNREAD)
    if before is None or before.kind not in _ASKED_FOR:
        return _NOT_NEEDED
    new = {state.name: state for state in (diff.new.states if diff.new is not None else None) or ()}
    for state in diff.states:
        after = new.get(state.name)
        if state.fate == states.NEW and after is not None and (after.kind, after.types) == (before.kind, before.types):
            call = f"{_ASKED_FOR[after.kind]}({after.name!r}, …).renamed_from({before.name!r})"
            return f"if {after.name!r} is what it is called now: {call}"
    return _NOT_NEEDED
