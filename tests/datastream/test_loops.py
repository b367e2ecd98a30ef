"""Iterations, and restarts of a failed job."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from penstock.common import Configuration, JobClient, JobStatus, RestartStrategies, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import NumberSequenceSource, RateLimiterStrategy
from penstock.errors import InvalidProgramError, JobExecutionError

AGAIN = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "1 ms"}


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor="local")


def test_a_configuration_can_ask_for_restarts(tmp_path: Path) -> None:
    def once(n: int) -> int:
        if not (tmp_path / "failed").exists():
            (tmp_path / "failed").touch()
            raise ValueError("once")
        return n

    env = StreamExecutionEnvironment.get_execution_environment(Configuration(AGAIN), executor="local")
    with env.from_collection([1, 2]).map(once).execute_and_collect() as results:
        assert sorted(results) == [1, 2]


def test_a_loop_ends_when_nothing_is_led_back(env: StreamExecutionEnvironment) -> None:
    loop = env.from_collection([3, 5], Types.INT()).iterate()
    less = loop.map(lambda n: n - 1, output_type=Types.INT())
    loop.close_with(less.filter(lambda n: n > 0))
    with less.execute_and_collect() as results:
        assert sorted(results) == [0, 0, 1, 1, 2, 2, 3, 4]


def test_a_loop_that_never_ends_is_stopped(env: StreamExecutionEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.job.steps.loop.MAX_ROUNDS", 50)
    loop = env.from_collection([1], Types.INT()).iterate()
    loop.close_with(loop.map(lambda n: n, output_type=Types.INT()))
    with pytest.raises(JobExecutionError, match="50 times"):
        env.execute()


def test_a_restart_strategy_is_checked(env: StreamExecutionEnvironment) -> None:
    with pytest.raises(InvalidProgramError, match="-1 as number of attempts"):
        RestartStrategies.fixed_delay_restart(-1, 0)
    with pytest.raises(InvalidProgramError, match="RestartStrategies"):
        env.set_restart_strategy("always")  # type: ignore[arg-type]


def test_what_goes_round_may_wait_in_a_file(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def run() -> str:
        env = StreamExecutionEnvironment.get_execution_environment(executor="local")
        loop = env.from_collection([f"{n}{'x' * 1000}" for n in range(100)], Types.STRING()).iterate()
        shorter = loop.map(lambda text: text[:-100], output_type=Types.STRING()).set_parallelism(2)
        loop.close_with(shorter.filter(lambda text: len(text) > 300))
        shorter.map(len).print()
        env.execute()
        return capfd.readouterr().out

    held = run()
    assert held.count("\n") == 800
    monkeypatch.setattr("penstock.local.steps.LocalSteps.__init__.__defaults__", (100,))
    assert run() == held


def settled(client: JobClient) -> JobStatus:
    """How a job has ended, after a minute at most; one that has not is stopped."""
    deadline = time.monotonic() + 60
    while not client.get_job_status().result().is_terminal_state() and time.monotonic() < deadline:
        time.sleep(0.01)
    status = client.get_job_status().result()
    client.stop()
    return status


def test_a_checkpoint_interval_does_not_hold_up_what_waits_to_be_read_or_the_end(tmp_path: Path) -> None:
    settings = {"execution.checkpointing.dir": str(tmp_path / "job"), "execution.checkpointing.interval": "1 h"}
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration({**settings, "penstock.step.records": "1"}), executor="local"
    )
    env.from_collection([3, 5, 7], Types.INT()).uid("odd").add_sink(lambda n: None)
    client = env.execute_async()
    assert settled(client) is JobStatus.FINISHED
    assert client.metrics()["odd"].metrics.records_out == 3


def test_a_program_that_runs_on_is_seen_as_far_as_it_is() -> None:
    """Tasks live on from step to step, and each record is counted once all the same."""
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    three = NumberSequenceSource(1, 10**9, RateLimiterStrategy.per_checkpoint(3))
    env.from_source(three, WatermarkStrategy.no_watermarks(), "three").uid("three").add_sink(lambda n: None)
    client = env.execute_async()
    try:
        while (seen := client.metrics()).version < 300:
            assert 3 * seen.version <= seen["three"].metrics.records_out <= 3 * seen.version + 3
    finally:
        client.stop()
    client.get_job_execution_result().result()
