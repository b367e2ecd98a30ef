"""Savepoints of jobs of others, and their end: beside a driver, without one, and when it dies meanwhile."""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.common import JobStatus, WatermarkStrategy
from penstock.errors import CheckpointDirectoryError, ConfigurationError, SavepointError
from penstock.job.folder import owners
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.manifest import Output
from penstock.job.folder.requests import Request, Requests
from penstock.job.savepoint import commands
from penstock.job.savepoint.store import bring_in, check_published, read_savepoint
from tests.job.folder.examples import step
from tests.job.savepoint.jobs import Numbers, environment, folder_with_state, look_often
from tests.job.savepoint.test_running import Slow, lines, sink_to, version, when, windows

SECONDS = 60.0
NONE = WatermarkStrategy.no_watermarks()


@pytest.fixture
def numbers() -> type[Numbers]:
    class Own(Numbers):
        end = 25

    return Own


@pytest.fixture
def running(tmp_path: Path, numbers: type[Numbers]):
    """A job that runs, with ``job`` and ``out`` in the folder."""
    env = environment(tmp_path / "job", state__savepoints__dir=tmp_path / "own", penstock__job__retained_manifests=5)
    sink_to(tmp_path / "out", windows(env, numbers))
    client = env.execute_async("windows")
    when(lambda: version(client) >= 1)
    yield client
    if not client.get_job_status().result().is_terminal_state():
        client.cancel()
    client.get_job_execution_result().exception(SECONDS)


def lease(folder: Path) -> list[str]:
    return [path.name for path in (folder / "job" / "lease").iterdir() if path.name.startswith(("ask", "answer"))]


def test_one_is_taken_beside_a_driver(running: Any, tmp_path: Path) -> None:
    job = str(tmp_path / "job")
    place = commands.create(job, tmp_path / "others", seconds=SECONDS)
    assert Path(place).parent == tmp_path / "others"
    savepoint = read_savepoint(place)
    assert (savepoint.about.kind, savepoint.about.version) == ("savepoint", version(running))
    assert Path(commands.create(job, None, seconds=SECONDS)).parent == tmp_path / "own"
    assert lease(tmp_path) == []
    assert running.get_job_status().result() is JobStatus.RUNNING


def test_an_older_version_is_taken(running: Any, tmp_path: Path, numbers: type[Numbers]) -> None:
    for end in (40, 60, 80):
        before, numbers.end = version(running), end
        when(lambda before=before: version(running) > before)
    older = JobFolder(str(tmp_path / "job")).versions()[0]
    place = commands.create(f"{tmp_path}/job@{older}", tmp_path, seconds=SECONDS)
    assert read_savepoint(place).about.version == older
    with pytest.raises(SavepointError, match="Checkpoint 999 cannot be read: it does not exist"):
        commands.create(f"{tmp_path}/job@999", tmp_path, seconds=SECONDS)


def test_errors_of_the_driver_are_told(running: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SavepointError, match="cannot be written"):
        commands.create(str(tmp_path / "job"), tmp_path / "file", seconds=SECONDS)
    with pytest.raises(SavepointError, match="cannot be written"):
        commands.stop(str(tmp_path / "job"), tmp_path / "file", taken=True, drain=False, seconds=SECONDS)
    assert running.get_job_status().result() is JobStatus.RUNNING


@pytest.mark.slow
@pytest.mark.parametrize("drain", [False, True])
@pytest.mark.parametrize("taken", [False, True])
def test_a_job_is_stopped(running: Any, tmp_path: Path, taken: bool, drain: bool) -> None:
    place = commands.stop(str(tmp_path / "job"), tmp_path, taken=taken, drain=drain, seconds=SECONDS)
    assert running.get_job_execution_result().result(SECONDS).job_name == "windows"
    assert running.get_job_status().result() is JobStatus.FINISHED
    wanted = ["(0, 10)", "(0, 10)", "(0, 5)"] if drain else []
    assert sorted(lines(tmp_path / "out"), key=lambda line: ("5" in line, line)) == wanted
    if taken:
        assert read_savepoint(place or "").about.kind == ("drain" if drain else "stop")
    else:
        assert place is None
    with pytest.raises(CheckpointDirectoryError, match="No job is running"):
        commands.stop(str(tmp_path / "job"), None, taken=False, drain=False, seconds=SECONDS)


def test_what_was_asked_of_a_dead_driver_stops_none_that_comes_later(tmp_path: Path, numbers: type[Numbers]) -> None:
    with JobFolder(str(tmp_path / "job")).open("dead") as dead:
        Requests(dead.files.storage, dead.files.owners, dead.epoch).ask(Request("stop"))
    assert lease(tmp_path) != []
    env = environment(tmp_path / "job")
    sink_to(tmp_path / "out", windows(env, numbers))
    client = env.execute_async("windows")
    when(lambda: version(client) >= 1)
    commands.create(str(tmp_path / "job"), tmp_path, seconds=SECONDS)  # it looks for requests
    assert client.get_job_status().result() is JobStatus.RUNNING
    assert lease(tmp_path) == []  # the clean-up after its first step has removed it
    client.cancel()


def test_nobody_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with JobFolder(str(tmp_path / "job")).open("busy") as driver:
        step(driver, 1)
        with pytest.raises(SavepointError, match="No answer came within 0 seconds from the job"):
            commands.create(driver.place, tmp_path, seconds=0.3)
        assert lease(tmp_path) == []


def test_a_driver_that_leaves_without_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the savepoint is taken without it."""
    monkeypatch.setattr(commands, "_LOOK", 0.1)
    folder = folder_with_state(tmp_path / "job")
    driver = JobFolder(folder.place).open("sums")
    threading.Timer(0.5, driver.close).start()
    savepoint = read_savepoint(commands.create(folder.place, tmp_path, seconds=SECONDS))
    assert len(savepoint.manifest.operators) == 1
    driver = JobFolder(folder.place).open("sums")
    threading.Timer(0.5, driver.close).start()
    place = commands.stop(folder.place, tmp_path, taken=True, drain=False, seconds=SECONDS)
    assert read_savepoint(place or "").about.kind == "stop"


def test_one_is_taken_without_a_driver(tmp_path: Path) -> None:
    files = folder_with_state(tmp_path / "job")
    versions = JobFolder(files.place).versions()
    before = files.storage.list(files.place, deep=True)
    for job, wanted in ((files.place, versions[-1]), (f"{files.place}@{versions[0]}", versions[0])):
        place = commands.create(job, tmp_path / "savepoints", seconds=SECONDS)
        assert read_savepoint(place).about.version == wanted
    assert files.storage.list(files.place, deep=True) == before
    with pytest.raises(ConfigurationError, match="No running job knows"):
        commands.create(files.place, None, seconds=SECONDS)


def test_a_driver_of_this_machine_that_was_killed_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = folder_with_state(tmp_path / "job")
    driver = JobFolder(files.place).open("sums")
    assert files.owners.living() is not None
    monkeypatch.setattr(owners, "_gone", lambda pid: True)
    assert files.owners.living() is None
    driver._pulse.stop()  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["nothing", "empty"])
def test_what_is_no_job_is_said(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointDirectoryError, match=r"is not a checkpoint directory: it has no job\.json"):
        commands.create(str(tmp_path / name), tmp_path, seconds=SECONDS)
    JobFolder(str(tmp_path / "job")).open("x").close()
    with pytest.raises(SavepointError, match="has no checkpoint yet"):
        commands.create(str(tmp_path / "job"), tmp_path, seconds=SECONDS)


def test_a_request_that_is_none_is_answered_so(tmp_path: Path) -> None:
    with JobFolder(str(tmp_path / "job")).open("x") as driver:
        requests = Requests(driver.files.storage, driver.files.owners, driver.epoch)
        for number, text in enumerate(
            ("", "[]", "{}", '{"kind": "kill"}', '{"kind": "stop", "folder": 5}', "[" * 9999)
        ):
            path = tmp_path / "job" / "lease" / f"ask-{driver.epoch}-{number:032x}.json"
            path.write_text(text)
        assert list(requests.new()) == []
        assert list(requests.new()) == []
        answers = [path for path in lease(tmp_path) if path.startswith("answer")]
        assert len(answers) == 6
        for name in answers:
            assert json.loads((tmp_path / "job" / "lease" / name).read_text())["error"]


def unpublished(tmp_path: Path) -> tuple[Files, int]:
    """A job that died when a version stood, and an output of it waits; which version."""
    folder_with_state(tmp_path / "job")
    with JobFolder(str(tmp_path / "job")).open("x", retained=3) as driver:
        (tmp_path / "waiting").write_text("x")
        newest = driver.newest()
        assert newest is not None
        outputs = (Output(str(tmp_path / "waiting"), str(tmp_path / "out"), False),)
        more = replace(newest, version=newest.version + 1, sealed=False, step=0)
        driver.commit(more)
        driver.commit(replace(more, version=newest.version + 2, outputs=outputs))
    return driver.files, newest.version + 2


def test_outputs_that_wait_are_not_lost_without_a_word(tmp_path: Path) -> None:
    files, last = unpublished(tmp_path)
    for act in (
        lambda: commands.create(files.place, tmp_path, seconds=SECONDS),
        lambda: bring_in(read_savepoint(f"{files.place}@{last}"), Files(str(tmp_path / "new"))),
    ):
        with pytest.raises(
            SavepointError, match=rf"outputs that are not published yet.*or use {files.place}@{last - 1}"
        ):
            act()
    place = commands.create(f"{files.place}@{last - 1}", tmp_path / "savepoints", seconds=SECONDS)
    assert read_savepoint(place).about.version == last - 1
    (tmp_path / "waiting").rename(tmp_path / "out")
    place = commands.create(files.place, tmp_path / "savepoints", seconds=SECONDS)
    assert read_savepoint(place).about.version == last


def test_a_driver_that_leaves_says_whether_outputs_wait(tmp_path: Path) -> None:
    files, _ = unpublished(tmp_path)
    with JobFolder(files.place).open("x") as driver:
        newest = driver.newest()
        assert newest is not None
        assert newest.sealed
        with pytest.raises(SavepointError):
            check_published(files, newest)
        driver.published = True  # as whoever has published it says
    check_published(files, newest)


def test_a_savepoint_of_a_driver_that_is_replaced_fails_or_is_whole(
    running: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(monkeypatch)
    future: Future[str] = running.trigger_savepoint(str(tmp_path))
    assert slow.begun.wait(SECONDS)
    monkeypatch.setattr(owners, "LEASE_SECONDS", -60.0)
    monkeypatch.setattr(owners.Lock, "refused", False, raising=False)
    lock = owners.Lock.__init__

    def unlocked(self: Any, folder: str) -> None:
        lock(self, folder)
        self.refused = False

    monkeypatch.setattr(owners.Lock, "__init__", unlocked)
    with JobFolder(str(tmp_path / "job")).open("second", retained=1) as second:
        for _ in range(3):
            newest = second.newest()
            assert newest is not None
            second.commit(replace(newest, version=newest.version + 1, operators={}, outputs=(), sealed=False))
            second.clean()
        slow.on.set()
        with pytest.raises(SavepointError, match="could not be made"):
            future.result(SECONDS)


@pytest.mark.slow
def test_a_job_folder_on_a_store(tmp_path: Path, numbers: type[Numbers], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    look_often(monkeypatch)
    job = f"memory://asking/{tmp_path.name}/job"
    env = environment(job)
    windows(env, numbers).add_sink(lambda value: None)
    client = env.execute_async("windows")
    when(lambda: version(client) >= 1)
    place = commands.create(job, f"memory://asking/{tmp_path.name}", seconds=SECONDS)
    assert read_savepoint(place).about.kind == "savepoint"
    other = commands.stop(job, tmp_path, taken=True, drain=False, seconds=SECONDS)
    assert read_savepoint(other or "").about.kind == "stop"
    assert client.get_job_execution_result().exception(SECONDS) is None
    again = commands.create(job, tmp_path, seconds=SECONDS)
    assert read_savepoint(again).about.version >= read_savepoint(other or "").about.version
