"""Bounded programs on Spark that lead records back, or are run again after a failure."""

from __future__ import annotations

import pytest

from penstock.common import RestartStrategies, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import JobExecutionError, UnsupportedError
from penstock.spark import SparkExecutor


@pytest.fixture
def env(executor: SparkExecutor) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor=executor).set_parallelism(1)


def test_a_loop_ends_when_nothing_is_led_back(env: StreamExecutionEnvironment) -> None:
    loop = env.from_collection([3, 5], Types.INT()).iterate()
    less = loop.map(lambda n: n - 1, output_type=Types.INT())
    loop.close_with(less.filter(lambda n: n > 0))
    with less.execute_and_collect() as results:
        assert sorted(results) == [0, 0, 1, 1, 2, 2, 3, 4]


def failing(env: StreamExecutionEnvironment, marks: str) -> None:
    """A program whose first run fails."""
    from pathlib import Path

    def once(n: int) -> int:
        mark = Path(marks)
        if not mark.exists():
            mark.touch()
            raise ValueError("once")
        return n

    env.from_collection([1, 2], Types.INT()).map(once, output_type=Types.INT()).print()


def test_a_job_that_fails_is_run_again(
    tmp_path: object, capfd: pytest.CaptureFixture[str], env: StreamExecutionEnvironment
) -> None:
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 0))
    failing(env, f"{tmp_path}/failed")
    env.execute()
    assert sorted(line[-1] for line in capfd.readouterr().out.splitlines()) == ["1", "2"]


def test_a_job_that_fails_too_often_has_failed(env: StreamExecutionEnvironment) -> None:
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 0))
    env.from_collection([1], Types.INT()).map(lambda n: n // 0).print()
    with pytest.raises(JobExecutionError, match="ZeroDivisionError"):
        env.execute()


def test_a_dataframe_is_computed_whenever_it_is_asked_for(env: StreamExecutionEnvironment) -> None:
    loop = env.from_collection([3], Types.INT()).iterate()
    loop.close_with(loop.map(lambda n: n - 1, output_type=Types.INT()).filter(lambda n: n > 0))
    with pytest.raises(UnsupportedError, match="iterate"):
        loop.map(lambda n: (n,), output_type=Types.TUPLE([Types.INT()])).to_spark()
