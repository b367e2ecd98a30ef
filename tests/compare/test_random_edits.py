"""Random programs, edited at random: what is said of operators and state against the IDs alone."""

from __future__ import annotations

import random

import pytest

from penstock.compare.causes import UNKNOWN
from penstock.compare.difference import BLOCKED, LOST, MISPLACED, MOVED, ORPHANED, TWICE, Difference, compare
from penstock.compare.states import keeps
from penstock.errors import PenstockError
from tests.compare.planned import planned
from tests.datastream.random_edits import edited
from tests.generator.programs import Program, random_program
from tests.generator.world import places


def drawn(seed: int) -> tuple[Program, Program, list[str]]:
    """A program, the same after some edits, and which they were."""
    draw, names = random.Random(seed), list[str]()
    before = random_program(draw)
    return before, edited(draw, before, names), names


def check_operators(result: Difference, before: dict[str, int], after: dict[str, int]) -> int:
    """Moved is who has another ID, for a reason; of who is who, how many are taken for others."""
    labels = {node: label for label, node in before.items()}
    others = 0
    for operator in result.operators:
        if operator.old is not None and operator.new is not None:
            same = operator.old.operator_id in (operator.new.operator_id, operator.new.pinned)
            assert (operator.change == MOVED) == (not same)
            assert operator.cause is None or operator.cause.kind != UNKNOWN
            label = labels.get(operator.old.node)
            others += label in after and after[label] != operator.new.node
    nodes = [(operator.old and operator.old.node, operator.new and operator.new.node) for operator in result.operators]
    olds = [old for old, _ in nodes if old is not None]
    assert sorted(olds) == sorted(operator.node for operator in result.old.operators)
    return others


def check_state(result: Difference, old: Program, new: Program) -> None:
    """State that IDs would lose, or take elsewhere, is found, and nothing else of that kind."""
    before, after = places(old), places(new)
    keeping = {operator.operator_id for operator in result.old.operators if keeps(operator)}
    held = {place.generated: label for label, place in before.items() if place.generated in keeping}
    taken: dict[str, list[str]] = {}
    for label, place in after.items():
        state_id = next((state_id for state_id in (place.pinned, place.generated) if state_id in held), None)
        if state_id is not None:
            taken.setdefault(state_id, []).append(label)
    kinds = {(problem.kind, problem.severity) for problem in result.problems}
    assert ((ORPHANED, LOST) in kinds) == any(state_id not in taken for state_id in held)
    assert ((TWICE, BLOCKED) in kinds) == any(len(labels) > 1 for labels in taken.values())
    wrong = {held[i] for i, labels in taken.items() if not labels[0].startswith("#") and held[i] != labels[0]}
    if not any(label.startswith("#") for label in (*held.values(), *(labels[0] for labels in taken.values()))):
        assert ((MISPLACED, BLOCKED) in kinds) == bool(wrong)


@pytest.mark.parametrize("block", range(3))
def test_random_edits(block: int) -> None:
    others, compared = 0, 0
    for seed in range(block * 20, block * 20 + 20):
        old, new, names = drawn(seed)
        try:
            (one, before), (other, after) = planned(old), planned(new)
        except PenstockError:
            continue
        result = compare(one, other)
        try:
            others += check_operators(result, before, after)
            check_state(result, old, new)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {names}: {error}") from error
        compared += len(other.operators)
    assert compared > 100
    assert others <= compared // 100, "operators are taken for others"
