"""Savepoints by reference: no byte of state is copied, and none is removed that one needs."""

from __future__ import annotations

import json
import shutil
import uuid
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import SavepointError
from penstock.job.folder.lease import JobFolder, Lease
from penstock.job.folder.manifest import StepManifest
from penstock.job.savepoint import commands
from penstock.job.savepoint.contents import content_of, verify
from penstock.job.savepoint.format import Reference, StoredSavepoint, parsed, written
from penstock.job.savepoint.store import (
    bring_in,
    copy_savepoint,
    kept,
    read_savepoint,
    release,
    remove_savepoint,
    write_savepoint,
)
from penstock.savepoints import Savepoint as Read
from penstock.savepoints import SavepointWriter
from penstock.storage.storage import join
from penstock.storage.stores import storage_of
from tests.job.savepoint.jobs import SUMS, environment, folder_with_state
from tests.job.savepoint.test_asking import SECONDS, numbers, running  # noqa: F401 - fixtures
from tests.job.savepoint.test_running import version, when

GOLDEN = Path(__file__).parents[2] / "golden" / "savepoints" / "format-1"


@pytest.fixture
def place(tmp_path: Path) -> str:
    folder_with_state(tmp_path / "jobs" / "sums")
    return str(tmp_path)


def taken(place: str, name: str = "a", pinned: bool = True) -> StoredSavepoint:
    """A savepoint by reference of the job in a place."""
    folder = JobFolder(f"{place}/jobs/sums")
    with folder.open("sums") as lease:
        newest = lease.newest()
        assert newest is not None
        return write_savepoint(lease.files, newest, f"{place}/savepoints/{name}", pin=lease.pin if pinned else None)


def test_it_has_no_files_and_is_as_good(place: str) -> None:
    one, other = taken(place), taken(place, "whole", pinned=False)
    assert [path.name for path in Path(one.place).iterdir()] == ["savepoint.json"]
    assert one.reference is not None
    assert (one.reference.way, one.home) == ("../../jobs/sums", f"{place}/jobs/sums")
    assert read_savepoint(one.place) == one
    assert verify(one).problems == ()
    assert verify(one).bytes == verify(other).bytes > 0
    assert content_of(one).home == one.home
    assert content_of(other).home is None
    assert sorted(_sums(one.place)) == sorted(_sums(other.place)) == sorted({key for key, _ in SUMS})
    assert json.loads(Path(other.place, "savepoint.json").read_bytes().partition(b"\n")[0])["format"] == 1
    assert json.loads(Path(one.place, "savepoint.json").read_bytes().partition(b"\n")[0])["format"] == 2


def _sums(place: str) -> Any:
    state = Read(place)
    [operator] = state.operators()
    return [row[0] for row in state.read("sum", operator.states[0].name).rows]


def test_what_it_needs_stays_until_the_last_one_is_removed(place: str) -> None:
    one, other = taken(place), None
    folder = JobFolder(f"{place}/jobs/sums")
    with folder.open("sums") as lease:
        newest = folder.files.load(one.about.version)
        other = write_savepoint(lease.files, newest, f"{place}/savepoints/b", pin=lease.pin)
    for _ in range(3):
        with folder.open("sums") as lease:
            for _ in range(3):
                _step(lease)
                lease.clean()
    assert verify(read_savepoint(one.place)).problems == ()
    remove_savepoint(one)
    remove_savepoint(one)  # a second time does no harm
    assert not Path(one.place).exists()
    _go_on(folder)
    assert verify(read_savepoint(other.place)).problems == ()
    remove_savepoint(other)
    _go_on(folder)
    assert one.about.version not in folder.versions()
    assert list(Path(folder.place, "pins").iterdir()) == []
    assert not {*one.manifest.files()} & {path.name for path in Path(folder.files.state).iterdir()}


def _go_on(folder: JobFolder) -> None:
    """Another driver makes three steps."""
    with folder.open("sums") as lease:
        for _ in range(3):
            lease.cleaner.failed()
            lease.clean()
            _step(lease)
        lease.clean()


def _step(lease: Lease) -> None:
    """One that has no state."""
    lease.commit(StepManifest(lease.version + 1, "sums", "", 0))


def test_one_whose_folder_was_removed_is_let_go(place: str) -> None:
    one = taken(place)
    folder = JobFolder(f"{place}/jobs/sums")
    shutil.rmtree(one.place)
    version = read_savepoint(f"{folder.place}@{one.about.version}")
    assert kept(version) == (one.about.version,)
    assert release(version) == 1
    _go_on(folder)
    assert one.about.version not in folder.versions()
    assert folder.files.pins.pinned() == []
    with pytest.raises(SavepointError, match="is not a checkpoint directory"):
        release(taken(place, "whole", pinned=False))


def test_a_job_begins_with_it_and_its_old_folder_may_go_then(place: str) -> None:
    one = taken(place)
    with JobFolder(f"{place}/new").open("sums") as lease:
        lease.commit(bring_in(read_savepoint(one.place), lease.files))
    shutil.rmtree(f"{place}/jobs")
    newest = JobFolder(f"{place}/new").newest()
    assert newest is not None
    assert {path.name for path in Path(place, "new", "state").iterdir()} == {*newest.files()}


def test_both_are_moved_together_or_copied_alone(place: str, tmp_path: Path) -> None:
    one = taken(place)
    copy = copy_savepoint(one, tmp_path / "copy")
    assert (copy.about, copy.manifest, copy.reference) == (one.about, one.manifest, None)
    SavepointWriter(one.place).rename_uid("sum", "other").write(tmp_path / "edited")
    (tmp_path / "moved").mkdir()
    for name in ("jobs", "savepoints"):
        shutil.move(tmp_path / name, tmp_path / "moved" / name)
    moved = read_savepoint(tmp_path / "moved" / "savepoints" / "a")
    assert verify(moved).problems == ()
    shutil.rmtree(tmp_path / "moved" / "jobs")
    with pytest.raises(
        SavepointError, match=r"has its state in the checkpoint directory .*, and there is no checkpoint directory\."
    ):
        read_savepoint(moved.place)
    folder_with_state(tmp_path / "moved" / "jobs" / "sums")
    with pytest.raises(SavepointError, match="there is another job's folder"):
        read_savepoint(moved.place)
    for whole in (copy.place, str(tmp_path / "edited")):
        assert verify(read_savepoint(whole)).problems == ()
    with pytest.raises(SavepointError, match="There is a savepoint already"):
        copy_savepoint(copy, copy.place)


def test_a_version_of_a_job_is_neither_copied_nor_removed(place: str, tmp_path: Path) -> None:
    version = read_savepoint(f"{place}/jobs/sums")
    for call in (lambda: copy_savepoint(version, tmp_path / "copy"), lambda: remove_savepoint(version)):
        with pytest.raises(SavepointError, match="is a checkpoint directory, not a savepoint"):
            call()
    remove_savepoint(taken(place, "whole", pinned=False))
    assert not Path(place, "savepoints", "whole").exists()


def test_one_that_fails_needs_nothing(place: str) -> None:
    taken(place)
    with pytest.raises(SavepointError, match="There is a savepoint already"):
        taken(place)
    newest = JobFolder(f"{place}/jobs/sums").newest()
    assert newest is not None
    Path(place, "jobs", "sums", "state", next(iter(newest.files()))).unlink()
    with pytest.raises(SavepointError, match="is not there"):
        taken(place, "b")
    pins = JobFolder(f"{place}/jobs/sums").files.pins.entries()
    needed = {(version, by) for _, kind, version, by in pins if kind == "for"}
    freed = {(version, by) for _, kind, version, by in pins if kind == "free"}
    assert len(needed - freed) == 1
    assert len(freed) == 1


def test_another_storage_is_refused(place: str) -> None:
    with JobFolder(f"{place}/jobs/sums").open("sums") as lease:
        newest = lease.newest()
        assert newest is not None
        with pytest.raises(SavepointError, match="which is on another storage"):
            write_savepoint(lease.files, newest, f"memory://{uuid.uuid4().hex}/a", pin=lease.pin)


@pytest.mark.parametrize(
    ("savepoint", "folder", "way"),
    [
        ("/data/savepoints/a", "/data/jobs/b", "../../jobs/b"),
        ("/a", "/b", "../b"),
        ("/a/b", "/a/b/job", "job"),
        ("s3://bucket/a", "s3://bucket/b/c", "../b/c"),
        ("memory://x/a", "memory://y/b", "../../y/b"),
        ("hdfs://host:8020/a/b", "hdfs://host:8020/a/c", "../c"),
        ("s3://bucket/a", "s3://other/b", None),
        ("s3://bucket/a", "/b", None),
    ],
)
def test_ways(savepoint: str, folder: str, way: str | None) -> None:
    reference = Reference.between(savepoint, folder, "0" * 32)
    assert (reference.way if reference else None) == way
    if reference is not None:
        assert reference.place(savepoint) == folder
        assert Reference.read({"job": reference.job, "way": reference.way}) == reference


@pytest.mark.parametrize(
    "way", ["", ".", "..", "../..", "/etc", "a/../b", "a//b", "../a/./b", "a/", "../../../../../../../a", "x" * 5000]
)
def test_ways_that_lead_elsewhere_are_refused(way: str) -> None:
    one = read_savepoint(GOLDEN)
    odd = StoredSavepoint(one.place, one.about, one.manifest, Reference("0" * 32, way))
    short = "/a/b" if way.startswith("../../../../../../..") else one.place
    with pytest.raises(SavepointError, match="is damaged"):
        parsed(written(odd), short)


def test_the_second_format_has_a_reference() -> None:
    one = read_savepoint(GOLDEN)
    body = written(one).partition(b"\n")[2]
    head = {"kind": "penstock savepoint", "format": 2, "sha256": sha256(body).hexdigest()}
    with pytest.raises(SavepointError, match="'reference' is missing"):
        parsed(json.dumps(head).encode() + b"\n" + body, one.place)


def test_a_running_job_is_asked_for_one(running: Any, tmp_path: Path, numbers: Any) -> None:  # noqa: F811
    job = str(tmp_path / "job")
    place = commands.create(job, tmp_path / "others", seconds=SECONDS, reference=True)
    one = read_savepoint(place)
    assert one.home == job
    assert read_savepoint(commands.create(job, None, seconds=SECONDS)).home is None
    for end in (40, 60, 80):
        before, numbers.end = version(running), end
        when(lambda before=before: version(running) > before)
    assert verify(read_savepoint(place)).problems == ()
    last = commands.stop(job, tmp_path / "last", taken=True, drain=False, seconds=SECONDS, reference=True)
    assert last is not None
    for saved in (place, last):
        assert verify(read_savepoint(saved)).problems == ()
        assert read_savepoint(saved).home == job


@pytest.mark.parametrize("kept", [True, False])
def test_the_setting_says_so_for_all(kept: bool, tmp_path: Path) -> None:
    from tests.job.savepoint.test_running import windows

    settings: dict[str, Any] = {"state__savepoints__dir": tmp_path / "own", "penstock__savepoint__reference": "true"}
    env = environment(tmp_path / "job" if kept else None, **settings)
    windows(env, type("Own", (_numbers(),), {"end": 25})).add_sink(lambda value: None)
    client = env.execute_async("windows")
    when(lambda: version(client) >= 1)
    one = read_savepoint(client.trigger_savepoint().result(SECONDS))
    other = read_savepoint(client.stop_with_savepoint(True).result(SECONDS))
    assert [savepoint.home for savepoint in (one, other)] == [str(tmp_path / "job") if kept else None] * 2
    assert other.about.kind == "drain"
    assert not verify(one).problems
    assert not verify(other).problems


def _numbers() -> Any:
    from tests.job.savepoint.jobs import Numbers

    return Numbers


def test_a_job_that_does_not_run_keeps_its_version(place: str) -> None:
    job, folder = f"{place}/jobs/sums", JobFolder(f"{place}/jobs/sums")
    versions = folder.versions()
    own_place = commands.create(f"{job}@{versions[0]}", f"{place}/own", seconds=1, reference=True)
    assert {*versions} < {*folder.versions()}  # and the seal
    assert read_savepoint(commands.create(job, f"{place}/own", seconds=1)).home is None  # its outputs are published
    env = environment(job, penstock__step__records=10, penstock__job__retained_manifests=1)
    from tests.job.savepoint.jobs import sums

    sums(env, 200).add_sink(lambda value: None)
    env.execute("sums")
    assert versions[0] in folder.versions()
    assert verify(read_savepoint(own_place)).problems == ()


def test_on_a_store_no_state_is_sent_or_copied(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """S3: what a savepoint costs whose state has not changed; and any other one by reference."""
    import s3fs

    folder_with_state(f"{bucket}/jobs/sums")
    calls: list[tuple[str, int]] = []
    call = s3fs.S3FileSystem._call_s3

    async def counted(self: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        calls.append((method, len(kwargs.get("Body") or b"")))
        return await call(self, method, *args, **kwargs)

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", counted)
    with JobFolder(f"{bucket}/jobs/sums").open("sums") as lease:
        newest = lease.newest()
        assert newest is not None
        for name in ("a", "b"):
            calls.clear()
            one = write_savepoint(lease.files, newest, f"{bucket}/savepoints/{name}", pin=lease.pin)
            writes = [
                (method, size) for method, size in calls if method.startswith(("put", "copy", "upload", "create"))
            ]
            assert {method for method, _ in writes} == {"put_object"}
            assert sorted(size for _, size in writes)[:-1] in ([0], [0, 0])  # the pins; and savepoint.json
            assert max(size for _, size in writes) == len(written(one))
    assert verify(read_savepoint(one.place)).problems == ()
    calls.clear()
    copy_savepoint(one, f"{bucket}/copies/b")
    assert any(method == "copy_object" for method, _ in calls)


def test_in_memory_no_state_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    place = f"memory://{uuid.uuid4().hex}"
    folder_with_state(f"{place}/jobs/sums")
    before = dict(MemoryFileSystem.store)
    one = taken(place)
    new = {path: len(file.getvalue()) for path, file in MemoryFileSystem.store.items() if path not in before}
    assert not any("/state/" in path for path in new)
    assert len(storage_of(place).get(join(one.place, "savepoint.json"))) in new.values()
    assert sum(size > 0 for path, size in new.items() if "/pins/" in path) == 0
    assert verify(read_savepoint(one.place)).problems == ()
