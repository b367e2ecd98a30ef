"""A client of a job in steps: what it sees, and how it stops the job."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest

from penstock.common import Configuration, JobClient, JobExecutionResult, JobStatus
from penstock.common.jobs.job_control import JobControl
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.environment import executors
from penstock.errors import JobCancelledError, JobExecutionError, UnsupportedError
from tests.job.steps.loops import EndlessExecutor, Planned, write

SECONDS = 60


@pytest.fixture
def executor() -> EndlessExecutor:
    return EndlessExecutor()


@pytest.fixture
def client(executor: EndlessExecutor):
    env = StreamExecutionEnvironment.get_execution_environment(executor=executor).set_parallelism(2)
    write(env)
    client = env.execute_async("clicks")
    yield client
    if not client.get_job_status().result().is_terminal_state():
        client.cancel().result()


def test_a_job_is_seen_while_it_runs(client: JobClient, executor: EndlessExecutor) -> None:
    for _ in range(3):
        executor.step()
    metrics = client.metrics()
    assert (metrics.status, metrics.version, metrics["odd"].metrics.records_in) == ("RUNNING", 3, 300)
    assert metrics.in_rate > 0
    assert client.execution_graph().states() == {"RUNNING": 4}
    assert client.execution_graph().graph.total_vertices == 4


def test_a_job_is_stopped_after_the_step_that_runs(client: JobClient, executor: EndlessExecutor) -> None:
    executor.step()
    client.stop().result()
    client.stop().result()
    result = client.get_job_execution_result().result(SECONDS)
    assert isinstance(result, JobExecutionResult)
    assert client.get_job_status().result() is JobStatus.FINISHED
    assert client.execution_graph().states() == {"FINISHED": 4}
    assert (client.metrics().status, client.metrics().version) == ("FINISHED", 1)


def test_a_job_that_is_to_stop_can_still_be_cancelled(client: JobClient, executor: EndlessExecutor) -> None:
    executor.step()
    client.cancel().result()
    client.stop().result()
    assert isinstance(client.get_job_execution_result().exception(SECONDS), JobCancelledError)
    assert client.execution_graph().states() == {"CANCELED": 4}


def test_a_rest_ends_with_the_wish_to_stop() -> None:
    control = JobControl("x")
    threading.Timer(0.05, control.stop).start()
    control.rest(SECONDS)
    assert control.stopping
    control = JobControl("x")
    threading.Timer(0.05, control.cancel).start()
    with pytest.raises(JobCancelledError):
        control.rest(SECONDS)


class Blind(Planned):
    def prepare(self, pipeline, control):
        return lambda: JobExecutionResult(pipeline.name)


def test_an_executor_that_shows_nothing() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor=Blind())
    env.from_collection([1]).print()
    client = env.execute_async()
    for ask in (client.metrics, client.execution_graph):
        with pytest.raises(UnsupportedError, match=r"has not set control\.observed"):
            ask()


@pytest.mark.parametrize("background", [False, True])
def test_a_tool_sees_every_job_while_it_runs(background: bool) -> None:
    seen = []

    @contextmanager
    def watch(control):
        assert control.observed is not None
        seen.append(("begins", control.observed.metrics().version))
        yield
        seen.append(("ends", control.observed.metrics().version))

    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    env.from_collection([1, 2]).add_sink(lambda value: None)
    with executors.observe(watch):
        if background:
            env.execute_async().get_job_execution_result().result(SECONDS)
        else:
            env.execute()
    assert seen == [("begins", 0), ("ends", 1)]


def test_a_bounded_job_is_one_step_with_executions() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(2)
    write(env)
    client = env.execute_async("bounded")
    result = client.get_job_execution_result().result(SECONDS)
    metrics = client.metrics()
    assert (metrics.version, client.execution_graph().states()) == (1, {"FINISHED": 4})
    assert [operator.metrics for operator in metrics.values()] == list(result.metrics.values())
    assert set(metrics.step.parts) == {"run", "manifest", "publish"}


def test_a_bounded_job_that_fails_says_which_task_and_that_it_ran_again(tmp_path) -> None:
    marker = tmp_path / "once"

    def fail(value):
        if value == 1 or not marker.exists():
            marker.touch()
            raise ValueError("no")
        return value

    settings = Configuration({"restart-strategy": "fixed-delay", "restart-strategy.fixed-delay.delay": "0 ms"})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
    env.from_collection([1]).map(fail).name("fails").add_sink(lambda value: None)
    client = env.execute_async("fails")
    assert isinstance(client.get_job_execution_result().exception(SECONDS), JobExecutionError)
    (vertex,) = client.execution_graph().vertices
    assert [(execution.state, execution.attempt) for execution in (*vertex.prior[0], *vertex.executions)] == [
        ("FAILED", 0),
        ("FAILED", 1),
    ]
    assert client.metrics().failed_steps == 1
