"""The commit on stores: whatever dies when, its outputs are all there or all as before, once all is cleaned up."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.errors import ConfigurationError, InvalidProgramError, JobExecutionError
from penstock.job.commit.leftovers import Verdict, pending_at, recover
from penstock.job.folder import owners
from penstock.job.steps import outputs
from penstock.local import LocalExecutor
from penstock.runtime.io.sinks import TextSink
from penstock.runtime.operators.elementwise import StreamMap
from penstock.runtime.operators.sink import StreamSink
from penstock.storage.stores import Store
from tests.job.commit.crashes import Fuse, pipeline
from tests.job.programs import Program

memory = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem


class Place(str):
    """The URL of a folder, to be divided like a path."""

    def __truediv__(self, name):
        return Place(f"{self}/{name}")


@pytest.fixture
def root(tmp_path):
    return Place(f"memory://crashes/{tmp_path.name}")


class Dead(BaseException):
    """Nothing a program catches."""


@contextmanager
def before_each_change(hook):
    """Call a hook before each change of the memory store, with the name of the call."""
    names = ("_open", "rm_file", "cp_file", "pipe_file")
    originals = {name: getattr(memory, name) for name in names}

    def hooked(name):
        def call(self, path, *args, **kwargs):
            if name != "_open" or kwargs.get("mode", *args[:1]) != "rb":
                hook(f"{name} {path}")
            return originals[name](self, path, *args, **kwargs)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            patch.setattr(memory, name, hooked(name))
        yield


def dies_at(n, work):
    """Run some work until its n-th change, from which on nothing changes any more; False if it came to its end."""
    dead = []

    def die():
        dead.append(True)
        raise Dead

    fuse = Fuse(n, die)

    def hook(change):
        if dead:
            raise Dead
        fuse(change)

    with before_each_change(hook):
        try:
            work()
        except Dead:
            return True
    return False


def run(root, values, layout=(2, 1), **kwargs):
    return LocalExecutor().execute(pipeline(root, values, layout, **kwargs))


def content(root):
    """Files and their texts, without the ids in names."""
    texts = {}
    for entry in Store(root).list(root, deep=True):
        name = re.sub(r"/part-[-0-9a-f]{36}-", "/part-", entry.path[len(root) + 1 :])
        texts.setdefault(name, []).append(Store(root).get(entry.path).decode())
    return {name: "|".join(sorted(parts)) for name, parts in texts.items()}


def visible(root):
    return {name: text for name, text in content(root).items() if "pending-" not in name}


def committed(root):
    return any(re.search(r"pending-[0-9a-f]{32}/commit/manifest-1\.json$", name) for name in content(root))


def clean(root):
    return [leftover.verdict for leftover in map(recover, pending_at(root)) if leftover is not None]


@pytest.fixture
def no_lease(monkeypatch):
    """A driver that dies is known to be dead at once."""
    monkeypatch.setattr(owners, "LEASE_SECONDS", -1)


MANY = pytest.param((2, 1, 1), (2, 1, 2), marks=pytest.mark.spark)  # seconds
LAYOUTS = [(None, (2, 1)), ((2, 1), (1, 2)), (None, (0, 0, 1)), MANY]


@pytest.mark.slow
@pytest.mark.parametrize(("before", "layout"), LAYOUTS)
def test_a_driver_that_dies_anywhere_leaves_all_or_nothing(root, no_lease, before, layout):
    def stage(name):
        if before is not None:
            run(root / name, ["earlier", "still earlier"], before)
        return root / name

    old = content(stage("old"))
    run(stage("new"), range(10), layout)
    new = content(root / "new")
    run(root / "new", range(10), layout)
    twice = content(root / "new")
    n, seen, folder = 0, set(), stage("0")
    while dies_at(n, lambda folder=folder: run(folder, range(10), layout)):
        stood = committed(folder)
        assert stood or visible(folder) in (old, new)  # new: all is done, and the manifest has gone
        if n % 2:
            run(folder, range(10), layout)
            assert content(folder) in ([twice] if stood else [new, twice]), n
        else:
            m = 0
            while dies_at(m, lambda folder=folder: clean(folder)):
                m += 1
            assert content(folder) in ([new] if stood else [old, new]), n
        assert clean(folder) == []
        seen.add(stood)
        n += 1
        folder = stage(f"{n}")
    assert content(folder) == new
    assert seen == {True, False}
    assert n > 15


def test_a_job_that_fails_leaves_nothing(root):
    with pytest.raises(JobExecutionError):
        run(root, range(10), (2, 1, 2), function=lambda x: 1 // (x - 9))
    assert content(root) == {}


def test_a_driver_that_lives_is_left_alone_and_one_that_is_given_up_cannot_commit(root, monkeypatch):
    def meanwhile(x):
        if x == 0:
            assert clean(root) == [Verdict.RUNNING]
            with pytest.raises(ConfigurationError, match="still running, or has died in the last 60 seconds"):
                run(root, [1])
            run(root, [1], (0, 0, 1))  # several jobs may add files
            with monkeypatch.context() as patch:
                patch.setattr(owners, "LEASE_SECONDS", -1)
                assert set(clean(root)) == {Verdict.REMOVE}
        return x

    program = Program()
    mapped = program.add(StreamMap(meanwhile), program.source([1, 0]))
    program.add(StreamSink(TextSink(root / "left")), mapped)
    visible_to = outputs.Outputs._check_visible  # it would see that the files have gone, if it does not look too early
    early = lambda self, *files: None if self._job.name == "slow" else visible_to(self, *files)  # noqa: E731
    monkeypatch.setattr(outputs.Outputs, "_check_visible", early)
    with pytest.raises(JobExecutionError, match="was given up by another one"):
        LocalExecutor().execute(program.pipeline("slow"))
    assert list(visible(root)) == ["more/odd/part-0-0"]
    assert clean(root) == []


def test_what_is_not_known_is_left(root, no_lease):
    n = 0
    while not committed(root / f"{n}"):
        n += 1
        assert dies_at(n, lambda n=n: run(root / f"{n}", range(10)))
    folder = root / f"{n}"
    pending = next(path for path in pending_at(folder) if "left" in path)
    Store(root).put(f"{pending}/thesis.tex", b"years of work")
    assert set(clean(folder)) == {Verdict.LEAVE}
    with pytest.raises(ConfigurationError, match=r"unfinished.*'thesis.tex'.*not written by Penstock"):
        run(folder, range(10))
    Store(root).delete([f"{pending}/thesis.tex"])
    dry = [recover(path, dry_run=True) for path in pending_at(folder)]
    assert {leftover.verdict for leftover in dry} == {Verdict.PUBLISH}
    assert clean(folder) == [Verdict.PUBLISH]
    assert sorted(content(folder)) == ["left/1", "left/2", "right"]


def test_late_files_of_a_job_that_is_over_are_removed(root):
    late = root / f".left.pending-{'0' * 32}" / f"{'a' * 32}-0-{'b' * 32}"
    Store(root).put(late, b"late")
    assert clean(root) == [Verdict.REMOVE]
    assert content(root) == {}


def test_outputs_that_are_there_are_replaced_only_when_asked(root):
    run(root, range(4))
    with pytest.raises(ConfigurationError, match=r"exists already") as caught:
        run(root, range(4), overwrite=False)
    assert caught.value.flink_class == "java.io.IOException"
    run(root, range(6), (1, 2))
    assert sorted(content(root)) == ["left", "right/1", "right/2"]
    Store(root).put(root / "right/thesis.tex", b"years of work")
    with pytest.raises(ConfigurationError, match=r"thesis\.tex.*which no text sink wrote"):
        run(root, range(4))
    Store(root).put(root / "more", b"a file")
    with pytest.raises(ConfigurationError, match=r"is not a folder, so files cannot be added"):
        run(root, range(4), (0, 0, 1))


def test_outputs_in_each_other_s_way_are_refused(root):
    def sinks(*paths):
        program = Program()
        source = program.source([1])
        for path in paths:
            program.add(StreamSink(TextSink(str(path))), source)
        return LocalExecutor().execute(program.pipeline())

    with pytest.raises(InvalidProgramError, match="both write to"):
        sinks(root / "a", f"{root}/a/")
    with pytest.raises(InvalidProgramError, match="both write to"):
        sinks(root / "a", root / "a/b")
    with pytest.raises(ConfigurationError, match="names a whole bucket"):
        sinks("memory://bucket")


@pytest.mark.parametrize("local_first", [True, False])
def test_outputs_on_two_kinds_of_storage_become_visible_together(root, tmp_path, no_lease, local_first):
    """Whichever of them has the manifest, and wherever the driver dies before a change of the store."""

    def two(folder):
        program, (one, other) = Program(), (folder / "stored", f"{tmp_path}/{folder.rpartition('/')[2]}/local")
        source = program.source(range(10))
        for path in (other, one) if local_first else (one, other):
            program.add(StreamSink(TextSink(str(path), overwrite=True)), source)
        return LocalExecutor().execute(program.pipeline("two kinds"))

    def visible_on_both(folder):
        local = tmp_path / folder.rpartition("/")[2]
        names = sorted(str(path.relative_to(local)) for path in local.rglob("*"))
        return sorted(visible(folder)), [name for name in names if "pending-" not in name]

    n, seen = 0, set()
    for number in range(100):
        (tmp_path / f"{number}").mkdir()
    while dies_at(n, lambda folder=root / f"{n}": two(folder)):
        folder = root / f"{n}"
        both = [recover(path) for path in [*pending_at(folder), *pending_at(str(tmp_path / f"{n}" / "local"))]]
        assert all(leftover is None or leftover.verdict in (Verdict.PUBLISH, Verdict.REMOVE) for leftover in both), n
        stored, local = visible_on_both(folder)
        assert bool(stored) == bool(local), n
        assert [name for name in content(folder) if "pending-" in name] == []
        seen.add(bool(stored))
        n += 1
    assert visible_on_both(root / f"{n}") == (["stored"], ["local"])
    assert seen == {True, False}


KILLED = """
import os, sys
from tests.job.commit.crashes import pipeline
from tests.job.commit.test_stores import Place
from penstock.local import LocalExecutor
from penstock.storage.stores import Store

give = Store.give
def killed(self, files):
    give(self, files[:1])
    os.kill(os.getpid(), 9)
Store.give = killed
LocalExecutor().execute(pipeline(Place(sys.argv[1]), range(10), (2, 1, 2)))
"""


@pytest.mark.spark  # it takes as long
def test_a_driver_killed_between_two_copies_on_s3(bucket, monkeypatch):
    root = Place(f"{bucket}/jobs")
    killed = subprocess.run([sys.executable, "-c", KILLED, root], cwd=Path(__file__).parents[3], check=False)
    assert killed.returncode == -9
    assert list(visible(root)) == ["left/1"]
    assert set(clean(root)) == {Verdict.RUNNING}
    monkeypatch.setattr(owners, "LEASE_SECONDS", -1)
    run(Place(bucket) / "new", range(10), (2, 1, 2))
    assert clean(root) == [Verdict.PUBLISH]
    assert content(root) == content(Place(bucket) / "new")
    run(root, range(4), (1, 2, 1))
    assert sorted(visible(root))[:1] == ["left"]
    assert content(root) == visible(root)
