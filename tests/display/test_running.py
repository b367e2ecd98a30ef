"""A job that runs, as it shows itself in a terminal and in a notebook."""

from __future__ import annotations

import time

import pytest

from penstock.common.jobs.job import JobStatus
from penstock.common.jobs.job_control import JobControl
from penstock.display.tables import Shown
from penstock.job.deployment import deploy
from penstock.job.steps.counts import StepSummary
from penstock.job.steps.progress import Progress
from penstock.metrics import SourceProgress, StateSize
from penstock.metrics.running_job import _bytes, _lag, _short, line, running_metrics
from tests.display.test_display import Cells, printed
from tests.job.steps.loops import Time, chain, pipeline


@pytest.fixture
def progress() -> Progress:
    plan, control, clock = pipeline(), JobControl("clicks [bold]<b>"), Time()
    deployment = deploy(plan)
    object.__setattr__(deployment.job, "name", "clicks [bold]<b>")
    progress = Progress(deployment, control, plan.job_graph, endless=True, clock=clock)
    source, sums = (vertex for level in deployment.levels for vertex in level)
    control.enter(JobStatus.RUNNING)
    for subtask in range(2):
        progress.execution(source.index, subtask, 0, "RUNNING")
        progress.execution(sums.index, subtask, subtask, "RUNNING")
    clock.now += 2
    watermark = int(time.time() * 1000) - 90_000
    counters = {
        (source.index, 0): chain(deployment, source.index, [(0, 2_000_000), (2_000_000, 9)]),
        (sums.index, 1): chain(deployment, sums.index, [(9, 9), (9, 0)], watermark),
    }
    sizes = {(sums.operators[0].operator_id, 1): StateSize(12_345, 3 << 20)}
    behind = {source.operators[0].operator_id: SourceProgress(1, 1234)}
    busy = {(source.index, 0): 1900.0, (sums.index, 1): 500.0}
    parts = {"plan": 1.0, "run": 1990.0}
    progress.step(StepSummary(17, 50.0, 52.0, parts, busy, counters, sizes, behind))
    return progress


def test_in_a_terminal(progress: Progress) -> None:
    assert printed(progress.metrics()).splitlines() == [
        'Job "clicks [bold]<b>" · RUNNING · 0:00:02 · 1,000,000 records/s in, 4.5 out, 1,234 behind',
        "version 17 · step 2,000 ms median, 2,000 ms p99: plan 1.0, run 1,990",
        "",
        "  operator                 tasks             in/s   out/s  records      lag    state  busy",
        "  Source: Sequence Source  2/2 running          0  1.00 M   2.00 M                    █████  95%",
        "  → odd                                    1.00 M     4.5   2.00 M",
        "  Keyed Aggregation        2/2 running ↻1     4.5     4.5        9  1.5 min  3.0 MiB  █░░░░  25%",
        "  → Sink: Out                                 4.5       0        9  1.5 min",
        "",
        "busiest: Source: Sequence Source -> odd (1/2), 95% of the time, 2.0 × the average of its subtasks",
    ]


def test_columns_in_which_nothing_stands_are_left_out() -> None:
    plan = pipeline()
    progress = Progress(deploy(plan), JobControl("x"), plan.job_graph)
    head = printed(progress.metrics()).splitlines()[2]
    assert head.split() == ["operator", "tasks", "in/s", "out/s", "records", "busy"]
    assert "0/2 done" in printed(progress.metrics())


def test_in_a_notebook(progress: Progress) -> None:
    (table,) = Cells(progress.metrics()._repr_html_()).tables
    assert table[0] == ["operator", "tasks", "in/s", "out/s", "records", "lag", "keys", "state", "busy"]
    assert table[3][0] == "Keyed Aggregation"
    assert "&lt;b&gt;" in progress.metrics()._repr_html_()
    vertices, before = Cells(progress.executions()._repr_html_()).tables
    assert sorted(row[3] for row in vertices[1:]) == ["2 RUNNING", "2 RUNNING"]
    assert before[1][1] == "FAILED"


def test_what_is_ill_is_said(progress: Progress) -> None:
    progress.ended(ValueError("x"))
    assert "2/2 canceled ↻1" in printed(progress.metrics())
    assert repr(progress.executions()) == "JobExecutions(2 vertices, 4 CANCELED)"


def test_long_jobs_are_cut(progress: Progress) -> None:
    assert printed(running_metrics(progress.metrics(), Shown(1))).splitlines()[-3:][0] == "  … and 3 more operators"


def test_in_a_line(progress: Progress) -> None:
    text = line(progress.metrics())
    assert text.endswith("version 17, step 2,000 ms, busiest Source: Sequence Source -> odd (1/2) 95%")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.5, "0.5"),
        (12.3, "12"),
        (7, "7"),
        (9_999, "9,999"),
        (12_345, "12.3 k"),
        (1e6, "1.00 M"),
        (2.5e10, "25.0 G"),
    ],
)
def test_short_numbers(number: float, text: str) -> None:
    assert _short(number) == text


def test_units() -> None:
    assert [_lag(millis) for millis in (None, 12, 1500, 90_000, 7_200_000, 172_800_000, -3000)] == [
        "", "12 ms", "1.5 s", "1.5 min", "2.0 h", "2.0 d", "-3.0 s",
    ]  # fmt: skip
    assert [_bytes(size) for size in (12, 2048, 3 << 20, 5 << 30, 6 << 40)] == [
        "12 B", "2.0 KiB", "3.0 MiB", "5.0 GiB", "6.0 TiB",
    ]  # fmt: skip
