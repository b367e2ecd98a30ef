"""Restart strategies: how often a job is run again, and what they say of themselves."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.common import Configuration, RestartStrategies
from penstock.datastream import MapFunction, StreamExecutionEnvironment
from penstock.errors import JobExecutionError


class Failing(MapFunction):
    """Fails until an attempt."""

    def __init__(self, until: int) -> None:
        self.until = until

    def open(self, runtime_context):
        self.attempt = runtime_context.get_attempt_number()

    def map(self, value):
        if self.attempt < self.until:
            raise ValueError(self.attempt)
        return self.attempt


RESTARTS = {
    "none": (RestartStrategies.no_restart(), 0),
    "fixed": (RestartStrategies.fixed_delay_restart(2, 0), 2),
    "rate": (RestartStrategies.failure_rate_restart(3, 3_600_000, 1), 3),
    "often enough apart": (RestartStrategies.failure_rate_restart(1, 1, 5), 4),
    "as configured": (RestartStrategies.fall_back_restart(), 1),
}


@pytest.mark.parametrize("name", RESTARTS)
def test_a_job_is_run_again_as_often_as_its_strategy_says(name: str) -> None:
    strategy, most = RESTARTS[name]
    configured = {"restart-strategy": "fixed-delay", "restart-strategy.fixed-delay.delay": "0"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(configured), executor="local")
    env.set_restart_strategy(strategy)
    assert env.from_collection([1]).map(Failing(most)).execute_and_collect(limit=1) == [most]
    if name != "often enough apart":
        with pytest.raises(JobExecutionError) as caught:
            env.from_collection([1]).map(Failing(most + 1)).execute_and_collect()
        assert caught.value.attempt == most


def test_a_rate_is_that_of_an_interval() -> None:
    strategy = RestartStrategies.failure_rate_restart(2, 1000, 7)
    assert [strategy.delay_after(times) for times in ([0.0], [0.0, 0.1], [0.0, 0.1, 1.0])] == [7, 7, None]
    assert strategy.delay_after([0.0, 0.1, 1.01]) == 7
    assert strategy.delay_after([0.0, 5.0, 5.1, 5.2]) is None


def test_strategies_say_what_they_are() -> None:
    fixed = RestartStrategies.fixed_delay_restart(3, 1500)
    assert (fixed.get_restart_attempts(), fixed.get_delay_between_attempts_interval()) == (3, timedelta(seconds=1.5))
    rate = RestartStrategies.failure_rate_restart(2, 60_000, 10)
    assert (rate.get_max_failure_rate(), rate.get_failure_interval()) == (2, timedelta(minutes=1))
    assert rate.get_delay_between_attempts_interval() == timedelta(milliseconds=10)
    described = [RestartStrategies.no_restart(), RestartStrategies.fall_back_restart(), fixed, rate]
    assert [strategy.get_description() for strategy in described] == [
        "no restarts",
        "as configured",
        "up to 3 restarts, each after 1500 ms",
        "up to 2 failures in 60000 ms, each restart after 10 ms",
    ]
    assert [strategy.restarts for strategy in described] == [False, False, True, True]
    assert not RestartStrategies.fixed_delay_restart(0, 5).restarts
    assert isinstance(fixed, RestartStrategies.FixedDelayRestartStrategyConfiguration)


def test_an_environment_knows_its_strategy() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.get_restart_strategy() == RestartStrategies.no_restart()
    strategy = RestartStrategies.failure_rate_restart(1, 2, 3)
    assert env.set_restart_strategy(strategy).get_restart_strategy() == strategy
