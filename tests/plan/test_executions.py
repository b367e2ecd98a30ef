"""Attempts at running subtasks: states, legal transitions, attempt ids, bounded history."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import PenstockError
from penstock.plan import Executions, StreamGraph
from tests.golden.load import plan_record

VERTEX, SUBTASK = 2, 1
WAY_TO = {
    "CREATED": (),
    "SCHEDULED": ("SCHEDULED",),
    "DEPLOYING": ("SCHEDULED", "DEPLOYING"),
    "RUNNING": ("SCHEDULED", "DEPLOYING", "RUNNING"),
    "FINISHED": ("SCHEDULED", "DEPLOYING", "RUNNING", "FINISHED"),
    "CANCELING": ("SCHEDULED", "DEPLOYING", "RUNNING", "CANCELING"),
    "CANCELED": ("SCHEDULED", "DEPLOYING", "RUNNING", "CANCELING", "CANCELED"),
    "FAILED": ("SCHEDULED", "DEPLOYING", "FAILED"),
}
TERMINAL = ("FINISHED", "CANCELED", "FAILED")
ILLEGAL = [
    ("CREATED", "RUNNING"),
    ("CREATED", "FINISHED"),
    ("SCHEDULED", "RUNNING"),
    ("SCHEDULED", "FINISHED"),
    ("RUNNING", "DEPLOYING"),
    ("RUNNING", "SCHEDULED"),
    ("RUNNING", "CREATED"),
    ("RUNNING", "CANCELED"),
    ("CANCELING", "RUNNING"),
    ("CANCELING", "FINISHED"),
    *((state, other) for state in TERMINAL for other in WAY_TO if other != state),
]


def executions(history: int = 3) -> Executions:
    graph = StreamGraph.from_dict(plan_record("hw_wordcount")["spec"])
    return graph.job_graph().execution_graph().executions(history=history)


def at(state: str) -> Executions:
    attempts = executions()
    for step in WAY_TO[state]:
        attempts.transition(VERTEX, SUBTASK, step)
    assert attempts.current(VERTEX, SUBTASK).state == state
    return attempts


@pytest.mark.parametrize("state", WAY_TO)
def test_every_state_is_reached_step_by_step(state: str) -> None:
    attempts = at(state)
    assert attempts.current(VERTEX, SUBTASK).attempt == 0
    assert attempts.current(VERTEX, 0).state == "CREATED", "the neighbour is untouched"


@pytest.mark.parametrize(("state", "other"), ILLEGAL)
def test_illegal_transitions_are_refused_and_change_nothing(state: str, other: str) -> None:
    attempts = at(state)
    with pytest.raises(PenstockError) as caught:
        attempts.transition(VERTEX, SUBTASK, other)
    assert state in str(caught.value)
    assert other in str(caught.value)
    assert attempts.current(VERTEX, SUBTASK).state == state


@pytest.mark.parametrize("state", ["CREATED", "SCHEDULED", "DEPLOYING", "RUNNING", "CANCELING"])
def test_every_live_state_can_be_cancelled_or_fail(state: str) -> None:
    attempts = at(state)
    attempts.transition(VERTEX, SUBTASK, "CANCELING" if state in ("DEPLOYING", "RUNNING") else "CANCELED")
    if state != "CANCELING":
        attempts = at(state)
        assert attempts.transition(VERTEX, SUBTASK, "FAILED").state == "FAILED"


@pytest.mark.parametrize("state", WAY_TO)
def test_a_new_attempt_starts_only_after_an_end(state: str) -> None:
    attempts = at(state)
    if state in TERMINAL:
        again = attempts.reset(VERTEX, SUBTASK)
        assert (again.state, again.attempt, again.subtask) == ("CREATED", 1, SUBTASK)
        assert [(old.state, old.attempt) for old in attempts.prior(VERTEX, SUBTASK)] == [(state, 0)]
    else:
        with pytest.raises(PenstockError, match=state):
            attempts.reset(VERTEX, SUBTASK)


def test_history_is_bounded_and_ids_are_unique() -> None:
    attempts, seen = executions(history=3), set()
    for _ in range(50):
        seen.add(attempts.transition(VERTEX, SUBTASK, "FAILED").id)
        attempts.reset(VERTEX, SUBTASK)
    assert len(seen) == 50
    assert [old.attempt for old in attempts.prior(VERTEX, SUBTASK)] == [47, 48, 49]
    assert attempts.current(VERTEX, SUBTASK).attempt == 50


@pytest.mark.parametrize(("vertex", "subtask"), [(99, 0), (0, 99)])
def test_places_that_do_not_exist_are_refused(vertex: int, subtask: int) -> None:
    attempts: Any = executions()
    for call in (attempts.current, attempts.reset, attempts.prior):
        with pytest.raises(PenstockError, match="99"):
            call(vertex, subtask)


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(PenstockError, match="SLEEPING"):
        executions().transition(VERTEX, SUBTASK, "SLEEPING")
