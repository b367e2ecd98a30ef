"""The commit of a job: whatever dies when, its outputs are all there or all as before, and nothing else is left."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import pytest

from penstock.deployment import deploy, sinks
from penstock.errors import ConfigurationError, JobExecutionError, PenstockError
from penstock.local import LocalExecutor, _Job
from penstock.runtime.manifest import Manifest, newest_manifest, write_manifest
from penstock.runtime.operators import StreamMap, StreamSink
from penstock.runtime.pending import Marker, claim, pending_folder
from penstock.runtime.recovery import Verdict, pending_at, recover
from penstock.runtime.results import JobOutput
from penstock.runtime.sinks import TextSink
from tests.runtime.crashes import Fuse, before_each_change, dies_at, refuse
from tests.runtime.programs import Program


def pipeline(root: Path, values, layout=(2, 1), *, overwrite=True, function=None):
    """A source and two sinks, of these parallelisms: folders of files, or single files."""
    program = Program()
    source = program.source(values)
    if function is not None:
        source = program.add(StreamMap(function), source)
    for name, p in zip(("left", "right"), layout, strict=True):
        sink = StreamSink(TextSink(str(root / name), overwrite))
        program.add(sink, source, p=p, partitioner="REBALANCE", name=f"Sink: {name}")
    return program.pipeline("two sinks")


def run(*args, **kwargs):
    return LocalExecutor().execute(pipeline(*args, **kwargs))


def content(root: Path) -> dict[str, str]:
    return {str(p.relative_to(root)): p.read_text() for p in sorted(root.rglob("*")) if p.is_file()}


def visible(root: Path) -> dict[str, str]:
    return {name: text for name, text in content(root).items() if not name.startswith(".")}


def manifests(root: Path) -> list[Path]:
    return list(root.glob(".*.pending-*/manifest-1.json"))


def clean(root: Path) -> list[Verdict]:
    found = [recover(folder) for folder in pending_at(root)]
    return [leftover.verdict for leftover in found if leftover is not None]


class Stage:
    """A folder in a state to begin from, and what the job makes of it, computed in undisturbed folders.

    Attributes:
        folder: the newest copy.
        old, new: content before and after the job.
    """

    def __init__(self, tmp_path: Path, before, layout) -> None:
        self.tmp_path, self.layout, self.count = tmp_path, layout, 0
        self.template = tmp_path / "template"
        self.template.mkdir()
        if before is not None:
            run(self.template, ["earlier", "still earlier"], before)
        self.old = content(self.template)
        self.job(self.fresh())
        self.new = content(self.folder)
        assert self.new != self.old

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


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    """No machine loses its power here."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(
    params=[(None, (2, 1)), ((2, 1), (2, 1)), ((2, 1), (1, 2)), ((2, 3), (1, 2))],
    ids=lambda pair: f"{pair[0]}-{pair[1]}",
)
def stage(request, tmp_path):
    return Stage(tmp_path, *request.param)


def test_a_driver_that_dies_anywhere_leaves_all_or_nothing(stage):
    n, committed = 0, 0
    while stage.dies_at(n):
        folder = stage.folder
        expected = stage.new if manifests(folder) else None
        verdicts = clean(folder)
        committed += Verdict.PUBLISH in verdicts
        assert content(folder) in ([expected] if expected else [stage.old, stage.new]), n
        assert not [p for p in folder.iterdir() if p.name.startswith(".")], n
        assert clean(folder) == []
        n += 1
    assert content(stage.folder) == stage.new
    assert n > 25
    assert committed > 5


def test_the_next_run_clears_up(stage):
    n = 0
    while stage.dies_at(n):
        folder = stage.folder
        stage.job(folder)
        assert content(folder) == stage.new, n
        assert not [p for p in folder.iterdir() if p.name.startswith(".")], n
        n += 1
    assert n > 25


@pytest.mark.parametrize("before", [None, (1, 2)])
def test_a_clean_up_that_dies_is_cleaned_up(tmp_path, before):
    stage, n, seen = Stage(tmp_path, before, (2, 1)), 0, set()
    while stage.dies_at(n):
        folder = stage.folder
        committed, m = bool(manifests(folder)), 0
        while dies_at(m, lambda folder=folder: clean(folder)):
            m += 1
        assert content(folder) == stage.new if committed else content(folder) in (stage.old, stage.new)
        seen.add(committed)
        n += 3
    assert seen == {True, False}


def test_an_operation_that_fails_leaves_all_or_nothing(stage):
    n, fuse = 0, Fuse(0, refuse)
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
        assert not [p for p in folder.iterdir() if p.name.startswith(".")], fuse.seen
        n += 1
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
    job.config.update({"restart-strategy": "fixed-delay", "restart-strategy.fixed-delay.attempts": "1"})
    job.config.update({"restart-strategy.fixed-delay.delay": "0"})
    LocalExecutor().execute(job)
    assert sorted((tmp_path / "right").read_text().split(), key=int) == [str(x) for x in range(1000)]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["failed", "left", "right"]


def test_of_two_attempts_that_both_finish_one_counts(tmp_path):
    """Speculation: whichever attempt Spark takes the rows of, the other's files go."""
    job = pipeline(tmp_path, range(100), function=lambda x: (x, os.urandom(4).hex()))
    deployment = deploy(job)
    rows = []
    output = JobOutput(deployment, sinks(job))
    output.take(lambda: [rows.append(_Job(deployment, attempt).run()) for attempt in (0, 1)] and rows[0])
    assert {report.attempt for report in output.reports} == {0}
    assert sum(counters.records_in for report in output.reports for counters in report.counters) == 300
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


def crashed(tmp_path: Path, committed: bool) -> Path:
    """A folder with what a dead driver has left of a job, with or without the manifest."""
    n = 0
    while True:
        folder = tmp_path / f"crashed{n}"
        folder.mkdir()
        assert dies_at(n, lambda folder=folder: run(folder, range(10), overwrite=False))
        homes = list(folder.glob(".left.pending-*/[0-9a-f]*"))
        if bool(manifests(folder)) == committed and (committed or homes):
            return folder
        n += 1


def test_the_manifest_says_what_counts(tmp_path):
    folder = crashed(tmp_path, committed=True)
    [path] = manifests(folder)
    data = json.loads(path.read_text())
    assert (data["format"], data["job"], data["version"]) == (1, "two sinks", 1)
    assert [output["target"] for output in data["outputs"]] == [str(folder / "left"), str(folder / "right")]
    sinks = [each for each in data["operators"] if each["files"]]
    assert [(s["name"], s["parallelism"], s["subtask"], s["files"]) for s in sinks] == [
        ("Sink: left", 2, 0, [str(folder / "left/1")]),
        ("Sink: left", 2, 1, [str(folder / "left/2")]),
        ("Sink: right", 1, 0, [str(folder / "right")]),
    ]
    assert sum(s["counters"]["records_in"] for s in sinks) == 20
    manifest = newest_manifest(path.parent)
    assert manifest is not None
    assert write_manifest(path.parent, manifest) is False
    assert write_manifest(tmp_path, manifest) is True
    assert newest_manifest(tmp_path) == manifest


def test_the_first_manifest_of_a_version_stands_without_hard_links_too(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", lambda *_: refuse())
    first, second = (Manifest(job, "id", 1, (), ()) for job in ("first", "second"))
    assert write_manifest(tmp_path, first)
    assert not write_manifest(tmp_path, second)
    assert newest_manifest(tmp_path) == first
    assert write_manifest(tmp_path, Manifest("first", "id", 10, (), ()))
    assert newest_manifest(tmp_path).version == 10


def test_an_output_in_the_way_of_a_committed_one_is_left_and_named(tmp_path):
    folder = crashed(tmp_path, committed=True)
    (folder / "right").write_text("precious")
    [verdict] = set(clean(folder))
    assert verdict is Verdict.LEAVE
    with pytest.raises(ConfigurationError, match=r"unfinished.*exists already"):
        run(folder, range(10))
    assert visible(folder) == {"right": "precious"}
    (folder / "right").unlink()
    assert clean(folder) == [Verdict.PUBLISH]
    assert sorted(content(folder)) == ["left/1", "left/2", "right"]


@pytest.mark.parametrize("committed", [True, False])
def test_what_is_not_known_is_left(tmp_path, committed):
    folder = crashed(tmp_path, committed)
    pending = next(folder.glob(".left.pending-*"))
    (pending / "thesis.tex").write_text("years of work")
    before = content(folder)
    assert set(clean(folder)) == {Verdict.LEAVE}
    assert content(folder) == before
    (pending / "thesis.tex").unlink()
    assert clean(folder) == [Verdict.PUBLISH if committed else Verdict.REMOVE]


def test_folders_that_only_look_like_pending_ones_are_left(tmp_path):
    job_id = "0" * 32
    foreign = pending_folder(tmp_path / "left", job_id)
    foreign.mkdir()
    (foreign / "notes").write_text("mine")
    (tmp_path / ".x.pending-12").mkdir()
    run(tmp_path, [1])
    assert clean(tmp_path) == [Verdict.LEAVE]
    (foreign / "notes").rename(foreign / "job.json")
    assert clean(tmp_path) == [Verdict.LEAVE]
    (foreign / "job.json").write_text(json.dumps({"job": "j", "job_id": job_id, "folders": [str(tmp_path / "left")]}))
    assert clean(tmp_path) == [Verdict.LEAVE]
    assert sorted(p.name for p in tmp_path.iterdir()) == [foreign.name, ".x.pending-12", "left", "right"]


def test_a_manifest_that_publishes_from_elsewhere_is_left(tmp_path):
    folder = crashed(tmp_path, committed=True)
    [path] = manifests(folder)
    path.write_text(path.read_text().replace(str(folder / "right") + '"', str(folder / "elsewhere") + '"'))
    assert set(clean(folder)) == {Verdict.LEAVE}
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    assert set(clean(folder)) == {Verdict.LEAVE}
    path.write_text("{")
    assert set(clean(folder)) == {Verdict.LEAVE}
    assert visible(folder) == {}


def test_an_output_on_a_file_system_that_is_not_mounted_is_waited_for(tmp_path):
    folder = crashed(tmp_path, committed=True)
    [path] = manifests(folder)
    text = path.read_text()
    path.write_text(text.replace(f'{folder}/right"', f'{folder}/disk/right"').replace("/.right", "/disk/.right"))
    assert set(clean(folder)) == {Verdict.LEAVE}
    path.write_text(text)
    assert clean(folder) == [Verdict.PUBLISH]


def test_without_the_home_nothing_is_decided(tmp_path):
    folder = crashed(tmp_path, committed=True)
    home = next(folder.glob(".left.pending-*"))
    home.rename(tmp_path / "away")
    assert clean(folder) == [Verdict.LEAVE]
    (tmp_path / "away").rename(home)
    assert clean(folder) == [Verdict.PUBLISH]


def test_a_dry_run_changes_nothing(tmp_path):
    folder = crashed(tmp_path, committed=True)
    before = content(folder)
    leftovers = [recover(path, dry_run=True) for path in pending_at(folder / "left")]
    assert [(found.verdict, found.job) for found in leftovers] == [(Verdict.PUBLISH, "two sinks")]
    assert [str(t.relative_to(folder)) for t in leftovers[0].targets] == ["left", "right"]
    assert content(folder) == before


def test_a_file_system_without_locks_counts_as_running(tmp_path, monkeypatch):
    folder = crashed(tmp_path, committed=False)
    monkeypatch.setattr("fcntl.flock", lambda *_: refuse())
    assert set(clean(folder)) == {Verdict.RUNNING}
    with pytest.raises(ConfigurationError, match="no locks"):
        run(folder, [1])
    assert sorted(run(tmp_path, [1]).collected) == []  # jobs run there
    assert (tmp_path / "right").read_text() == "1\n"


def test_a_clean_up_between_the_steps_of_making_a_folder_does_not_hurt(tmp_path):
    folder = pending_folder(tmp_path / "out", "a" * 32)
    fuse = Fuse(1, lambda: folder.rmdir())  # before the marker is opened
    with before_each_change(fuse):
        claim(folder, Marker("job", "a" * 32, (str(folder),))).close()
    assert fuse.seen.startswith("open ")
    assert (folder / "job.json").exists()


def test_links_are_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "left").symlink_to(tmp_path / "real" / "deep")
    run(tmp_path, range(4))
    assert (tmp_path / "left").is_symlink()
    assert sorted(p.name for p in (tmp_path / "real" / "deep").iterdir()) == ["1", "2"]
    run(tmp_path, range(4), (1, 1))
    assert (tmp_path / "real" / "deep").is_file()
