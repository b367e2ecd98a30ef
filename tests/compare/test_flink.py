"""Savepoints of the real Flink compared with programs, against what Flink did."""

from __future__ import annotations

from collections import Counter
from functools import cache

from penstock.analysis.builder import model_of_record
from penstock.analysis.model import ProgramModel
from penstock.compare.difference import ALLOWED, MISPLACED, compare
from penstock.compare.savepoints import model_of_flink_savepoint
from tests.flink_savepoints.golden import RELEASES, pairs, place, spec


@cache
def saved(release: str, name: str) -> ProgramModel:
    return model_of_flink_savepoint(place(release, name))


@cache
def program(release: str, name: str) -> ProgramModel:
    return model_of_record(spec(release, name), RELEASES[release])


def test_what_is_refused_is_what_flink_refuses() -> None:
    """Where Flink restores what is refused here, an operator has got another one's state."""
    counted: Counter[str] = Counter()
    for pair in pairs():
        old = saved(pair.get("savepoint_flink", pair["flink"]), pair["savepoint"])
        result = compare(old, program(pair["flink"], pair["program"]), allow=pair["allow_non_restored_state"])
        if pair.get("stage") == "task":
            counted["left to tasks"] += 1  # types of states, which the file does not tell
        elif result.passes == pair["restored"]:
            counted["restored" if result.passes else "refused"] += 1
        elif pair["restored"]:
            assert {problem.kind for problem in result.problems if problem.severity != ALLOWED} == {MISPLACED}
            counted["silently wrong"] += 1
        else:  # parts of a chain have ended: penstock.flink predicts that
            assert "mixed operator finished state" in pair["error"]["message"]
            counted["ended in part"] += 1
    assert counted == {"restored": 640, "refused": 517, "silently wrong": 2, "left to tasks": 92, "ended in part": 2}


def test_operators_have_the_names_of_the_file_or_their_ids() -> None:
    names = {operator.name for operator in saved("2.3.0", "f_base").operators}
    assert "count" in names
    assert all(
        operator.name == f"the operator {operator.operator_id}" for operator in saved("1.11.4", "f_base").operators
    )
