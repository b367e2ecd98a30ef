"""Every program of the suite gives on Spark what it gives in this process, each under one setting of the sample."""

from __future__ import annotations

import pytest

from tests.matrix.body import check
from tests.matrix.knobs import covering
from tests.matrix.programs import cases

PARTS = 24
SAMPLE = covering()


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_give_the_same(executor, part: int) -> None:
    ran = 0
    for index, name in list(enumerate(cases()))[part::PARTS]:
        ran += not check(name, SAMPLE[index % len(SAMPLE)], executor).refused
    assert ran
