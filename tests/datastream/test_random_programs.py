"""Random programs: their records are those of a plain Python computation, under any setting."""

from __future__ import annotations

import tempfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.local import LocalExecutor
from tests.datastream.random_jobs import SOURCES, Job, Source, check, expected, random_job
from tests.datastream.random_streams import KINDS, Step
from tests.matrix.knobs import everything

values = st.lists(st.integers(-50, 50), min_size=6, max_size=20) | st.lists(st.integers(-50, 50), max_size=2)
sources = st.lists(
    st.builds(Source, st.sampled_from(sorted(SOURCES)), values, st.integers(1, 3)), min_size=1, max_size=3
)
steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(sorted(KINDS)),
        st.tuples(st.integers(0, 20), st.integers(0, 20)),
        st.integers(1, 4),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=9,
)
jobs = st.builds(Job, sources, steps, st.frozensets(st.integers(0, 12), max_size=3))


@given(jobs, st.sampled_from(list(everything())))
@settings(max_examples=3 * settings().max_examples // 2)
def test_random_programs(job, setting) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(job, setting, LocalExecutor(), folder)


LARGE = range(30)


@pytest.mark.parametrize("seed", LARGE)
def test_large_programs(seed, tmp_path) -> None:
    settings = list(everything())
    for number, setting in enumerate(settings[seed % 5 :: len(settings) // 4]):
        (tmp_path / str(number)).mkdir()
        check(random_job(seed), setting, LocalExecutor(), str(tmp_path / str(number)))


@pytest.mark.parametrize("seed", LARGE[:15])
def test_large_programs_in_batch_mode(seed, tmp_path) -> None:
    """All but running counts, of which only the last ones are left there."""
    job = random_job(seed)
    steps = [step for step in job.steps if step.kind != "count"]
    settings = list(everything())
    setting = {**settings[seed * 19 % len(settings)], "execution.runtime-mode": "BATCH"}
    check(replace(job, steps=steps), setting, LocalExecutor(), str(tmp_path))


def test_large_programs_have_everything_with_records() -> None:
    sources, steps, records = set(), set(), 0
    for seed in LARGE:
        bags, kept = expected(random_job(seed))
        sources.update(source.kind for source in random_job(seed).sources)
        steps.update(step.kind for step in kept)
        records += sum(bag.total() for bag in bags)
    assert (sources, steps) == (set(SOURCES), set(KINDS))
    assert records > 10_000
