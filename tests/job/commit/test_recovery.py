"""What a dead driver has left: finished, removed, or left alone with the reason."""

from __future__ import annotations

import json
import os

import pytest

from penstock.errors import ConfigurationError
from penstock.job.commit.manifest import Manifest, newest_manifest, write_manifest
from penstock.job.commit.pending import Marker, claim
from penstock.job.commit.recovery import Verdict, pending_at, recover
from penstock.runtime.io.pending import pending_folder
from tests.job.commit.crashes import (
    Fuse,
    before_each_change,
    clean,
    content,
    crashed,
    manifests,
    refuse,
    run,
    visible,
)


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    """No machine loses its power here."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


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
    manifest = newest_manifest(str(path.parent))
    assert manifest is not None
    assert write_manifest(str(path.parent), manifest) is False
    assert write_manifest(str(tmp_path), manifest) is True
    assert newest_manifest(str(tmp_path)) == manifest


def test_the_first_manifest_of_a_version_stands_without_hard_links_too(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", lambda *_: refuse())
    first, second = (Manifest(job, "id", 1, (), ()) for job in ("first", "second"))
    assert write_manifest(str(tmp_path), first)
    assert not write_manifest(str(tmp_path), second)
    assert newest_manifest(str(tmp_path)) == first
    assert write_manifest(str(tmp_path), Manifest("first", "id", 10, (), ()))
    assert newest_manifest(str(tmp_path)).version == 10


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
