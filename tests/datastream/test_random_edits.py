"""A sample of the random programs that are edited between their runs; thousands of them are made by
``python -m tests.datastream.random_edits 0 5000``."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings

from tests.datastream import feeding, typed_edits
from tests.datastream.random_edits import EDITS, check

pytestmark = pytest.mark.slow

PART = 20


@pytest.mark.parametrize("part", range(max(2, 10 * settings().max_examples // 100)))
def test_what_survives_goes_on_and_the_rest_begins_anew(part: int) -> None:
    seen = Counter[str]()
    for seed in range(PART * part, PART * part + PART):
        with feeding.folder() as root:
            seen += check(seed, root)
    assert seen["kept"] > PART
    assert min(seen[way] for way in ("restart", "savepoint", "job", "refused")) > 0


def test_the_commands_say_what_the_runs_do() -> None:
    seen = Counter[str]()
    for seed in range(5_000, 5_000 + max(40, settings().max_examples)):
        for check_one in (typed_edits.check, check) if seed % 5 == 0 else (typed_edits.check,):
            with feeding.folder() as root:
                seen += check_one(seed, root, guard=True)
    assert min(seen[f"typed: {outcome}"] for outcome in ("kept", "lost", "refused")) > 0
    assert seen["typed, ended: kept"] > 0
    assert min(seen[f"{name} says kept"] for name in ("lock", "savepoint", "both", "savepoint check")) > 0


@pytest.mark.parametrize("seed", [804, 1064, 1200, 1342, 1422, 1444])
def test_states_that_are_empty_or_were_lost_before(seed: int) -> None:
    """Of which commands and runs have disagreed: a savepoint says that a state is empty, or that an earlier edit has
    left it to an operator that does not read it; a lock file knows neither."""
    with feeding.folder() as root:
        seen = check(seed, root, guard=True)
    assert seen["lock: knows less of the job"] > 0


@pytest.mark.parametrize("seed", [10416, 11904])
def test_positions_of_a_source_that_go_to_the_head_of_a_loop_are_lost(seed: int) -> None:
    with feeding.folder() as root:
        check(seed, root, guard=True)


def test_a_rebalance_in_the_place_of_another_partitioner_begins_with_its_own_channel() -> None:
    with feeding.folder() as root:
        check(30892, root, guard=True)


def test_all_edits_happen() -> None:
    """So that what is compared means something."""
    import random

    from tests.datastream.random_edits import edited
    from tests.generator.programs import random_program

    names: list[str] = []
    for seed in range(60):
        draw = random.Random(seed)
        edited(draw, random_program(draw), names)
    assert set(names) >= set(EDITS) - {"max of one", "state", "swap"}
