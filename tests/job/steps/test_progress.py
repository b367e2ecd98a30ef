"""What is known of a job while it runs, out of what a loop tells."""

from __future__ import annotations

import threading
import time

import pytest

from penstock.common.jobs.job_control import JobControl
from penstock.errors import JobExecutionError, UnknownNameError
from penstock.job.deployment import Deployment, deploy
from penstock.job.steps.counts import StepSummary
from penstock.job.steps.progress import Progress
from penstock.metrics import SourceProgress, StateSize
from penstock.metrics.running_job import END_OF_TIME, _steps
from tests.job.steps.loops import Time, chain, pipeline


class Job:
    """A job of two chains at parallelism 2, and what is known of it."""

    def __init__(self, *, endless: bool = True) -> None:
        plan = pipeline()
        self.control = JobControl("clicks")
        self.deployment: Deployment = deploy(plan)
        self.time = Time()
        self.progress = Progress(self.deployment, self.control, plan.job_graph, endless=endless, clock=self.time)
        self.source, self.sums = (vertex.index for level in self.deployment.levels for vertex in level)
        self.version = 0

    def step(self, seconds: float = 1.0, **more) -> None:
        """A step in which the source emits ten records in each of its subtasks, and the sums take twenty in the second
        one of theirs."""
        self.version += more.get("durable", True)
        self.progress.planned(self.version, 4)
        self.time.now += seconds
        counters = {
            (self.source, 0): chain(self.deployment, self.source, [(0, 10), (10, 10)]),
            (self.source, 1): chain(self.deployment, self.source, [(0, 10), (10, 10)]),
            (self.sums, 0): chain(self.deployment, self.sums, [(0, 0), (0, 0)]),
            (self.sums, 1): chain(self.deployment, self.sums, [(20, 20), (20, 0)]),
        }
        more.setdefault("counters", counters)
        self.progress.step(StepSummary(self.version, 50.0, 50.0 + seconds, **more))

    def id(self, name: str) -> str:
        return self.progress.metrics()[name].operator_id


@pytest.fixture
def job() -> Job:
    return Job()


def test_nothing_is_known_before_the_first_step(job: Job) -> None:
    metrics = job.progress.metrics()
    assert (metrics.version, metrics.in_rate, metrics.out_rate, metrics.records_behind) == (0, 0, 0, None)
    assert metrics.bottleneck is None
    assert [operator.name for operator in metrics.values()] == [
        "Source: Sequence Source", "odd", "Keyed Aggregation", "Sink: Out",
    ]  # fmt: skip
    assert metrics["odd"].watermark_lag_ms is None


def test_steps_add_up_and_rates_are_those_of_now(job: Job) -> None:
    for _ in range(4):
        job.step()
    metrics = job.progress.metrics()
    assert (metrics.version, metrics["odd"].metrics.records_in, metrics["odd"].metrics.records_out) == (4, 80, 80)
    assert [subtask.records_in for subtask in metrics["sums"].metrics.subtasks] == [0, 80]
    assert (metrics.in_rate, metrics.out_rate, metrics["odd"].in_rate) == (20, 20, 20)
    assert metrics.seconds == 4
    job.time.now += 5  # nothing happens
    assert job.progress.metrics().in_rate == pytest.approx(80 / 9)
    job.time.now += 10
    assert job.progress.metrics().in_rate == 0
    assert job.progress.metrics()["odd"].metrics.records_in == 80


def test_samples_show_a_step_that_runs_and_do_not_count_twice(job: Job) -> None:
    job.step()
    job.progress.planned(2, 4)
    job.time.now += 1
    job.progress.sample(job.source, 0, chain(job.deployment, job.source, [(0, 4), (4, 4)]), 500.0)
    metrics = job.progress.metrics()
    assert metrics["odd"].metrics.records_in == 24
    assert metrics["odd"].in_rate == pytest.approx(24 / 2)
    assert metrics.vertices[0].tasks[0].busy == 0.25
    job.step(0)
    assert job.progress.metrics()["odd"].metrics.records_in == 40
    assert job.progress.metrics()["odd"].in_rate == pytest.approx(40 / 2)


def test_a_step_that_is_discarded_has_counted_nothing(job: Job) -> None:
    job.step()
    job.progress.sample(job.source, 0, chain(job.deployment, job.source, [(0, 4), (4, 4)]), 500.0)
    job.progress.discarded()
    metrics = job.progress.metrics()
    assert (metrics["odd"].metrics.records_in, metrics.failed_steps) == (20, 1)


def test_steps_between_checkpoints_are_counted_apart(job: Job) -> None:
    """A failure forgets them, and what they have counted."""
    job.step(0.25)
    job.step(2.0, durable=False)
    job.step(2.0, durable=False)
    metrics = job.progress.metrics()
    assert (metrics.version, metrics.steps_since, metrics["odd"].metrics.records_in) == (1, 2, 60)
    assert metrics.step.last_ms == pytest.approx(250)  # of the checkpoint
    assert _steps(metrics).plain.startswith("version 1 and 2 steps · step ")
    job.progress.discarded()
    metrics = job.progress.metrics()
    assert (metrics.version, metrics.steps_since, metrics["odd"].metrics.records_in) == (1, 0, 20)
    job.step(durable=False)
    job.step()
    metrics = job.progress.metrics()
    assert (metrics.version, metrics.steps_since, metrics["odd"].metrics.records_in) == (2, 0, 60)


def test_late_records_watermarks_and_their_lag(job: Job) -> None:
    now = int(time.time() * 1000)
    chains = [chain(job.deployment, job.sums, [(1, 1), (1, 0)], now - 5000 * n, late=n) for n in (1, 2)]
    late = {(job.sums, subtask): metrics for subtask, metrics in enumerate(chains)}
    job.step(counters=late)
    sums = job.progress.metrics()["sums"]
    assert (sums.watermark, sums.metrics.late_dropped) == (now - 10_000, 3)
    assert sums.watermark_lag_ms is not None
    assert 10_000 <= sums.watermark_lag_ms < 60_000
    job.step(counters={place: chain(job.deployment, job.sums, [(0, 0), (0, 0)], END_OF_TIME) for place in late})
    assert job.progress.metrics()["sums"].watermark_lag_ms is None


def test_state_and_sources_stay_as_they_were_told_last(job: Job) -> None:
    sums, source = job.id("sums"), job.id("Source: Sequence Source")
    job.step(states={(sums, 0): StateSize(3, 100), (sums, 1): StateSize(4, 50)}, sources={source: SourceProgress(2, 7)})
    job.step(states={(sums, 1): StateSize(5, 60)})
    metrics = job.progress.metrics()
    assert metrics["sums"].state == StateSize(8, 160)
    assert (metrics.records_behind, metrics["odd"].state, metrics["odd"].source) == (7, StateSize(), None)


def test_times_of_steps(job: Job) -> None:
    for number in range(150):  # the first fifty are forgotten
        job.step(0.001 * (number - 49), parts={"run": number - 49.0, "plan": 1.0})
    step = job.progress.metrics().step
    assert (step.median_ms, step.p99_ms, step.last_ms) == pytest.approx((50.5, 99, 100))
    assert list(step.parts.items()) == [("plan", 1.0), ("run", 50.5)]


def test_the_busiest_subtask_is_named(job: Job) -> None:
    for _ in range(5):
        job.step(busy={(job.source, 0): 300.0, (job.source, 1): 300.0, (job.sums, 0): 100.0, (job.sums, 1): 900.0})
    slow = job.progress.metrics().bottleneck
    assert slow is not None
    assert (slow.task, slow.subtask) == ("Keyed Aggregation -> Sink: Out (2/2)", 1)
    assert (slow.busy, slow.skew) == pytest.approx((0.9, 1.8))


def states(job: Job) -> list[list[tuple[str, int]]]:
    vertices = sorted(job.progress.executions().vertices, key=lambda vertex: -vertex.job_vertex)
    return [[(execution.state, execution.attempt) for execution in vertex.executions] for vertex in vertices]


def test_executions_of_an_endless_job_run_on_from_step_to_step(job: Job) -> None:
    assert job.progress.executions().states() == {"CREATED": 4}
    for state in ("RUNNING", "FINISHED", "RUNNING"):
        job.progress.execution(job.source, 0, 0, state)
    assert states(job)[0] == [("RUNNING", 0), ("CREATED", 0)]
    job.progress.ended()
    assert job.progress.executions().states() == {"FINISHED": 4}


def test_a_task_that_was_tried_again_has_another_execution(job: Job) -> None:
    job.progress.execution(job.sums, 1, 0, "RUNNING")
    job.progress.execution(job.sums, 1, 2, "RUNNING")  # nobody saw the one between
    job.progress.execution(job.sums, 1, 0, "FAILED")
    vertex = next(vertex for vertex in job.progress.executions().vertices if vertex.job_vertex == job.sums)
    assert [(execution.state, execution.attempt) for execution in vertex.executions] == [("CREATED", 0), ("RUNNING", 2)]
    assert [(execution.state, execution.attempt) for execution in vertex.prior[1]] == [("FAILED", 0), ("FAILED", 1)]
    assert vertex.executions[1].id == f"{vertex.executions[0].id[:32]}_1_2"


def test_the_last_sixteen_executions_of_a_subtask_are_remembered(job: Job) -> None:
    for _ in range(20):
        job.progress.execution(job.sums, 1, 0, "RUNNING")
        job.progress.discarded(JobExecutionError("no", task="Keyed Aggregation -> Sink: Out (2/2)", subtask=1))
    vertex = next(vertex for vertex in job.progress.executions().vertices if vertex.job_vertex == job.sums)
    assert [execution.attempt for execution in (*vertex.prior[1], *vertex.executions[1:])] == list(range(4, 21))


def test_after_a_failure_all_tasks_run_again_as_other_executions(job: Job) -> None:
    for vertex in (job.source, job.sums):
        for subtask in range(2):
            job.progress.execution(vertex, subtask, 0, "RUNNING")
    error = JobExecutionError("no", task="Keyed Aggregation -> Sink: Out (2/2)", subtask=1)
    job.progress.discarded(error)
    assert states(job) == [[("CREATED", 1)] * 2] * 2
    prior = [
        [execution.state for execution in attempts] for v in job.progress.executions().vertices for attempts in v.prior
    ]
    assert sorted(prior) == [["CANCELED"], ["CANCELED"], ["CANCELED"], ["FAILED"]]
    job.progress.execution(job.sums, 1, 1, "RUNNING")  # the second try of the second run
    assert states(job)[1] == [("CREATED", 1), ("RUNNING", 2)]
    job.progress.ended(error)
    assert states(job)[1] == [("CANCELED", 1), ("FAILED", 2)]


def test_the_executions_of_a_bounded_job_end_one_by_one() -> None:
    job = Job(endless=False)
    job.progress.execution(job.source, 0, 0, "FINISHED")
    assert states(job)[0] == [("FINISHED", 0), ("CREATED", 0)]
    job.progress.ended(ValueError("of nobody's task"))
    assert states(job) == [[("FINISHED", 0), ("CANCELED", 0)], [("CANCELED", 0)] * 2]


def test_operators_are_found_as_in_a_result(job: Job) -> None:
    metrics = job.progress.metrics()
    assert metrics["sums"] is metrics["Keyed Aggregation"] is metrics[job.id("sums")]
    with pytest.raises(UnknownNameError, match="no metrics of an operator 'none'"):
        metrics["none"]
    assert len(metrics) == 4
    assert repr(metrics) == "RunningMetrics('clicks', CREATED, version 0, 0 records/s in, 0 out)"


def test_any_thread_may_ask_while_another_tells(job: Job) -> None:
    failures: list[BaseException] = []
    done = threading.Event()

    def ask() -> None:
        try:
            while not done.is_set():
                metrics = job.progress.metrics()
                assert metrics["odd"].metrics.records_in == 20 * metrics.version
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    for _ in range(300):
        job.step()
    done.set()
    thread.join()
    assert failures == []
