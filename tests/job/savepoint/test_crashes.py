"""Who dies while a savepoint is taken or brought in leaves it whole, or none; and the checkpoint directory as it
was."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from penstock.errors import SavepointError
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.manifest import StepManifest
from penstock.job.savepoint.contents import verify
from penstock.job.savepoint.store import bring_in, read_savepoint, write_savepoint
from tests.effort import one_of
from tests.job.commit.crashes import dies_at
from tests.job.savepoint.jobs import folder_with_state

pytestmark = pytest.mark.slow

STEP = one_of(3)
"""Whoever dies does so before one in so many changes."""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return folder_with_state(tmp_path_factory.mktemp("jobs") / "job")


def all_files(files: Files) -> dict[str, bytes]:
    return {entry.path: Path(entry.path).read_bytes() for entry in files.storage.list(files.place, deep=True)}


def deaths(work: Callable[[Path], None], root: Path) -> Iterator[Path]:
    """The places in which work died: before one in ``STEP`` changes, and before each of the last ones."""
    n = 0
    while dies_at(n, partial(work, root / str(n))):
        yield root / str(n)
        n += STEP
    last = (n - before for before in range(STEP - 1, 0, -1))
    yield from (root / str(m) for m in last if dies_at(m, partial(work, root / str(m))))


@pytest.mark.parametrize("links", [True, False], ids=["linked", "copied"])
def test_whoever_dies_while_one_is_taken(links: bool, job: Files, tmp_path: Path) -> None:
    manifest, before = job.newest(), all_files(job)
    assert manifest is not None

    def take(place: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            if not links:
                patch.setattr("penstock.job.savepoint.transfer._linked", lambda old, last: False)
            write_savepoint(job, manifest, place)

    places, whole = list[Path](), 0
    for place in deaths(take, tmp_path):
        places.append(place)
        try:
            saved = read_savepoint(place)
        except SavepointError:
            assert not (place / "savepoint.json").exists()
            saved = write_savepoint(job, manifest, place)  # it can be taken there
        else:
            whole += 1
        assert verify(saved).problems == ()
    assert len(places) * STEP > len(list(manifest.files()))
    assert whole > 0
    assert all_files(job) == before


def test_whoever_dies_while_one_by_reference_is_taken(job: Files, tmp_path: Path) -> None:
    """It is there, and what it needs stays, or it is not there."""
    n, whole = 0, 0

    def take(folder: JobFolder, place: Path) -> None:
        with folder.open("sums") as lease:
            newest = lease.newest()
            assert newest is not None
            write_savepoint(lease.files, newest, place, pin=lease.pin)

    while True:
        root = tmp_path / str(n)
        shutil.copytree(job.place, root / "job")
        folder = JobFolder(str(root / "job"))
        if not dies_at(n, partial(take, folder, root / "savepoint")):
            break
        with folder.open("sums") as lease:
            for _ in range(3):
                lease.cleaner.failed()
                lease.clean()
                lease.commit(StepManifest(lease.version + 1, "sums", "", 0))
        if (root / "savepoint" / "savepoint.json").exists():
            assert verify(read_savepoint(root / "savepoint")).problems == ()
            whole += 1
        n += STEP
    assert n > 10
    assert whole > 0


def test_whoever_dies_while_one_is_brought_in(job: Files, tmp_path: Path) -> None:
    manifest = job.newest()
    assert manifest is not None
    savepoint = write_savepoint(job, manifest, tmp_path / "savepoint")
    before = all_files(Files(savepoint.place))

    def begin(place: Path) -> None:
        with JobFolder(str(place)).open("new") as lease:
            if lease.newest() is None:
                lease.commit(bring_in(savepoint, lease.files))

    n = 0
    while dies_at(n, partial(begin, tmp_path / str(n))):
        newest = JobFolder(str(tmp_path / str(n))).newest()
        assert newest is None or newest.is_nothing or newest.operators == manifest.operators
        if newest is not None and not newest.is_nothing:
            assert set(newest.files()) <= set(os.listdir(tmp_path / str(n) / "state"))
        n += STEP
    assert n > 10
    assert all_files(Files(savepoint.place)) == before
    with JobFolder(str(tmp_path / "0")).open("new") as lease:
        lease.cleaner.failed()  # so it lists everything
        lease.cleaner.clean()
    assert all_files(Files(savepoint.place)) == before
