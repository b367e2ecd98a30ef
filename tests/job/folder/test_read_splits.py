"""Very many splits that have ended cost little in each manifest."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from penstock.errors import CheckpointDirectoryError
from penstock.job.folder import read_splits as module
from penstock.job.folder.read_splits import EndedSplits, read_ended, with_ended
from penstock.storage.storage import Entry, LocalStorage


class Counting(LocalStorage):
    written = 0

    def create(self, path: str, data: bytes) -> bool:
        self.written += len(data)
        return super().create(path, data)

    def list(self, folder: str, *, deep: bool = False) -> list[Entry]:
        raise AssertionError("nobody lists here")


@pytest.mark.parametrize("seed", range(4))
def test_all_ids_are_kept_and_few_are_written_again(tmp_path: Path, seed: int) -> None:
    storage, chance, ended, count, most = Counting(), random.Random(seed), EndedSplits(), 0, 0
    while count < 100_000:
        more = chance.choice([1, 10, 100, 3000]) if seed else 100
        ended = with_ended(storage, str(tmp_path), ended, [f"split-{count + i:06}" for i in range(more)])
        count += more
        most = max(most, len(ended.files))
        assert len(ended.last) < module.LAST
    assert ended.count == count
    assert read_ended(storage, str(tmp_path), ended) == {f"split-{i:06}" for i in range(count)}
    assert most <= 40
    assert storage.written < 6 * 15 * count


def test_what_was_before_stays_readable(tmp_path: Path) -> None:
    storage = LocalStorage()
    before = with_ended(storage, str(tmp_path), EndedSplits(), map(str, range(700)))
    ended = before
    for start in range(700, 20_000, 700):
        ended = with_ended(storage, str(tmp_path), ended, map(str, range(start, start + 700)))
    assert read_ended(storage, str(tmp_path), before) == set(map(str, range(700)))
    assert ended.count == 20_300


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data.replace(b"7", b"8", 1), None])
def test_a_damaged_file_is_named(tmp_path: Path, damage: object) -> None:
    ended = with_ended(LocalStorage(), str(tmp_path), EndedSplits(), map(str, range(700)))
    path = tmp_path / ended.files[0].name
    if callable(damage):
        path.write_bytes(damage(path.read_bytes()))
    else:
        path.unlink()
    with pytest.raises(CheckpointDirectoryError, match=path.name):
        read_ended(LocalStorage(), str(tmp_path), ended)
