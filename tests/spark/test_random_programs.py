from __future__ import annotations

from collections import Counter

import pytest

from penstock.local import LocalExecutor
from tests.effort import one_of
from tests.generator.bounded import check, plain_program, random_job
from tests.matrix.knobs import covering


@pytest.mark.parametrize("seed", range(6)[:: one_of(2)])
def test_spark_gives_what_the_local_runner_gives_in_the_same_order(executor, seed):
    pipeline, expected = plain_program(seed)
    collected = executor.execute(pipeline).collected
    assert {sink: Counter(records) for sink, records in collected.items()} == expected
    local = LocalExecutor()
    assert local.execute(plain_program(seed)[0]).collected == collected
    assert [(r.task, r.counters) for r in local.reports] == [(r.task, r.counters) for r in executor.reports]


@pytest.mark.parametrize("seed", range(8)[:: one_of(2)])
def test_large_programs(executor, seed, tmp_path):
    sample = covering()
    check(random_job(seed), sample[seed % len(sample)], executor, str(tmp_path))
