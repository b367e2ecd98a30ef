"""The job dies before each single change that its protocol makes, of a file or on a store, one after the other."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from tests.chaos.job import run, short_lease
from tests.chaos.lives import check, waste
from tests.forks import status_of
from tests.job.commit.crashes import Fuse, before_each_change

SETTINGS = {"penstock.executor": "local", "penstock.step.records": "200"}
"""Steps of many records: there are few of them."""
_REQUESTS = {
    "put_object",
    "copy_object",
    "delete_object",
    "delete_objects",
    "create_multipart_upload",
    "upload_part",
    "upload_part_copy",
    "complete_multipart_upload",
    "abort_multipart_upload",
}
"""Requests that change what a store has."""


@dataclass(frozen=True)
class Death:
    number: int
    change: str
    left: int


def died(
    root: Path,
    numbers: Iterable[int] | None = None,
    bucket: str | None = None,
    more: Mapping[str, str] | None = None,
) -> Iterator[Death]:
    """Run the job so that it dies, then to its end, and look at what it has left."""
    for number in count() if numbers is None else numbers:
        folder = root / str(number)
        folder.mkdir(parents=True)
        seen, settings = root / f"seen-{number}", _settings(bucket, number, more)
        if in_a_process(lambda job=(folder, settings, seen, number): _dying(*job)):
            check(folder, settings)
            return
        left = len(waste(folder, settings))
        assert in_a_process(lambda job=(folder, settings): _run(*job)), f"no way on after change {number}"
        check(folder, settings)
        shutil.rmtree(folder)
        yield Death(number, seen.read_text(), left)


def changes(root: Path, bucket: str | None = None, more: Mapping[str, str] | None = None) -> int:
    folder, seen, settings = root / "counted", root / "seen", _settings(bucket, "counted", more)
    folder.mkdir()

    def counted() -> None:
        number = [0]

        def hook(change: str) -> None:
            number[0] += 1

        with _before_each(hook, folder):
            _run(folder, settings)
        seen.write_text(str(number[0]))

    assert in_a_process(counted)
    shutil.rmtree(folder)
    return int(seen.read_text())


def _settings(bucket: str | None, name: object, more: Mapping[str, str] | None) -> dict[str, str]:
    settings = {**SETTINGS, **(more or {})}
    return settings if bucket is None else settings | {"execution.checkpointing.dir": f"{bucket}/{name}/job"}


def _run(folder: Path, settings: dict[str, str]) -> None:
    if "execution.checkpointing.dir" in settings:
        short_lease(0)  # there are no locks
    run(str(folder), settings)


def _dying(folder: Path, settings: dict[str, str], seen: Path, number: int) -> None:
    def die() -> None:
        os.write(descriptor, fuse.seen.encode())
        os.kill(os.getpid(), signal.SIGKILL)

    descriptor = os.open(seen, os.O_CREAT | os.O_WRONLY)
    fuse = Fuse(number, die)
    with _before_each(fuse, folder):
        _run(folder, settings)


@contextlib.contextmanager
def _before_each(hook: Callable[[str], None], folder: Path) -> Iterator[None]:
    """Call a hook before changes of files in a folder, and of all that is on stores."""
    with before_each_change(lambda change: hook(change) if str(folder) in change else None), _before_requests(hook):
        yield


@contextlib.contextmanager
def _before_requests(hook: Callable[[str], None]) -> Iterator[None]:
    try:
        from s3fs import S3FileSystem
    except ImportError:
        yield
        return
    original = S3FileSystem._call_s3

    async def call(self: Any, method: str, *arguments: Any, **more: Any) -> Any:
        if method in _REQUESTS:
            names = {name: text for headers in (*arguments, more) for name, text in headers.items()}
            hook(f"{method} s3://{names.get('Bucket')}/{names.get('Key', '')}")
        return await original(self, method, *arguments, **more)

    S3FileSystem._call_s3 = call
    try:
        yield
    finally:
        S3FileSystem._call_s3 = original


def in_a_process(work: Callable[[], None]) -> bool:
    """Do some work (see :func:`tests.forks.status_of`); whether it has come to its end, and was not killed."""
    status = status_of(partial(_quietly, work))
    assert status in (0, -signal.SIGKILL), f"it has failed: {status}"
    return status == 0


def _quietly(work: Callable[[], None]) -> None:
    with contextlib.redirect_stderr(io.StringIO()):  # what each run says that it has found
        work()
