"""The commit of a job: whatever dies when, its outputs are all there or all as before, and nothing else is left."""

from __future__ import annotations

import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.common import RestartStrategies
from penstock.errors import ConfigurationError, JobExecutionError, PenstockError
from penstock.job.commit.leftovers import Verdict
from penstock.job.deployment import deploy
from penstock.job.folder.manifest import StepManifest
from penstock.job.steps.commits import SingleRun
from penstock.local import LocalExecutor
from penstock.runtime.io.sinks import TextSink
from penstock.runtime.operators.sink import StreamSink
from tests.job.commit.crashes import (
    ONE_OF,
    Fuse,
    before_each_change,
    clean,
    content,
    dies_at,
    hidden,
    manifests,
    pipeline,
    refuse,
    run,
    visible,
)
from tests.job.programs import Program, only_step, reports_in


class Stage:
    """A folder in a state to begin from, and what the job makes of it, computed in undisturbed folders.

    Attributes:
        folder: the newest copy.
        old, new, twice: content before and after the job, and after another run of it.
        first: the change before which the job dies first.
    """

    def __init__(self, tmp_path: Path, before, layout) -> None:
        self.tmp_path, self.layout, self.count = tmp_path, layout, 0
        self.first = sum(layout) % ONE_OF
        self.template = tmp_path / "template"
        self.template.mkdir()
        if before is not None:
            run(self.template, ["earlier", "still earlier"], before)
        self.old = content(self.template)
        self.job(self.fresh())
        self.new = content(self.folder)
        self.job(self.folder)
        self.twice = content(self.folder)
        assert self.new != self.old
        assert (self.twice == self.new) == (len(layout) == 2)

    def fresh(self) -> Path:
        self.count += 1
        self.folder = self.tmp_path / str(self.count)
        shutil.copytree(self.template, self.folder)
        return self.folder

    def job(self, folder: Path) -> None:
        run(folder, range(10), self.layout)

    def dies_at(self, n: int) -> bool:
        """Run the job in a fresh folder in a process that dies at its n-th change; whether it did."""
        folder = self.fresh()
        return dies_at(n, lambda: self.job(folder))


@pytest.fixture(
    params=[
        *((None, (2, 1)), ((2, 1), (2, 1)), ((2, 1), (1, 2)), ((2, 3), (1, 2))),
        *((None, (0, 0, 2)), ((0, 0, 2), (0, 0, 2)), (None, (1, 2, 2)), ((2, 1, 1), (2, 1, 2))),
    ],
    ids=lambda pair: f"{pair[0]}-{pair[1]}",
)
def stage(request, tmp_path):
    return Stage(tmp_path, *request.param)


@pytest.mark.slow
def test_a_driver_that_dies_anywhere_leaves_all_or_nothing(stage):
    n, committed = stage.first, 0
    while stage.dies_at(n):
        folder = stage.folder
        expected = stage.new if manifests(folder) else None
        verdicts = clean(folder)
        committed += Verdict.PUBLISH in verdicts
        assert content(folder) in ([expected] if expected else [stage.old, stage.new]), n
        assert not hidden(folder), n
        assert clean(folder) == []
        n += ONE_OF
    assert content(stage.folder) == stage.new
    assert n > 25
    assert committed >= (1 if ONE_OF > 1 else 5)


@pytest.mark.slow
def test_the_next_run_clears_up(stage):
    n = stage.first
    while stage.dies_at(n):
        folder = stage.folder
        committed = bool(manifests(folder))
        stage.job(folder)
        assert content(folder) in ([stage.twice] if committed else [stage.new, stage.twice]), n
        assert not hidden(folder), n
        n += 2 * ONE_OF  # the test above takes each change, and what clears up is the same
    assert n > 25


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "layout"), [(None, (2, 1)), ((1, 2), (2, 1)), (None, (0, 0, 2)), ((1, 2, 1), (2, 1, 2))]
)
def test_a_clean_up_that_dies_is_cleaned_up(tmp_path, before, layout):
    stage = Stage(tmp_path, before, layout)
    n, seen = stage.first, set()
    while stage.dies_at(n):
        folder = stage.folder
        committed, m = bool(manifests(folder)), 0
        while dies_at(m, lambda folder=folder: clean(folder)):
            m += ONE_OF
        assert content(folder) == stage.new if committed else content(folder) in (stage.old, stage.new)
        seen.add(committed)
        n += ONE_OF
    assert seen == {True, False}


@pytest.mark.slow
def test_an_operation_that_fails_leaves_all_or_nothing(stage):
    n, fuse = stage.first, Fuse(0, refuse)
    outcomes = set()
    while True:
        folder, fuse = stage.fresh(), Fuse(n, refuse)
        failure = None
        with before_each_change(fuse):
            try:
                stage.job(folder)
            except (PenstockError, OSError) as error:
                failure = error
        if not fuse.seen:
            break
        standing = bool(manifests(folder))
        assert standing == ("has succeeded" in str(failure)) or failure is None, fuse.seen
        clean(folder)
        done = standing or failure is None
        outcomes.add((done, failure is None))
        assert content(folder) == (stage.new if done else stage.old), fuse.seen
        assert not hidden(folder), fuse.seen
        n += (ONE_OF + 1) // 2
    assert n > 25
    assert outcomes == {(False, False), (True, False), (True, True)}


def test_a_half_published_job_is_finished_with_all_its_outputs_by_a_run_of_one_of_them(tmp_path):
    n = 0
    while True:
        folder = tmp_path / str(n)
        folder.mkdir()
        assert dies_at(n, lambda folder=folder: run(folder, range(10), overwrite=False))
        n += 1
        if len(visible(folder)) == 2 and manifests(folder):  # the folder of the first sink, without the second's file
            break
    with pytest.raises(ConfigurationError, match="exists already"):
        run(folder, range(10), overwrite=False)
    assert sorted(content(folder)) == ["left/1", "left/2", "right"]


def test_a_failed_task_leaves_nothing(tmp_path):
    run(tmp_path, ["earlier"])
    before = content(tmp_path)
    with pytest.raises(JobExecutionError):
        run(tmp_path, range(1000), function=lambda x: 1 // (x - 999))
    assert content(tmp_path) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["left", "right"]


def test_what_a_failed_attempt_wrote_does_not_count(tmp_path):
    marker = tmp_path / "failed"

    def once(x):
        if x == 999 and not marker.exists():
            marker.touch()
            raise ValueError("once")
        return x

    job = pipeline(tmp_path, range(1000), function=once)
    again = job.settings.restarting(RestartStrategies.fixed_delay_restart(1, 0))
    LocalExecutor().execute(replace(job, settings=again))
    assert sorted((tmp_path / "right").read_text().split(), key=int) == [str(x) for x in range(1000)]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["failed", "left", "right"]


def test_of_two_attempts_that_both_finish_one_counts(tmp_path):
    """Speculation: whichever attempt Spark takes the rows of, the other's files go."""
    job = pipeline(tmp_path, range(100), function=lambda x: (x, os.urandom(4).hex()))
    deployment = deploy(job)
    with SingleRun(deployment) as output:
        first, _second = [reports_in(only_step(deployment, attempt), deployment) for attempt in (0, 1)]
        manifest = StepManifest(1, "two sinks", deployment.job.job_id, 0, outputs=output.put_together(first))
        output.commit(manifest)
        output.publish(manifest)
    assert {report.attempt for report in first} == {0}
    assert sum(counters.records_in for report in first for counters in report.counters) == 300
    folder = sorted("".join(p.read_text() for p in (tmp_path / "left").iterdir()).splitlines())
    assert folder == sorted((tmp_path / "right").read_text().splitlines())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["left", "right"]


def test_jobs_with_other_targets_do_not_disturb_each_other(tmp_path):
    failures = []

    def work(number: int) -> None:
        try:
            for _ in range(5):
                for name in (str(number), f"{number}.pending-"):  # names that look like one another's
                    root = tmp_path / name
                    root.mkdir(exist_ok=True)
                    run(root, range(number * 50))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for i in range(1, 4):
        assert len((tmp_path / str(i) / "right").read_text().split()) == i * 50
        assert sorted(p.name for p in (tmp_path / str(i)).iterdir()) == ["left", "right"]


def test_neighbours_in_one_folder_do_not_disturb_each_other(tmp_path):
    def other(x):
        if x == 5:
            (tmp_path / "inner").mkdir()
            program = Program()
            program.add(StreamSink(TextSink(str(tmp_path / "neighbour"))), program.source("ab"))
            LocalExecutor().execute(program.pipeline())
            assert clean(tmp_path) == [Verdict.RUNNING, Verdict.RUNNING]
        return x

    run(tmp_path, range(10), function=other)
    assert (tmp_path / "neighbour").read_text() == "a\nb\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["inner", "left", "neighbour", "right"]


def test_a_target_of_a_running_job_is_refused(tmp_path):
    def again(x):
        with pytest.raises(ConfigurationError, match="'two sinks' too, which is still running"):
            run(tmp_path, range(10))
        return x

    run(tmp_path, [1], function=again)
    assert (tmp_path / "right").read_text() == "1\n"
