"""A sample of the random programs that are edited between their runs; thousands of them are made by
``python -m tests.datastream.random_edits 0 5000``."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings

from tests.datastream import feeding
from tests.datastream.random_edits import EDITS, check

PART = 20


@pytest.mark.parametrize("part", range(max(3, 10 * settings().max_examples // 100)))
def test_what_survives_goes_on_and_the_rest_begins_anew(part: int) -> None:
    seen = Counter[str]()
    for seed in range(PART * part, PART * part + PART):
        with feeding.folder() as root:
            seen += check(seed, root)
    assert seen["kept"] > PART
    assert min(seen[way] for way in ("restart", "savepoint", "job", "refused")) > 0


def test_all_edits_happen() -> None:
    """So that what is compared means something."""
    import random

    from tests.datastream.random_editable import random_program
    from tests.datastream.random_edits import edited

    names: list[str] = []
    for seed in range(60):
        draw = random.Random(seed)
        edited(draw, random_program(draw), names)
    assert set(names) >= set(EDITS) - {"max of one", "state", "swap"}


@pytest.mark.spark
def test_on_spark(spark) -> None:
    from penstock.spark import SparkExecutor

    for seed in range(2):
        with feeding.folder() as root:
            check(seed, root, SparkExecutor(spark))
