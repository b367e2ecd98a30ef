"""The number of an attempt counts the runs of a job again, too."""

from __future__ import annotations

import pytest

from penstock.common import Configuration, RestartStrategies, Types
from penstock.datastream import MapFunction, StreamExecutionEnvironment


class FailTwice(MapFunction):
    """Gives the number of its attempt, from the third on."""

    def open(self, runtime_context) -> None:
        self.attempt = runtime_context.get_attempt_number()

    def map(self, value: int) -> tuple[int, int]:
        if self.attempt < 2:
            raise ValueError(f"attempt {self.attempt}")
        return value, self.attempt


@pytest.mark.spark
@pytest.mark.parametrize("in_steps", [False, True])
def test_a_job_that_is_run_again(executor, tmp_path, in_steps):
    settings = {"execution.checkpointing.dir": str(tmp_path / "job"), "penstock.step.records": "4"} if in_steps else {}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings), executor=executor)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(5, 0))
    out = str(tmp_path / "out")
    env.generate_sequence(0, 7).map(FailTwice(), Types.TUPLE([Types.LONG()] * 2)).write_as_text(out)
    env.execute("attempts")
    assert sorted((tmp_path / "out").read_text().splitlines()) == [f"({n},2)" for n in range(8)]
