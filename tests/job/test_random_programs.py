from __future__ import annotations

from collections import Counter

import pytest

from penstock.local import LocalExecutor
from tests.generator.bounded import plain_program

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(60))
def test_results_are_those_of_plain_python(seed):
    for chaining in (True, False):
        pipeline, expected = plain_program(seed, chaining)
        collected = LocalExecutor().execute(pipeline).collected
        assert {sink: Counter(records) for sink, records in collected.items()} == expected


@pytest.mark.parametrize("seed", range(100, 120))
def test_results_are_right_at_any_parallelism(seed):
    for scale in (1, 2, 5):
        pipeline, expected = plain_program(seed, scale % 2 == 0, scale)
        collected = LocalExecutor().execute(pipeline).collected
        assert {sink: Counter(records) for sink, records in collected.items()} == expected
