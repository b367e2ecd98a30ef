"""The job dies before each single change of a file that its protocol makes, one after the other."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path

from tests.chaos.job import run
from tests.chaos.lives import check
from tests.job.commit.crashes import Fuse, before_each_change

SETTINGS = {"penstock.executor": "local", "penstock.step.records": "200"}
"""Steps of many records: there are few of them."""


def died(root: Path, numbers: Iterable[int] | None = None) -> Iterator[tuple[int, str]]:
    """Run the job so that it dies, then to its end, and look at what it has left.

    Args:
        root: for its files.
        numbers: of the changes, from 0, before which it dies; None for all.

    Yields:
        Each number, and what the change was.
    """
    for number in count() if numbers is None else numbers:
        folder = root / str(number)
        folder.mkdir(parents=True)
        seen = root / f"seen-{number}"
        ended = in_a_process(lambda folder=folder, seen=seen, number=number: _dying(folder, seen, number))
        if not ended:
            assert in_a_process(lambda folder=folder: run(str(folder), SETTINGS)), f"no way on after change {number}"
        check(folder, SETTINGS)
        shutil.rmtree(folder)
        if ended:
            return
        yield number, seen.read_text()


def changes(root: Path) -> int:
    """How many changes of files a run makes."""
    folder, seen = root / "counted", root / "seen"
    folder.mkdir()

    def counted() -> None:
        number = [0]

        def hook(change: str) -> None:
            number[0] += str(folder) in change

        with before_each_change(hook):
            run(str(folder), SETTINGS)
        seen.write_text(str(number[0]))

    assert in_a_process(counted)
    shutil.rmtree(folder)
    return int(seen.read_text())


def _dying(folder: Path, seen: Path, number: int) -> None:
    def die() -> None:
        os.write(descriptor, fuse.seen.encode())
        os.kill(os.getpid(), signal.SIGKILL)

    descriptor = os.open(seen, os.O_CREAT | os.O_WRONLY)
    fuse = Fuse(number, die)
    with before_each_change(lambda change: fuse(change) if str(folder) in change else None):
        run(str(folder), SETTINGS)


def in_a_process(work: Callable[[], None]) -> bool:
    """Do some work; whether it has come to its end, and was not killed."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException as error:
            print(repr(error), file=sys.stderr)
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), f"it has failed: {status}"
    return status == 0
