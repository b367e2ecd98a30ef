"""State with a time to live on Spark: the clock is that of the executor."""

from __future__ import annotations

import pytest

from penstock.common import Configuration
from penstock.datastream import StreamExecutionEnvironment
from tests.datastream import forgetful


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_states_end_by_the_clock(executor, mode):
    settings = Configuration.from_dict({"execution.runtime-mode": mode})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor=executor)
    env.set_parallelism(2)
    assert forgetful.results_of(env) == sorted(forgetful.EXPECTED[mode])
