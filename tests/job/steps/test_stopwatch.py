"""How long parts and tasks of a step take, and what tasks have counted in it."""

from __future__ import annotations

import pytest

from penstock.common.jobs.job_control import JobControl
from penstock.job.deployment import deploy
from penstock.job.steps import stopwatch
from penstock.job.steps.progress import Progress
from penstock.job.steps.stopwatch import Stopwatch
from tests.job.steps.loops import chain, pipeline


class Task:
    """Counts as it is told."""

    def __init__(self, counters):
        self.counted = counters

    def counters(self):
        if isinstance(self.counted, Exception):
            raise self.counted
        return self.counted


class Step:
    def __init__(self) -> None:
        plan = pipeline()
        self.deployment = deploy(plan)
        self.progress = Progress(self.deployment, JobControl("x"), plan.job_graph, endless=True)
        self.source = next(vertex.index for level in self.deployment.levels for vertex in level)

    def counted(self, records: int):
        return chain(self.deployment, self.source, [(0, records), (records, records)])

    def records(self) -> int:
        return self.progress.metrics()["odd"].metrics.records_in


@pytest.fixture
def step(monkeypatch) -> Step:
    monkeypatch.setattr(stopwatch, "_BEAT", 0)
    return Step()


def test_parts_add_up_and_a_task_works_while_it_works(step: Step) -> None:
    watch = Stopwatch(step.progress)
    for _ in range(2):
        with watch.part("run"):
            watch.begin(step.source, 0, Task(step.counted(1)))  # type: ignore[arg-type]
            watch.end(done=False)
    summary = watch.summary(7)
    assert summary.version == 7
    assert list(summary.parts) == ["run"]
    assert 0 < summary.busy[step.source, 0] <= summary.parts["run"] <= summary.milliseconds
    assert step.progress.executions().states() == {"RUNNING": 1, "CREATED": 3}


def test_a_gauge_that_fails_fails_no_look(step: Step) -> None:
    watch = Stopwatch(step.progress)
    watch.begin(step.source, 0, Task(ValueError("a gauge")))  # type: ignore[arg-type]
    watch.beat()
    watch.end(done=True)
    assert step.records() == 0


def test_nobody_looks(step: Step) -> None:
    watch = Stopwatch(None)
    watch.begin(step.source, 0, Task(step.counted(1)))  # type: ignore[arg-type]
    watch.beat()
    watch.end(done=True)
    assert (step.source, 0) in watch.summary(1).busy
