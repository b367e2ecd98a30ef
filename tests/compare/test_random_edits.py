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


def check_operators(found: Difference, before: dict[str, int], after: dict[str, int]) -> int:
    """Moved is who has another ID, for a reason; of who is who, how many are taken for others."""
    labels = {node: label for label, node in before.items()}
    others = 0
    for each in found.operators:
        if each.old is not None and each.new is not None:
            same = each.old.operator_id in (each.new.operator_id, each.new.pinned)
            assert (each.change == MOVED) == (not same)
            assert each.cause is None or each.cause.kind != UNKNOWN
            label = labels.get(each.old.node)
            others += label in after and after[label] != each.new.node
    nodes = [(each.old and each.old.node, each.new and each.new.node) for each in found.operators]
    olds = [old for old, _ in nodes if old is not None]
    assert sorted(olds) == sorted(each.node for each in found.old.operators)
    return others


def check_state(found: Difference, old: Program, new: Program) -> None:
    """State that IDs would lose, or take elsewhere, is found, and nothing else of that kind."""
    before, after = places(old), places(new)
    keeping = {each.operator_id for each in found.old.operators if keeps(each)}
    held = {place.generated: label for label, place in before.items() if place.generated in keeping}
    taken: dict[str, list[str]] = {}
    for label, place in after.items():
        state_id = next((each for each in (place.pinned, place.generated) if each in held), None)
        if state_id is not None:
            taken.setdefault(state_id, []).append(label)
    kinds = {(problem.kind, problem.severity) for problem in found.problems}
    assert ((ORPHANED, LOST) in kinds) == any(state_id not in taken for state_id in held)
    assert ((TWICE, BLOCKED) in kinds) == any(len(labels) > 1 for labels in taken.values())
    wrong = {held[i] for i, labels in taken.items() if not labels[0].startswith("#") and held[i] != labels[0]}
    if not any(label.startswith("#") for label in (*held.values(), *(each[0] for each in taken.values()))):
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
        found = compare(one, other)
        try:
            others += check_operators(found, before, after)
            check_state(found, old, new)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {names}: {error}") from error
        compared += len(other.operators)
    assert compared > 100
    assert others <= compared // 100, "operators are taken for others"
