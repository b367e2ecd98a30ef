"""Random programs in steps of random sizes, ended at random: their records are those of a plain Python computation."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.datastream import feeding
from tests.datastream.random_fed import End, check
from tests.datastream.test_fed_scripts import LONG
from tests.datastream.test_random_programs import jobs
from tests.generator.bounded import random_job
from tests.matrix.knobs import everything

feeds = st.sampled_from(["1", "3", "all"]) | st.integers(0, 9).map("random:{}".format)
intervals = st.sampled_from([None, 10, 100, LONG])
ends = st.lists(st.builds(End, st.integers(0, 120) | st.integers(0, 1000), st.booleans()), max_size=3)


@given(jobs, st.sampled_from(list(everything())), feeds, ends, intervals)
@settings(max_examples=settings().max_examples)
def test_random_programs(job, setting, feed, ends, interval) -> None:
    with feeding.folder() as root:
        check(job, setting, feed, ends, root, interval=interval)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30 * min(settings().max_examples, 100) // 100))
def test_large_programs(seed) -> None:
    draw = random.Random(seed)
    setting = draw.choice(list(everything()))
    interval = draw.choice([None, 20, LONG])
    most = 1500 if interval is None else 200  # changes of files, which are fewer where not every step makes some
    ends = [End(int(most ** draw.random()), draw.random() < 0.5) for _ in range(4)]
    with feeding.folder() as root:
        check(random_job(seed), setting, f"random:{seed}", ends, root, interval=interval)


@pytest.mark.slow
def test_programs_are_ended() -> None:
    """So that what is compared means something."""
    ended = 0
    for seed in range(6):
        with feeding.folder() as root:
            ends = [End(40, True), End(60, False), End(80, True)]
            ended += check(random_job(seed), next(iter(everything())), "5", ends, root)
    assert ended >= 8
