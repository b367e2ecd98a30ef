"""Pins of random programs that are edited at random: with them, all state that is still wanted goes to its operator."""

from __future__ import annotations

import ast

import pytest

from penstock.analysis.model import ProgramModel, Site
from penstock.compare.difference import MISPLACED, ORPHANED, TWICE, Difference, compare
from penstock.lock.pins import HASH, UID, Pin, pins
from tests.compare.planned import planned
from tests.compare.shop import CASES, OLD
from tests.compare.test_random_edits import drawn
from tests.generator.programs import Program

BY_ID = {case.id: case for case in CASES}


def between(name: str) -> Difference:
    """What an edit does."""
    return compare(planned(BY_ID[name].before)[0], planned(BY_ID[name].after)[0])


def label_of(pin: Pin, model: ProgramModel, after: dict[str, int]) -> str | None:
    """The label of the operator that a pin is for; None where a name is not alone, or no label's."""
    nodes = [operator.node for operator in model.operators if operator.name == pin.operator]
    return next((label for label, node in after.items() if nodes == [node]), None)


def pinned(difference: Difference, program: Program, after: dict[str, int]) -> Program | None:
    """The program with all pins of a comparison."""
    for pin in pins(difference):
        label = label_of(pin, difference.new, after)
        if label is None:
            return None
        program = program.change(label, **{"uid" if pin.method == UID else "uid_hash": pin.value})
    return program


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2))
def test_what_was_pinned_keeps_its_state(block: int) -> None:
    helped = 0
    for seed in range(block * 40, block * 40 + 40):
        old, program, names = drawn(seed)
        before, (model, after) = planned(old)[0], planned(program)
        difference, rounds = compare(before, model), 0
        while pins(difference) and rounds < 4:
            changed = pinned(difference, program, after)
            if changed is None:
                break
            program, rounds = changed, rounds + 1
            model, after = planned(program)
            difference = compare(before, model)
        else:
            gone = {operator.name for operator in difference.operators if operator.new is None}
            left = [p for p in difference.problems if p.kind in (ORPHANED, MISPLACED, TWICE) and p.operator not in gone]
            assert not left, f"seed {seed}, {names}"
            helped += rounds > 0
    assert helped >= 8


def test_what_is_pinned_how() -> None:
    (pin,) = pins(between("inserted-async"))
    assert (pin.operator, pin.method, pin.value) == ("first", HASH, OLD["first"])
    assert pin.text == f'.set_uid_hash("{OLD["first"]}")'
    (pin,) = pins(between("uid-changed"))
    assert (pin.method, pin.value, pin.instead_of, bool(pin.otherwise)) == (UID, "count-uid", "n", True)
    (pin,) = pins(between("uid-removed"))
    assert (pin.method, pin.value, pin.instead_of) == (UID, "first-uid", None)
    added = [pin for pin in pins(between("source-added-first")) if pin.method == UID]
    assert [(pin.operator, pin.value) for pin in added] == [("Source: c", "source-c")]
    assert pins(between("nothing")) == ()


@pytest.mark.parametrize("value", ['a"b', "a\\b", "ä\n", "plain ä"])
def test_a_call_is_source_that_means_its_value(value: str) -> None:
    text = Pin("x", UID, value, Site("x.py", 1, "map")).text
    assert ast.literal_eval(text[len(".uid(") : -1]) == value
