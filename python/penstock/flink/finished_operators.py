"""Savepoints of jobs with finished parts: which programs can be restored from them (Flink 2.3)."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.flink import refusals
from penstock.flink.metadata import OperatorState
from penstock.flink.plans import PlannedVertex, RestorePlan
from penstock.flink.refusals import Refusal

_RUNNING, _PARTLY, _ENDED = STATES = ("ALL_RUNNING", "PARTIALLY_FINISHED", "FULLY_FINISHED")


def check_ended(plan: RestorePlan, states: Mapping[str, OperatorState]) -> Refusal | None:
    """The refusal for the first vertex whose finished subtasks do not fit its operators or inputs, if any. O(operators
    + edges)."""
    known: dict[int, str | Refusal] = {}

    def of(index: int) -> str | Refusal:
        if index not in known:
            known[index] = _of_vertex(plan, plan.vertices[index], states)
        return known[index]

    if not any(_of_state(state) != _RUNNING for state in states.values()):
        return None
    for index, vertex in enumerate(plan.vertices):
        ended = of(index)
        if isinstance(ended, Refusal):
            return ended
        if ended == _RUNNING:
            continue
        for source, all_to_all in vertex.inputs:
            before = of(source)
            if isinstance(before, Refusal):
                return before
            refused = _against_input(plan.flink, vertex, ended, before, all_to_all)
            if refused is not None:
                return refused
    return None


def _against_input(flink: str, vertex: PlannedVertex, ended: str, before: str, all_to_all: bool) -> Refusal | None:
    if before == _ENDED:
        return None
    if ended == _ENDED:
        return refusals.ended_before(flink, vertex)
    if all_to_all or before == _RUNNING:
        return refusals.partly_ended_before(flink, vertex, all_to_all=all_to_all, running=before == _RUNNING)
    return None


def _of_vertex(plan: RestorePlan, vertex: PlannedVertex, states: Mapping[str, OperatorState]) -> str | Refusal:
    ends: set[str] = set()
    for operator in vertex.operators:
        pinned = operator.pinned if operator.pinned in states else None
        ends.add(_of_state(states.get(pinned or operator.generated)))
    if len(ends) > 1:
        return refusals.mixed_ends(plan.flink, vertex, sorted(ends, key=STATES.index))
    return ends.pop() if ends else _RUNNING


def _of_state(state: OperatorState | None) -> str:
    if state is None:
        return _RUNNING
    if state.fully_finished:
        return _ENDED
    return _PARTLY if any(subtask.finished for subtask in state.subtasks) else _RUNNING
