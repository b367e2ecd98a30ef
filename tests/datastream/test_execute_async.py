"""Jobs in the background: how far they are, what they give, and how they are ended."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.program import Planning
from penstock.common import Configuration, JobClient, JobID, JobStatus, RestartStrategies
from penstock.common.jobs.job_control import JobControl
from penstock.datastream import MapFunction, SourceFunction, StreamExecutionEnvironment
from penstock.datastream.environment import executors
from penstock.errors import JobCancelledError, JobExecutionError, UnsupportedError
from penstock.local import LocalExecutor
from tests.datastream import gates

SECONDS = 60
"""More than anything here takes."""


@pytest.fixture
def gate(request: pytest.FixtureRequest) -> threading.Event:
    return gates.gate(request.node.name)


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor="local")


def wait_for(name: str) -> Callable[[Any], Any]:
    def wait(value: Any) -> Any:
        assert gates.gate(name).wait(SECONDS)
        return value

    return wait


def status(client: JobClient) -> JobStatus:
    return client.get_job_status().result()


def ended(client: JobClient) -> BaseException | None:
    return client.get_job_execution_result().exception(SECONDS)


def test_the_program_goes_on_while_the_job_runs(env, gate, request, capsys) -> None:
    env.from_collection([1, 2]).map(wait_for(request.node.name)).print()
    client = env.execute_async("slow")
    future = client.get_job_execution_result()
    assert (status(client), future.done(), future.cancelled()) == (JobStatus.RUNNING, False, False)
    for ask in (future.result, future.exception):
        with pytest.raises(TimeoutError, match="no result after 0 seconds"):
            ask(0)
    assert capsys.readouterr().out == ""
    gate.set()
    result = future.result(SECONDS)
    assert (result.job_name, result.get_job_id()) == ("slow", client.get_job_id())
    assert (status(client), future.done()) == (JobStatus.FINISHED, True)
    assert capsys.readouterr().out == "1\n2\n"
    assert client.get_job_execution_result().result(0) is result
    assert repr(client) == f"<JobClient of {client.get_job_id()}, FINISHED>"


def test_an_environment_forgets_its_operators_and_can_go_on(env, gate, request) -> None:
    env.from_collection([1]).map(wait_for(request.node.name)).print()
    first = env.execute_async()
    assert env.transformations == []
    assert env.from_collection([5]).map(lambda v: v + 1).execute_and_collect(limit=3) == [6]
    gate.set()
    assert ended(first) is None


class Counted(MapFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_metrics_group().counter("seen")

    def map(self, value):
        self.seen.inc()
        return value


def test_accumulators_are_there_when_the_job_has_ended(env) -> None:
    env.from_collection([1, 2, 3]).map(Counted()).print()
    assert env.execute_async().get_accumulators().result(SECONDS) == {"seen": 3}


def test_a_failure_is_that_of_execute(env, caplog) -> None:
    env.from_collection(["x"]).map(int).name("to number").print()
    client = env.execute_async("fails")
    error = ended(client)
    assert type(error) is JobExecutionError
    assert (error.operator, type(error.__cause__)) == ("to number", ValueError)
    with pytest.raises(JobExecutionError, match="to number"):
        client.get_job_execution_result().result(SECONDS)
    assert client.get_accumulators().exception(SECONDS) is error
    assert status(client) is JobStatus.FAILED
    assert "The job 'fails', which runs in the background, has failed" in caplog.text


def test_what_cannot_run_is_refused_at_once(env) -> None:
    lock = threading.Lock()
    env.from_collection([1]).map(lambda v: lock).print()
    with pytest.raises(Exception, match="cannot be pickled"):
        env.execute_async()


class Endless(SourceFunction):
    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, ctx):
        number = 0
        while True:
            ctx.collect(number)
            number += 1
            gates.gate(self.name).set()

    def cancel(self):
        gates.gate(self.name).clear()


CHAINS: dict[str, Callable[[Any], Any]] = {
    "one task": lambda s: s.filter(lambda v: False).print(),
    "an exchange": lambda s: s.rebalance().map(lambda v: v).add_sink(len),
    "a tight loop": lambda s: s.map(lambda v: v).add_sink(bool),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_an_endless_source_is_cancelled(env, gate, request, chain) -> None:
    CHAINS[chain](env.add_source(Endless(request.node.name)))
    client = env.execute_async("endless")
    assert gate.wait(SECONDS)
    assert client.cancel().result() is None
    error = ended(client)
    assert isinstance(error, JobCancelledError)
    assert error.flink_class == "org.apache.flink.runtime.client.JobCancellationException"
    assert status(client) is JobStatus.CANCELED
    assert not gate.is_set(), "the source was not told"
    assert client.cancel().exception() is None, "who cancels twice has cancelled"


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_slow_reader_is_cancelled_between_records(gate, request, mode, tmp_path: Path) -> None:
    name = request.node.name
    configuration = Configuration({"penstock.executor": "local", "execution.runtime-mode": mode})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    seen = gates.gate(f"{name} seen")

    def slow(value: int) -> int:
        gates.gate(f"{name} seen").set()
        assert gates.gate(name).wait(SECONDS)
        assert value < 100_000, "it has gone on to the end"
        return value

    numbers = env.from_collection(list(range(100_001))).key_by(lambda v: 0)
    numbers.map(slow).write_as_text(str(tmp_path / "out"))
    client = env.execute_async()
    assert seen.wait(SECONDS)
    client.cancel()
    gate.set()
    assert isinstance(ended(client), JobCancelledError)
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_waits_for_its_next_attempt_is_cancelled(env) -> None:
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(5, 3_600_000))
    env.from_collection([1]).map(lambda v: 1 // 0).print()
    client = env.execute_async()
    while status(client) is not JobStatus.RESTARTING:
        assert not client.get_job_execution_result().done()
    client.cancel()
    assert isinstance(ended(client), JobCancelledError)


def test_a_job_that_has_ended_cannot_be_cancelled(env) -> None:
    env.from_collection([1]).print()
    client = env.execute_async("done")
    assert ended(client) is None
    error = client.cancel().exception()
    assert isinstance(error, JobExecutionError)
    assert "The job 'done' is FINISHED and cannot be cancelled" in str(error)
    assert error.flink_class is not None
    assert error.flink_class.endswith("FlinkJobTerminatedWithoutCancellationException")
    assert status(client) is JobStatus.FINISHED


def test_from_the_commit_on_nothing_is_cancelled() -> None:
    control = JobControl("commits")
    control.enter(JobStatus.RUNNING)
    control.seal()
    with pytest.raises(JobExecutionError, match="RUNNING and cannot be cancelled any more"):
        control.cancel()
    control.check()
    wished = JobControl("wished")
    wished.cancel()
    wished.enter(JobStatus.RUNNING)
    assert wished.status is JobStatus.CANCELLING
    for act in (wished.seal, wished.check, lambda: wished.pause(0), lambda: wished.on_cancel(list).__enter__()):
        with pytest.raises(JobCancelledError, match="'wished' was cancelled"):
            act()


def test_to_give_up_waiting_does_not_end_the_job(env, gate, request) -> None:
    env.from_collection([1]).map(wait_for(request.node.name)).print()
    client = env.execute_async()
    future = client.get_job_execution_result()
    assert (future.cancel(), future.cancelled(), future.done()) == (True, True, True)
    assert repr(future) == "<CompletableFuture cancelled>"
    with pytest.raises(CancelledError):
        future.result()
    gate.set()
    assert ended(client) is None
    done = client.get_job_execution_result()
    assert (done.cancel(), done.cancelled()) == (False, False)


def test_jobs_run_side_by_side(env, gate, request) -> None:
    """Also deep ones, which need another recursion limit while they run."""
    clients = []
    for deep in (1, 300, 600):
        stream = env.from_collection([1]).map(wait_for(request.node.name))
        for _ in range(deep):
            stream = stream.map(lambda v: v + 1)
        stream.add_sink(bool)
        clients.append(env.execute_async())
    gate.set()
    assert [ended(client) for client in clients] == [None] * 3
    assert len({client.get_job_id() for client in clients}) == 3


def test_whoever_watches_is_told(env) -> None:
    names: list[str] = []
    with executors.watch(lambda result: names.append(result.job_name)):
        env.from_collection([1]).print()
        client = env.execute_async("watched")
    assert ended(client) is None
    assert names == ["watched"]


def test_a_plan_can_be_had_of_a_program_that_runs_in_the_background(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from penstock.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        "env.from_collection([1]).print()\n"
        "env.execute_async('planned').get_job_execution_result().result()\n"
    )
    assert Planning().plan(str(program)).name == "planned"


def test_an_executor_of_the_users_must_be_able_to() -> None:
    class Own:
        def execute(self, pipeline):
            return LocalExecutor().execute(pipeline)

    env = StreamExecutionEnvironment.get_execution_environment(executor=Own())
    env.from_collection([1]).print()
    with pytest.raises(UnsupportedError, match=r"prepare\(pipeline, control\).* Use execute\(\)"):
        env.execute_async()


def test_a_job_that_keeps_no_state_says_at_once_what_savepoints_need(env) -> None:
    env.from_collection([1]).print()
    client = env.execute_async()
    for call in (client.trigger_savepoint, lambda: client.stop_with_savepoint(True, "/tmp")):
        with pytest.raises(JobExecutionError, match=r"keep no state\. Set state\.savepoints\.dir or"):
            call().result(SECONDS)
    assert ended(client) is None


def test_states_that_end_a_job() -> None:
    assert [s.name for s in JobStatus if s.is_globally_terminal_state()] == ["FAILED", "CANCELED", "FINISHED"]
    assert {s.name for s in JobStatus if s.is_terminal_state()} == {"FAILED", "CANCELED", "FINISHED", "SUSPENDED"}
    assert [s.value for s in JobStatus] == list(range(10))


def test_an_id_is_a_value() -> None:
    first = JobID()
    assert (JobID(str(first)), len(str(first))) == (first, 32)
    assert first != JobID()
    assert {first: 1}[JobID(first.text)] == 1
