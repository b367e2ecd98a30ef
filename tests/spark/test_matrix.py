"""Programs of the suite give on Spark what they give in this process, a sample of them, each under one setting."""

from __future__ import annotations

import pytest

from tests.datastream.test_run_scripts import records
from tests.effort import one_of
from tests.matrix.body import check
from tests.matrix.knobs import PARALLELISM, covering
from tests.matrix.programs import cases

PARTS = 6
ONE_OF = one_of(24)
"""One in so many programs; `make matrix ARGS=--spark` takes each under each setting."""
SAMPLE = covering()
FAILING = {name for name, record in records().items() if "error" in record["result"]}


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_give_the_same(executor, part: int) -> None:
    ran = 0
    for index, name in list(enumerate(cases()))[part :: PARTS * ONE_OF]:
        setting = SAMPLE[index % len(SAMPLE)]
        if name in FAILING:  # Spark tries each failing task four times, in a new worker each time
            setting = {**setting, PARALLELISM: 1}
        ran += not check(name, setting, executor).refused
    assert ran
