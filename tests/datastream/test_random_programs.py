"""Random programs: their records are those of a plain Python computation, under any setting."""

from __future__ import annotations

import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.local import LocalExecutor
from tests.effort import one_of
from tests.generator.bounded import FORMATS, SMALL, check, expected, job, random_job
from tests.generator.choices import DrawnChoices
from tests.generator.operators import BOUNDED
from tests.generator.programs import SINK, SOURCE
from tests.matrix.knobs import everything

jobs = st.composite(lambda draw: job(DrawnChoices(draw), SMALL))()


@given(jobs, st.sampled_from(list(everything())))
@settings(max_examples=3 * settings().max_examples // 2)
def test_random_programs(program, setting) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(program, setting, LocalExecutor(), folder)


LARGE = range(30)


@pytest.mark.slow
@pytest.mark.parametrize("seed", LARGE[:: one_of(3)])
def test_large_programs(seed, tmp_path) -> None:
    settings = list(everything())
    for number, setting in enumerate(settings[seed % 5 :: len(settings) // 4]):
        (tmp_path / str(number)).mkdir()
        check(random_job(seed), setting, LocalExecutor(), str(tmp_path / str(number)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", LARGE[: 15 : one_of(3)])
def test_large_programs_in_batch_mode(seed, tmp_path) -> None:
    """All but running counts, of which only the last ones are left there."""
    program = random_job(seed)
    for node in program.nodes:
        program = program.without(node.label) if node.kind == "running counts" else program
    settings = list(everything())
    setting = {**settings[seed * 19 % len(settings)], "execution.runtime-mode": "BATCH"}
    check(program, setting, LocalExecutor(), str(tmp_path))


def test_large_programs_have_everything_with_records() -> None:
    formats, kinds, records = set(), set(), 0
    for seed in LARGE:
        bags, program = expected(random_job(seed))
        formats.update(node.format for node in program.nodes if node.kind == SOURCE)
        kinds.update(node.kind for node in program.nodes)
        records += sum(bag.total() for bag in bags.values())
    assert (formats, kinds) == (set(FORMATS), {SOURCE, SINK, *BOUNDED})
    assert records > 10_000
