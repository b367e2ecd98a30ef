"""An executor that runs nothing: a loop that tells of steps as a test wants them, of a program as it was planned."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from penstock.common import JobExecutionResult, JobStatus, Types
from penstock.common.jobs.job_control import JobControl
from penstock.datastream import StreamExecutionEnvironment
from penstock.job.deployment import Deployment, deploy
from penstock.job.run import watched
from penstock.job.steps.counts import StepSummary
from penstock.job.steps.progress import Progress
from penstock.metrics import SubtaskMetrics
from penstock.metrics.running_job import NO_WATERMARK
from penstock.plan import Pipeline


class Time:
    """A clock that stands until it is told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Planned:
    plans_only = True

    def execute(self, pipeline: Pipeline) -> JobExecutionResult:
        self.pipeline = pipeline
        return JobExecutionResult(pipeline.name)


def pipeline(parallelism: int = 2) -> Pipeline:
    """Two chains: ``Source: Sequence Source -> odd`` and ``Keyed Aggregation -> Sink: Out``."""
    planned = Planned()
    env = StreamExecutionEnvironment.get_execution_environment(executor=planned).set_parallelism(parallelism)
    write(env)
    env.execute("clicks")
    return planned.pipeline


def write(env: StreamExecutionEnvironment) -> None:
    odd = env.generate_sequence(1, 10).map(lambda n: (n % 2, n), Types.TUPLE([Types.LONG(), Types.LONG()])).name("odd")
    odd.key_by(lambda pair: pair[0], Types.LONG()).sum(1).uid("sums").add_sink(lambda value: None).name("Out")


def chain(
    deployment: Deployment,
    vertex: int,
    records: Sequence[tuple[int, int]],
    watermark: int = NO_WATERMARK,
    **more: int,
) -> tuple[SubtaskMetrics, ...]:
    """What a task has measured: records in and out of each operator of its chain."""
    operators = deployment.vertices[vertex].operators
    return tuple(
        SubtaskMetrics(
            config.operator_id,
            config.name,
            read,
            written,
            late_dropped=more.get("late", 0),
            input_watermark=watermark,
            output_watermark=watermark,
        )
        for config, (read, written) in zip(operators, records, strict=True)
    )


class EndlessExecutor:
    """Runs no task: makes a version again and again, as soon as a test lets it, until it is stopped or cancelled."""

    def __init__(self) -> None:
        self.turns = threading.Semaphore(0)
        self.finished = threading.Semaphore(0)
        self.version = 0

    def execute(self, pipeline: Pipeline) -> JobExecutionResult:
        return self.prepare(pipeline, JobControl(pipeline.name))()

    def prepare(self, pipeline: Pipeline, control: JobControl) -> Callable[[], JobExecutionResult]:
        deployment = deploy(pipeline, control.job_id.text)
        progress = Progress(deployment, control, pipeline.job_graph, endless=True)

        def run() -> JobExecutionResult:
            control.enter(JobStatus.RUNNING)
            with watched(progress, pipeline.settings):
                while not control.stopping:
                    control.rest(0.01)
                    if self.turns.acquire(blocking=False):
                        self._step(deployment, progress)
            return JobExecutionResult(pipeline.name)

        return run

    def _step(self, deployment: Deployment, progress: Progress) -> None:
        self.version += 1
        source, sums = (vertex.index for level in deployment.levels for vertex in level)
        progress.planned(self.version, 4)
        for vertex in (source, sums):
            for subtask in range(2):
                progress.execution(vertex, subtask, 0, "RUNNING")
                progress.execution(vertex, subtask, 0, "FINISHED")
        counters = {
            **{(source, subtask): chain(deployment, source, [(0, 50), (50, 50)]) for subtask in range(2)},
            **{(sums, subtask): chain(deployment, sums, [(50, 50), (50, 0)]) for subtask in range(2)},
        }
        progress.step(StepSummary(self.version, 10.0, 10.05, {"run": 40.0}, {(sums, 1): 30.0}, counters))
        self.finished.release()

    def step(self) -> None:
        """Make a step, and wait until it stands."""
        self.turns.release()
        assert self.finished.acquire(timeout=60)
