"""A checkpoint directory on a disk, in memory and on S3: steps, restarts, who holds it, who does not any more."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from penstock.errors import CheckpointDirectoryError, ConfigurationError, DirectoryHeldError, FencedError
from penstock.job.folder import owners
from penstock.job.folder.lease import JobFolder, Lease
from penstock.job.folder.manifest import OperatorState, StepManifest
from penstock.job.folder.owners import Lock, Owner
from penstock.runtime.config.tasks import StateFile
from penstock.storage.storage import join
from penstock.storage.stores import storage_of
from tests.job.folder.examples import SUM, everything, reached, step

pytestmark = pytest.mark.slow


@pytest.fixture(params=["disk", "memory", "s3", pytest.param("hdfs", marks=pytest.mark.hdfs)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "disk":
        return str(tmp_path / "new" / "job")
    if request.param == "hdfs":
        return f"{request.getfixturevalue('hdfs')}/job"
    pytest.importorskip("fsspec")
    return f"memory://{tmp_path.name}/job" if request.param == "memory" else f"{request.getfixturevalue('bucket')}/job"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases are over at once, and there are no locks."""
    monkeypatch.setattr(owners, "LEASE_SECONDS", -60.0)
    monkeypatch.setattr(Lock, "_lock", lambda self, file: None)


def names(place: str, folder: str) -> set[str]:
    return {entry.path.rpartition("/")[2] for entry in storage_of(place).list(join(place, folder))}


def test_a_job_goes_on_where_it_was(place: str) -> None:
    folder = JobFolder(place)
    assert (folder.newest(), folder.versions()) == (None, ())
    with folder.open("count") as lease:
        assert lease.opening_notice() == f"Starting with the new checkpoint directory {folder.place!r}."
        assert (lease.newest(), lease.version, lease.epoch) == (None, 0, 1)
        for number in (1, 2, 3):
            assert step(lease, number).version == number
            lease.clean()
    with JobFolder(place).open("another name") as lease:
        assert re.fullmatch(
            rf"Resuming from checkpoint 4 of '{re.escape(folder.place)}', 2026-11-2\d \d\d:\d\d, 1 operator with "
            "state, 5 bytes.",
            lease.opening_notice(),
        )
        assert (reached(lease.newest()), lease.version, lease.epoch) == (3, 4, 2)
        assert lease.about.job == "count"
        step(lease, 4)
        lease.clean()
    assert reached(folder.newest()) == 4
    assert folder.versions() == (4, 5)
    assert names(place, "manifests") == {"manifest-4.json", "manifest-5.json"}
    assert len(names(place, "state")) == 2
    assert [reached(folder.read(version)) for version in (4, 5)] == [3, 4]
    with pytest.raises(CheckpointDirectoryError, match=r"has no checkpoint 3\. It has: 4, 5; penstock.job.retained"):
        folder.read(3)


def test_a_seal_says_which_step_has_made_its_outputs(place: str) -> None:
    with JobFolder(place).open("count") as lease:
        assert [step(lease, number).last_step for number in (1, 2)] == [1, 2]
    for seal in (3, 4):
        with JobFolder(place).open("count") as lease:
            assert (lease.version, lease.newest().last_step, JobFolder(place).newest().last_step) == (seal, 2, 2)
    with JobFolder(place).open("count") as lease:
        assert step(lease, 6).last_step == 6


def test_everything_comes_back(place: str) -> None:
    with JobFolder(place).open("all") as lease:
        for file in everything().state_files():
            storage_of(place).put(join(lease.state, file.name), b"state")
        written = lease.commit(everything(version=1))
    assert (written.epoch, written.retained) == (1, ())
    assert JobFolder(place).read(1) == written == everything(version=1, epoch=1, retained=())


def test_the_second_driver_is_refused_and_told_who_holds_the_folder(place: str) -> None:
    with JobFolder(place).open("count", Owner("count", user="ada")) as lease:
        step(lease, 1)
        with pytest.raises(
            DirectoryHeldError, match=r"'count' of ada on \S+, process \d+, since 20.*Stop that one, or give"
        ):
            JobFolder(place).open("count")
        step(lease, 2)
    with JobFolder(place).open("count") as lease:
        assert reached(lease.newest()) == 2


def test_a_driver_that_is_replaced_cannot_commit(place: str, impatient: None) -> None:
    first = JobFolder(place).open("count")
    step(first, 1)
    with JobFolder(place).open("count", Owner("count", user="bob")) as second:
        with pytest.raises(FencedError, match=r"taken over by the job 'count' of bob .* What it has committed stands"):
            step(first, 2)
        with pytest.raises(FencedError):
            first.clean()
        with pytest.raises(FencedError):
            first.newest()
        assert reached(second.newest()) == 1
        step(second, 2)
        second.cleaner.failed()
        second.clean()
        assert len(names(place, "state")) == 2
    first.close()
    assert reached(JobFolder(place).newest()) == 2


def test_one_that_is_replaced_before_its_first_commit_cannot_either(place: str, impatient: None) -> None:
    first = JobFolder(place).open("count")
    with JobFolder(place).open("count") as second:
        seal = second.newest()
        assert seal is not None
        assert seal.is_nothing
        assert second.opening_notice().startswith("Starting")
        with pytest.raises(FencedError):
            step(first, 1)
        step(second, 1)
    first.close()


def test_what_a_late_driver_creates_counts_for_nobody(place: str, impatient: None) -> None:
    """Its version was there, and was removed again."""
    first = JobFolder(place).open("count")
    with JobFolder(place).open("count") as second:
        for number in (1, 2, 3):
            step(second, number)
            second.clean()
        with pytest.raises(FencedError):
            step(first, 77)
        assert "manifest-1.json" in names(place, "manifests")
        folder = JobFolder(place)
        assert folder.versions() == (3, 4)
        with pytest.raises(CheckpointDirectoryError):
            folder.read(1)
        second.cleaner.failed()
        second.clean()
        assert names(place, "manifests") == {"manifest-3.json", "manifest-4.json"}
        assert len(names(place, "state")) == 2
    first.close()


CHILD = """
import sys
from penstock.job.folder.lease import JobFolder
from tests.job.folder.examples import step
from penstock.errors import FencedError
lease = JobFolder(sys.argv[1]).open("count")
step(lease, 1)
print("ready", flush=True)
sys.stdin.readline()
try:
    step(lease, 2)
except FencedError as error:
    print("fenced", flush=True)
"""


def child(place: str) -> subprocess.Popen[str]:
    """Another process that holds a folder, and has made a step."""
    path = os.pathsep.join(sys.path)
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_on_a_disk_the_next_driver_goes_on_as_soon_as_one_was_killed(tmp_path: Path) -> None:
    place = str(tmp_path / "job")
    with child(place) as process:
        with pytest.raises(DirectoryHeldError, match=f"process {process.pid},"):
            JobFolder(place).open("count")
        process.kill()
        process.wait()
        with JobFolder(place).open("count") as lease:
            assert reached(lease.newest()) == 1
            step(lease, 2)


def test_one_that_another_host_has_left_without_a_word_is_held_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "job")
    with monkeypatch.context() as patch:
        patch.setattr("penstock.job.folder.owners.Owners.leave", lambda self, epoch, published: None)
        JobFolder(place).open("count", Owner("count", host="elsewhere")).close()
    with pytest.raises(DirectoryHeldError, match=r"on elsewhere.*heard of \d+ seconds ago.*is free in \d+ seconds"):
        JobFolder(place).open("count")
    for file in (tmp_path / "job" / "lease").iterdir():
        os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 61))
    JobFolder(place).open("count").close()


@pytest.mark.parametrize(
    ("container", "follows"),
    [
        ("container_1796056782060_0004_02_000001", True),
        ("container_e3_1796056782060_0004_11_000001", True),
        ("container_1796056782060_0004_01_000001", False),  # two drivers that one container has started
        ("container_1796056782060_0005_02_000001", False),
        ("", False),
    ],
)
def test_the_next_attempt_of_an_application_of_yarn_goes_on_at_once(
    container: str, follows: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = f"memory://lease/{tmp_path.name}"
    monkeypatch.setenv("CONTAINER_ID", "container_1796056782060_0004_01_000001")
    first = JobFolder(place).open("count")
    monkeypatch.setenv("CONTAINER_ID", container)
    if follows:
        with JobFolder(place).open("count") as lease:
            assert lease.epoch > first.epoch
            with pytest.raises(FencedError):
                step(first, 1)
    else:
        with pytest.raises(DirectoryHeldError):
            JobFolder(place).open("count")
    first.close()


def test_one_on_a_store_is_held_until_its_lease_is_over(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the driver that was paused finds that it is not the owner any more."""
    place = f"{bucket}/job"
    with child(place) as process:
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(DirectoryHeldError, match=f"process {process.pid}, .*last heard of"):
            JobFolder(place).open("count")
        monkeypatch.setattr(owners, "LEASE_SECONDS", -60.0)
        with JobFolder(place).open("count") as lease:
            process.send_signal(signal.SIGCONT)
            out, _ = process.communicate("go on\n", timeout=60)
            assert out == "fenced\n"
            assert reached(lease.newest()) == 1
            step(lease, 2)


def test_a_fork_holds_nothing(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    with JobFolder(str(tmp_path)).open("count"):
        forked = os.fork()
        if forked == 0:
            os.write(write_end, b"!")  # behind what Python does first in a fork, which lets go of the lock
            signal.pause()
            os._exit(0)
        os.close(write_end)
        with os.fdopen(read_end, "rb") as started:
            assert started.read(1)
    try:
        JobFolder(str(tmp_path)).open("count").close()
    finally:
        os.kill(forked, signal.SIGKILL)
        os.waitpid(forked, 0)


def test_a_pulse_says_that_a_driver_lives_and_notices_its_successor(
    tmp_path: Path, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.job.folder.lease.BEAT_SECONDS", 0.001)
    with JobFolder(str(tmp_path)).open("count") as first:
        assert not first.lost
        with JobFolder(str(tmp_path)).open("count"):
            first._pulse._thread.join()
            assert first.lost


def test_a_damaged_manifest_is_named_with_what_can_be_done(place: str) -> None:
    with JobFolder(place).open("count") as lease:
        step(lease, 1)
        step(lease, 2)
    storage, path = storage_of(place), join(JobFolder(place).files.manifests, "manifest-2.json")
    data = storage.get(path)
    storage.put(path, data[:-5])
    for _ in range(2):  # the first one leaves it free
        with pytest.raises(CheckpointDirectoryError, match=r"manifest-2.json' is damaged.*Or move it away"):
            JobFolder(place).open("count")
    storage.delete([path])
    with JobFolder(place).open("count") as lease:
        assert reached(lease.newest()) == 1


@pytest.mark.parametrize("steps", [1, 3])
def test_a_job_whose_manifests_are_all_gone_does_not_begin_again(place: str, steps: int) -> None:
    with JobFolder(place).open("count") as lease:
        for number in range(1, steps + 1):
            step(lease, number)
            lease.clean()
    storage, manifests = storage_of(place), JobFolder(place).files.manifests
    kept = {path: storage.get(path) for path in (entry.path for entry in storage.list(manifests))}
    before = names(place, "state")
    storage.delete(kept)
    for _ in range(2):  # the first refusal leaves all as it was
        with pytest.raises(
            CheckpointDirectoryError, match=r"no manifest left in .*/manifests'.* a copy.*--from-savepoint"
        ):
            JobFolder(place).open("count")
    assert names(place, "state") == before
    for path, data in kept.items():
        storage.put(path, data)
    with JobFolder(place).open("count") as lease:
        assert reached(lease.newest()) == steps


def test_a_folder_of_an_earlier_penstock_is_marked_when_it_is_opened(place: str) -> None:
    with JobFolder(place).open("count") as lease:
        step(lease, 1)
    storage = storage_of(place)
    storage.delete([join(place, "committed")])
    JobFolder(place).open("count").close()
    storage.delete([entry.path for entry in storage.list(JobFolder(place).files.manifests)])
    with pytest.raises(CheckpointDirectoryError, match="no manifest left"):
        JobFolder(place).open("count")


def test_a_job_that_never_committed_begins_again(place: str) -> None:
    for epoch in (1, 2, 3):
        with JobFolder(place).open("count") as lease:
            storage_of(place).put(join(lease.state, f"{SUM}-0-1-0badcafe"), b"state")  # of a step that failed
            assert (lease.epoch, reached(lease.newest())) == (epoch, 0)
            assert lease.opening_notice().startswith("Starting with the new checkpoint directory")


def test_a_folder_without_its_job_json_is_refused(place: str) -> None:
    with JobFolder(place).open("count") as lease:
        step(lease, 1)
    storage, path = storage_of(place), join(place, "job.json")
    kept = storage.get(path)
    storage.delete([path])
    with pytest.raises(CheckpointDirectoryError, match=r"has lost its job.json.*from a copy"):
        JobFolder(place).open("count")
    storage.put(path, kept)
    with JobFolder(place).open("count") as lease:
        assert reached(lease.newest()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": 2}', "has format 2, and this Penstock knows 1"),
        ('{"format": 1}', "not what a job writes"),
        ("[]", "not what a job writes"),
        ("", "not what a job writes"),
    ],
)
def test_a_folder_of_something_else_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "job.json").write_text(text)
    with pytest.raises(CheckpointDirectoryError, match=message):
        JobFolder(str(tmp_path)).open("count")


def test_a_folder_that_cannot_be_made_is_an_error_of_configuration(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match=r"file/job' cannot be used: .*Set execution.checkpointing.dir"):
        JobFolder(str(tmp_path / "file" / "job")).open("count")


def test_a_commit_of_another_version_is_refused(tmp_path: Path) -> None:
    with JobFolder(str(tmp_path)).open("count") as lease:
        with pytest.raises(CheckpointDirectoryError, match="Checkpoint 6 cannot be committed: checkpoint 0 is the new"):
            lease.commit(everything())
        lease.close()
        with pytest.raises(CheckpointDirectoryError, match="has left the directory"):
            lease.commit(everything(version=1))


@pytest.mark.parametrize("durable", [True, False])
def test_only_a_folder_that_is_to_last_waits_for_the_disk(
    tmp_path: Path, durable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", synced.append)
    with JobFolder(str(tmp_path), durable=durable).open("count") as lease:
        step(lease, 1)
    assert bool(synced) is durable
    assert reached(JobFolder(str(tmp_path)).newest()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="finds out by /proc which file is written out")
def test_state_is_on_the_disk_before_a_manifest_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file once, with the folder that it is in; whatever a power cut leaves, a manifest has its files."""
    happened: list[str] = []
    sync, link = os.fsync, os.link

    def synced(descriptor: int) -> None:
        happened.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        sync(descriptor)

    def linked(old: Path, new: Path) -> None:
        happened.append(f"link {new.name}")
        link(old, new)

    with JobFolder(str(tmp_path)).open("count") as lease:
        monkeypatch.setattr("os.fsync", synced)
        monkeypatch.setattr("os.link", linked)
        for number in (1, 2):
            step(lease, number, keep=1)
            named = happened.index(f"link manifest-{number}.json")
            [file] = [name for name in happened[:named] if name.startswith(f"{SUM}-0-{number}-")]
            assert happened.index(file) < happened.index("state") < named
            assert sum(name.startswith(SUM) for name in happened) == 1
            happened.clear()


@pytest.mark.parametrize("count", [1, 3, 40])
def test_a_state_file_that_is_not_there_is_no_commit(tmp_path: Path, count: int) -> None:
    """As where the driver does not see what tasks have written."""
    with JobFolder(str(tmp_path)).open("count") as lease:
        chain = tuple(StateFile(SUM, f"{SUM}-0-1-{number:08x}", "log", 5, "", 1) for number in range(count))
        for file in chain[1:]:
            storage_of(lease.place).put(join(lease.state, file.name), b"state")
        with pytest.raises(FileNotFoundError, match=chain[0].name):
            lease.commit(StepManifest(1, "count", "", 0, operators={SUM: OperatorState("", None, 1, 128, (chain,))}))
        assert lease.newest() is None


def test_of_many_that_start_at_once_one_has_the_folder(place: str) -> None:
    if place.startswith("memory"):
        pytest.skip("two threads can create one file there")
    together, leases, errors = threading.Barrier(6), list[Lease](), list[Exception]()

    def start() -> None:
        together.wait()
        try:
            leases.append(JobFolder(place).open("count"))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {type(error) for error in errors} == {DirectoryHeldError}
    assert len(leases) == 1
    step(leases[0], 1)
    leases[0].close()


def test_an_owner_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    JobFolder(str(tmp_path)).open("count").close()
    (tmp_path / "lease" / "left-1").unlink()
    (tmp_path / "lease" / "owner-1.json").write_text("{")
    with pytest.raises(CheckpointDirectoryError, match=r"owner-1.json' is not what a job writes.*remove that file"):
        JobFolder(str(tmp_path)).open("count")
    (tmp_path / "lease" / "owner-1.json").unlink()
    JobFolder(str(tmp_path)).open("count").close()


def test_a_folder_whose_leases_were_removed_goes_on(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        with JobFolder(str(tmp_path)).open("count") as lease:
            step(lease, number)
    shutil.rmtree(tmp_path / "lease")
    with JobFolder(str(tmp_path)).open("count") as lease:
        assert lease.epoch == 4
        assert reached(lease.newest()) == 3
        step(lease, 4)
