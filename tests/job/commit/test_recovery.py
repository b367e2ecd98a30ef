"""What a dead driver has left: finished, removed, or left alone with the reason."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import ConfigurationError
from penstock.job.commit.folders import Marker, make
from penstock.job.commit.leftovers import Verdict, pending_at, recover
from penstock.job.folder.manifest import encoded
from penstock.job.folder.single import SingleCommit
from tests.job.commit.crashes import (
    Fuse,
    before_each_change,
    clean,
    content,
    crashed,
    manifest_in,
    manifests,
    refuse,
    run,
    visible,
)


def rewrite(path: Path, *changes: tuple[str, str]) -> bytes:
    """Replace texts in a manifest, which stays a valid one. Returns what was there."""
    before = path.read_bytes()
    manifest = manifest_in(path)
    outputs = []
    for output in manifest.outputs:
        pending, target = output.pending, output.target
        for old, new in changes:
            pending, target = pending.replace(old, new), (target + "\0").replace(old, new).rstrip("\0")
        outputs.append(replace(output, pending=pending, target=target))
    path.write_bytes(encoded(replace(manifest, outputs=tuple(outputs))))
    return before


def test_the_manifest_says_what_counts(tmp_path):
    folder = crashed(tmp_path, committed=True)
    [path] = manifests(folder)
    manifest = manifest_in(path)
    assert (manifest.job, manifest.version, manifest.epoch) == ("two sinks", 1, 1)
    assert [output.target for output in manifest.outputs] == [str(folder / "left"), str(folder / "right")]
    received = [subtask["records_in"] for subtasks in manifest.counters.values() for subtask in subtasks]
    assert sorted(received) == [0, 5, 5, 10]
    assert not manifest.sources  # nobody resumes it
    assert not manifest.operators


def test_a_job_is_committed_without_hard_links_too(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", lambda *_: refuse())
    run(tmp_path, range(10))
    assert sorted(content(tmp_path)) == ["left/1", "left/2", "right"]


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
    foreign = tmp_path / f".left.pending-{job_id}"
    foreign.mkdir()
    (foreign / "notes").write_text("mine")
    (tmp_path / ".x.pending-12").mkdir()
    run(tmp_path, [1])
    assert clean(tmp_path) == [Verdict.LEAVE]
    (foreign / "notes").rename(foreign / "job.json")
    assert clean(tmp_path) == [Verdict.LEAVE]
    marker = {"job": "j", "job_id": job_id, "job_folder": f"{foreign}/commit", "folders": [str(tmp_path / "left")]}
    (foreign / "job.json").write_text(json.dumps(marker))
    assert clean(tmp_path) == [Verdict.LEAVE]
    assert sorted(p.name for p in tmp_path.iterdir()) == [foreign.name, ".x.pending-12", "left", "right"]


def test_what_an_earlier_version_has_left_is_named(tmp_path):
    job_id = "0" * 32
    folder = tmp_path / f".left.pending-{job_id}"
    folder.mkdir()
    (folder / "job.json").write_text(json.dumps({"job": "j", "job_id": job_id, "folders": [str(folder)]}))
    [leftover] = [recover(path) for path in pending_at(str(tmp_path))]
    assert leftover is not None
    assert leftover.verdict is Verdict.LEAVE
    assert "was written by an earlier version of Penstock. Run `penstock clean` of that version" in leftover.reason


def test_a_manifest_that_publishes_from_elsewhere_is_left(tmp_path):
    folder = crashed(tmp_path, committed=True)
    [path] = manifests(folder)
    rewrite(path, (f"{folder}/right\0", f"{folder}/elsewhere\0"))
    assert set(clean(folder)) == {Verdict.LEAVE}
    path.write_bytes(path.read_bytes().replace(b'"format": 1', b'"format": 99'))
    assert set(clean(folder)) == {Verdict.LEAVE}
    path.write_text("{")
    assert set(clean(folder)) == {Verdict.LEAVE}
    assert visible(folder) == {}


def test_an_output_on_a_file_system_that_is_not_mounted_is_waited_for(tmp_path):
    folder = crashed(tmp_path, committed=True)
    [path] = manifests(folder)
    home = next(folder.glob(".left.pending-*"))
    marker = json.loads((home / "job.json").read_text())
    away = str(folder / "disk" / Path(marker["folders"][1]).name)
    texts = {place / "job.json": (place / "job.json").read_text() for place in map(Path, marker["folders"])}
    text = json.dumps({**marker, "folders": [marker["folders"][0], away]})
    for place in texts:
        place.write_text(text)
    before = rewrite(path, (f"{folder}/right\0", f"{folder}/disk/right\0"), ("/.right", "/disk/.right"))
    [verdict] = {leftover.verdict for leftover in [recover(str(home))] if leftover is not None}
    assert verdict is Verdict.LEAVE
    path.write_bytes(before)
    for place, was in texts.items():
        place.write_text(was)
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
    leftovers = [recover(path, dry_run=True) for path in pending_at(str(folder / "left"))]
    assert [(leftover.verdict, leftover.job) for leftover in leftovers] == [(Verdict.PUBLISH, "two sinks")]
    assert leftovers[0].targets == (f"{folder}/left", f"{folder}/right")
    assert content(folder) == before


def test_on_a_file_system_without_locks_a_dead_driver_is_known_by_its_silence(tmp_path, monkeypatch):
    folder = crashed(tmp_path, committed=False)
    monkeypatch.setattr("fcntl.flock", lambda *_: refuse())
    assert set(clean(folder)) == {Verdict.RUNNING}
    with pytest.raises(ConfigurationError, match="which is still running"):
        run(folder, [1])
    assert sorted(run(tmp_path, [1]).collected) == []  # jobs run there
    assert (tmp_path / "right").read_text() == "1\n"
    monkeypatch.setattr("penstock.job.folder.owners.LEASE_SECONDS", -1)
    assert clean(folder) == [Verdict.REMOVE]
    assert content(folder) == {}


def test_a_clean_up_between_the_steps_of_making_a_folder_does_not_hurt(tmp_path):
    home = tmp_path / f".out.pending-{'a' * 32}"
    fuse = Fuse(3, lambda: clean(tmp_path))  # before the lock is opened
    single = SingleCommit(f"{home}/commit", "job")
    with before_each_change(fuse):
        single.begin({})
    assert fuse.seen.startswith(f"open {home}/commit/lease/lock")
    assert clean(tmp_path) == [Verdict.RUNNING]
    single.remove()
    single.close()
    assert content(tmp_path) == {}


def test_links_are_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "left").symlink_to(tmp_path / "real" / "deep")
    run(tmp_path, range(4))
    assert (tmp_path / "left").is_symlink()
    assert sorted(p.name for p in (tmp_path / "real" / "deep").iterdir()) == ["1", "2"]
    run(tmp_path, range(4), (1, 1))
    assert (tmp_path / "real" / "deep").is_file()


def test_a_clean_up_before_the_marker_is_written_does_not_hurt(tmp_path):
    folder, job_id = tmp_path / f".out.pending-{'a' * 32}", "a" * 32
    fuse = Fuse(1, folder.rmdir)  # before the marker is opened
    with before_each_change(fuse):
        make(str(folder), Marker("job", job_id, f"{folder}/commit", (str(folder),)))
    assert fuse.seen.startswith("open ")
    assert [path.name for path in folder.iterdir()] == ["job.json"]
