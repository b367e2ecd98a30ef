"""What no version needs goes; what one needs, or is not the job's, stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import CheckpointDirectoryError
from penstock.job.folder import cleaner as module
from penstock.job.folder.lease import JobFolder, Lease
from penstock.job.folder.manifest import SourceState, StepManifest
from penstock.job.folder.read_splits import EndedSplits, read_ended, with_ended
from penstock.storage.storage import Entry, LocalStorage
from tests.job.folder.examples import SUM, step


@pytest.fixture
def lease(tmp_path: Path) -> Lease:
    return JobFolder(str(tmp_path / "job")).open("count")


def files(lease: Lease, folder: str = "state") -> list[str]:
    return sorted(path.name for path in Path(lease.place, folder).iterdir())


def test_what_falls_out_goes_without_a_listing(lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    step(lease, 1)
    lease.clean()
    listed: list[str] = []
    listing = LocalStorage.list

    def spy(self: LocalStorage, folder: str, *, deep: bool = False) -> list[Entry]:
        listed.append(folder.rpartition("/")[2])
        return listing(self, folder, deep=deep)

    monkeypatch.setattr(LocalStorage, "list", spy)
    for number in range(2, 50):
        step(lease, number, keep=2)
        lease.clean()
        assert len(files(lease)) <= 4
        assert len(files(lease, "manifests")) == 2
    assert set(listed) == {"lease"}
    for number in range(50, 50 + module.SWEEP):
        step(lease, number)
        lease.clean()
    assert listed.count("state") == 1


def test_what_a_failed_step_has_left_goes_with_the_next_clean_up(lease: Lease) -> None:
    step(lease, 1)
    lease.clean()
    state = Path(lease.state)
    (state / f"{SUM}-0-2-ffffffff").write_text("of a step that failed")
    (state / f"ended-{'f' * 32}.{'0' * 32}.tmp").write_text("of a driver that died")
    (state / "notes.txt").write_text("a user's")
    lease.clean()
    assert len(files(lease)) == 4
    lease.cleaner.failed()
    assert lease.clean() == 2
    assert files(lease) == [f"{SUM}-0-1-00000001", "notes.txt"]


def test_the_remains_of_dead_drivers_go(lease: Lease) -> None:
    step(lease, 1)
    lease.close()
    manifests = Path(lease.place, "manifests")
    (manifests / f"manifest-2.json.{'0' * 32}.tmp").write_text("half")
    with JobFolder(lease.place).open("count") as second:
        assert second.clean() == 4
        assert files(second, "manifests") == ["manifest-1.json", "manifest-2.json"]
        assert files(second, "lease") == ["beat-2", "lock", "owner-2.json"]


def test_a_pinned_version_stays_over_restarts_until_it_is_unpinned(lease: Lease) -> None:
    step(lease, 1)
    lease.pin(1)
    lease.close()
    for number in (2, 3, 4):
        with JobFolder(lease.place).open("count") as again:
            step(again, number)
            step(again, number)
            again.clean()
    folder = JobFolder(lease.place)
    assert folder.versions() == (1, 9, 10)
    assert {*folder.read(1).files()} <= set(files(lease))
    with folder.open("count") as again:
        with pytest.raises(CheckpointDirectoryError, match=r"Checkpoint 5 cannot be pinned: .* exist\. .*: 1, 10, 11"):
            again.pin(5)
        again.unpin(1)
        again.unpin(1)
        step(again, 5)
        again.clean()
        assert folder.versions() == (11, 12)
        assert files(lease, "pins") == []
        assert len(files(lease)) == 2


@pytest.mark.parametrize("retained", [1, 2, 5])
def test_as_many_versions_stay_as_are_to(tmp_path: Path, retained: int) -> None:
    with JobFolder(str(tmp_path)).open("count", retained=retained) as lease:
        for number in range(1, 10):
            step(lease, number)
            lease.clean()
        assert len(JobFolder(str(tmp_path)).versions()) == len(files(lease)) == retained


def test_what_a_damaged_version_needs_is_not_guessed(lease: Lease) -> None:
    step(lease, 1)
    step(lease, 2)
    lease.close()
    with JobFolder(lease.place).open("count", retained=3) as second:
        Path(lease.place, "manifests", "manifest-2.json").write_text("damaged")
        Path(lease.state, f"{SUM}-0-2-ffffffff").write_text("of a step that failed")
        with pytest.warns(UserWarning, match="No state is removed, because it is unknown what checkpoint 2 needs"):
            second.clean()
        assert len(files(lease)) == 3
        for number in (3, 4, 5):
            step(second, number)
            second.clean()
        second.cleaner.failed()
        second.clean()
        assert len(files(lease)) == 3


def test_files_of_ended_splits_stay_as_long_as_a_version_names_them(lease: Lease) -> None:
    ended = with_ended(lease.files.storage, lease.state, EndedSplits(), map(str, range(700)))
    lease.commit(StepManifest(1, "count", "x", 0, sources={SUM: SourceState({}, ended)}))
    with_ended(lease.files.storage, lease.state, ended, map(str, range(700, 1400)))  # of a step that fails
    assert len(files(lease)) == 2
    lease.clean()
    assert files(lease) == [ended.files[0].name]
    assert len(read_ended(lease.files.storage, lease.state, ended)) == 700
