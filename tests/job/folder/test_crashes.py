"""A driver that dies before any one change of the file system: the next one goes on, and leaves nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.job.folder.lease import JobFolder
from tests.job.commit.crashes import Fuse, before_each_change
from tests.job.folder.examples import reached, step


class Dead(BaseException):
    """Nothing a program catches."""


def run(place: str, done: list[int]) -> None:
    """Three steps, with clean-ups."""
    with JobFolder(place).open("count") as lease:
        for _ in range(3):
            number = reached(lease.newest()) + 1
            step(lease, number, keep=1)
            done.append(number)
            lease.clean()


def dies_at(n: int, place: str, done: list[int]) -> bool:
    """Run until the n-th change, from which on nothing changes any more; False if it came to its end."""
    dead: list[bool] = []

    def die() -> None:
        dead.append(True)
        raise Dead

    fuse = Fuse(n, die)

    def hook(change: str) -> None:
        if dead:
            raise Dead
        fuse(change)

    try:
        with before_each_change(hook):
            run(place, done)
    except Dead:
        return True
    return False


@pytest.mark.slow
def test_a_driver_that_dies_anywhere_loses_nothing_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 0
    while True:
        n += 1
        place, done = str(tmp_path / str(n)), [0]
        run(place, done)
        died = dies_at(n, place, done)
        before = done[-1]
        run(place, done)
        assert done[-1] - 3 in (before, before + 1), f"dead at change {n}"
        with JobFolder(place).open("count") as lease:
            lease.clean()
            kept = {name for version in JobFolder(place).versions() for name in JobFolder(place).read(version).files()}
            assert {path.name for path in Path(lease.state).iterdir()} == kept
            assert len(list(Path(place, "manifests").iterdir())) == 2
            assert len(list(Path(place, "lease").iterdir())) == 3
        if not died:
            break
    assert n > 40
