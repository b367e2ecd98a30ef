"""A program of twelve operators, edited in many ways: verdicts and causes against the IDs, and against jobs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from penstock.compare import causes
from penstock.compare.difference import BLOCKED as NOTHING_ALLOWS
from penstock.compare.difference import (
    KEY_GROUPS,
    LOST,
    MISPLACED,
    MOVED,
    ORPHANED,
    TWICE,
    UNREAD,
    Difference,
    compare,
)
from penstock.errors import InvalidProgramError
from tests.compare.planned import planned
from tests.compare.shop import BLOCKED, CASES, PLAIN, WHY, Case
from tests.datastream.editable_jobs import Jobs
from tests.generator.programs import REFUSED, run
from tests.generator.world import World

SOONER, LATER = 6, 14
"""Records of a split when the program is stopped, and in the end."""
BY_ID = {case.id: case for case in CASES}
EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


@cache
def _difference(name: str) -> Difference:
    return compare(planned(BY_ID[name].before)[0], planned(BY_ID[name].after)[0])


def difference(case: Case) -> Difference:
    """Of the two programs of an edit; made once."""
    return _difference(case.id)


def test_there_are_enough_edits() -> None:
    assert len(CASES) == len(BY_ID) >= 50
    assert set(WHY) | set(BLOCKED) <= set(BY_ID)
    assert len(planned(PLAIN)[0].operators) == 12
    kinds_of_cases = {cause.split(": ")[0] for why in WHY.values() for cause in why.split("; ")}
    kinds = {kind for name, kind in vars(causes).items() if name.isupper() and isinstance(kind, str)}
    assert kinds_of_cases >= kinds - {causes.UNKNOWN}


@EACH
def test_moved_are_those_whose_ids_are_others(case: Case) -> None:
    (old, before), (new, after) = planned(case.before), planned(case.after)
    both = [label for label in before if label in after]
    other = {label for label in both if old.by_node[before[label]].operator_id != new.by_node[after[label]].operator_id}
    pinned = {label for label in other if new.by_node[after[label]].pinned == old.by_node[before[label]].operator_id}
    result = difference(case)
    labels = {node: label for label, node in after.items()}
    moved = {
        labels[operator.new.node]
        for operator in result.operators
        if operator.change == MOVED and operator.new is not None
    }
    assert moved == other - pinned


@EACH
def test_operators_are_known_by_what_they_are(case: Case) -> None:
    if case.id == "pinned-twice":
        return  # an operator that is pinned to another one's ID is said to be that one
    (_, before), (_, after) = planned(case.before), planned(case.after)
    for operator in difference(case).operators:
        old = (
            None if operator.old is None else next((k for k, node in before.items() if node == operator.old.node), None)
        )
        new = (
            None if operator.new is None else next((k for k, node in after.items() if node == operator.new.node), None)
        )
        if operator.old is not None and operator.new is not None:
            assert old == new
        elif operator.new is not None:
            assert new not in before
        else:
            assert old not in after


@EACH
def test_the_cause_is_said(case: Case) -> None:
    causes = {
        f"{operator.cause.kind}: {operator.cause.subject}"
        + (f" ({operator.cause.rule})" if operator.cause.rule else "")
        for operator in difference(case).operators
        if operator.cause is not None
    }
    assert "; ".join(sorted(causes)) == WHY.get(case.id, "")
    assert all((operator.cause is not None) == (operator.change == MOVED) for operator in difference(case).operators)


@EACH
def test_what_becomes_of_state_is_what_ids_say(case: Case) -> None:
    world = World()
    world.run(case.before, SOONER, False)
    expected, result = world.predicted(case.after), difference(case)
    assert {problem.kind for problem in result.problems if problem.severity == NOTHING_ALLOWS} == BLOCKED.get(
        case.id, set()
    )
    if case.id == "pinned-twice":
        return  # a restore refuses it before it asks for more
    problems = _by_kind(result, case)
    takers = {label: took for label, took in expected.takes.items() if took is not None and took != label}
    others = set(takers.values())
    assert problems.get(MISPLACED, set()) == others
    assert problems.get(ORPHANED, set()) == expected.left - others
    assert problems.get(UNREAD, set()) - set(takers) == expected.unread - set(takers)
    assert expected.refused == bool(problems.get(ORPHANED) or problems.get(KEY_GROUPS))
    assert result.safe == (not expected.refused and not others and not expected.unread)


def _by_kind(result: Difference, case: Case) -> Mapping[str, set[str]]:
    """The operators that have problems, by label."""
    names = {node.name or node.label: node.label for program in (case.before, case.after) for node in program.nodes}
    problems: dict[str, set[str]] = {}
    for problem in result.problems:
        problems.setdefault(problem.kind, set()).add(names[re.sub("^(Source|Sink): ", "", problem.operator)])
    return problems


@pytest.mark.parametrize(
    "name",
    [
        "inserted-map",
        "inserted-uids",
        "removed-branch",
        "source-added-first",
        "pinned-source-added",
        "uids-swapped",
        "parallelism-of-stateful",
        "max-set",
        "function-replaced",
        "pinned-twice",
    ],
)
def test_a_job_does_what_was_said(name: str, tmp_path: Path) -> None:
    case, world, jobs = BY_ID[name], World(), Jobs(str(tmp_path))
    assert run(case.before, SOONER, False, **jobs.settings("restart")) == world.run(case.before, SOONER, False)
    result, settings = difference(case), jobs.settings("restart")
    kinds: set[Any] = {problem.kind for problem in result.problems}
    if kinds & {ORPHANED, KEY_GROUPS, TWICE}:
        with pytest.raises(InvalidProgramError) as refused:
            run(case.after, LATER, True, **settings)
        assert refused.value.flink_class == REFUSED
        return
    after = run(case.after, LATER, True, **settings)
    assert after == world.run(case.after, LATER, True)
    fresh = World()
    fresh.run(case.before, SOONER, False)
    assert result.safe == (not fresh.predicted(case.after).unread and name != "uids-swapped")


def test_what_is_allowed_is_no_reason_to_fail() -> None:
    case = BY_ID["inserted-map"]
    result = compare(planned(case.before)[0], planned(case.after)[0], allow=True)
    assert result.safe
    assert {problem.severity for problem in result.problems} == {"allowed"}
    assert {problem.severity for problem in difference(case).problems} == {LOST}
    blocked = BY_ID["max-set"]
    assert not compare(planned(blocked.before)[0], planned(blocked.after)[0], allow=True).safe
