"""Makes a process die, or an operation of the file system fail, just before the n-th change of it."""

from __future__ import annotations

import builtins
import contextlib
import errno
import os
import pathlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from penstock.common.serialization import SimpleStringEncoder
from penstock.connectors.files.buckets import BucketAssigner
from penstock.connectors.files.file_sink import FileOutput
from penstock.job.commit.leftovers import Verdict, pending_at, recover
from penstock.job.folder.files import Files
from penstock.job.folder.manifest import StepManifest
from penstock.local import LocalExecutor
from penstock.runtime.io.sinks import TextSink
from penstock.runtime.operators.elementwise import StreamMap
from penstock.runtime.operators.sink import StreamSink
from tests.effort import one_of
from tests.forks import status_of
from tests.job.programs import Program

ONE_OF = one_of(7)
"""Work dies before one in so many changes, with the next layout of outputs before the next ones."""
CHANGES = ("link", "mkdir", "rename", "replace", "rmdir", "unlink", "fsync")
DEAD = 9


@contextlib.contextmanager
def before_each_change(hook: Callable[[str], None]) -> Iterator[None]:
    """Call a hook with "rename /a/b" and the like before the change happens."""
    originals = {name: getattr(os, name) for name in CHANGES}
    original_open = builtins.open
    accessor = getattr(pathlib, "_NormalAccessor", None)  # Python 3.10: pathlib has functions of its own for these
    accessors = (
        {} if accessor is None else {name: function for name, function in vars(accessor).items() if name in CHANGES}
    )

    def hooked(name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            hook(f"{name} {args[0]}")
            return originals[name](*args, **kwargs)

        return call

    def open_(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & set("wxa"):
            hook(f"open {file}")
        return original_open(file, mode, *args, **kwargs)

    try:
        for name in CHANGES:
            setattr(os, name, hooked(name))
        for name in accessors:
            setattr(accessor, name, staticmethod(hooked(name)))
        builtins.open = open_
        yield
    finally:
        builtins.open = original_open
        for name, original in originals.items():
            setattr(os, name, original)
        for name, original in accessors.items():
            setattr(accessor, name, original)


class Fuse:
    """Burns at the n-th change, counted from 0; ``seen`` is the change."""

    def __init__(self, n: int, effect: Callable[[], None]) -> None:
        self.left, self.effect, self.seen = n, effect, ""

    def __call__(self, change: str) -> None:
        self.left -= 1
        if self.left == -1:
            self.seen = change
            self.effect()


def refuse() -> None:
    raise OSError(errno.EIO, "as injected")


def dies_at(n: int, work: Callable[[], Any]) -> bool:
    """Run some work in a process that is killed at its n-th change; False if it came to its end before.

    The work is sent, as :func:`tests.forks.status_of` says.
    """
    status = status_of(partial(_dying, n, work))
    assert status in (0, DEAD)
    return status == DEAD


def _dying(n: int, work: Callable[[], Any]) -> None:
    with before_each_change(Fuse(n, lambda: os._exit(DEAD))):
        work()


# --- the job


class Buckets(BucketAssigner[Any]):
    """Two of them, one in the other."""

    def get_bucket_id(self, element: Any, context: Any, /) -> str:
        return "odd" if len(str(element)) > 1 or ord(str(element)) % 2 else "odd/even"


def pipeline(root: Path, values, layout=(2, 1), *, overwrite=True, function=None):
    """A source and sinks of these parallelisms, none of them where it is 0."""
    program = Program()
    source = program.source(values)
    if function is not None:
        source = program.add(StreamMap(function), source)
    for name, p in zip(("left", "right", "more"), layout, strict=False):
        sink: Any = TextSink(str(root / name), overwrite)
        if name == "more":
            sink = FileOutput(str(root / name), SimpleStringEncoder(), Buckets(), 3)
        if p:
            program.add(StreamSink(sink), source, p=p, partitioner="REBALANCE", name=f"Sink: {name}")
    return program.pipeline("two sinks")


def run(*args, **kwargs):
    return LocalExecutor().execute(pipeline(*args, **kwargs))


def content(root: Path) -> dict[str, str]:
    texts: dict[str, list[str]] = defaultdict(list)
    for path in sorted(root.rglob("*")):
        if path.is_file():
            texts[re.sub(r"/part-[-0-9a-f]{36}-", "/part-", str(path.relative_to(root)))].append(path.read_text())
    return {name: "|".join(sorted(parts)) for name, parts in texts.items()}


def hidden(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.name.startswith(".")]


def visible(root: Path) -> dict[str, str]:
    return {name: text for name, text in content(root).items() if not name.startswith(".") and "/." not in name}


def manifest_in(path: Path) -> StepManifest:
    """The manifest in the hidden checkpoint directory of a job."""
    files = Files(str(path.parent))
    files.manifests = files.place
    newest = files.newest(unpickle=False)
    assert newest is not None
    return newest


def manifests(root: Path) -> list[Path]:
    return [*root.glob(".*.pending-*/commit/manifest-1.json"), *root.glob("more/.pending-*/commit/manifest-1.json")]


def clean(root: Path) -> list[Verdict]:
    leftovers = [recover(folder) for folder in pending_at(str(root))]
    return [leftover.verdict for leftover in leftovers if leftover is not None]


_SEARCHED: dict[tuple[bool, tuple[int, ...]], int] = {}
"""The change before which a driver leaves such a folder; to look for it takes a death for each change before."""


def crashed(tmp_path: Path, committed: bool, layout=(2, 1)) -> Path:
    """A folder with what a dead driver has left of a job, with or without the manifest."""
    n = _SEARCHED.get((committed, layout), 0)
    while True:
        folder = tmp_path / f"crashed{n}"
        folder.mkdir()
        assert dies_at(n, lambda folder=folder: run(folder, range(10), layout, overwrite=False))
        homes = [*folder.glob(".left.pending-*/[0-9a-f]*-*"), *folder.glob("more/.pending-*/[0-9a-f]*-*")]
        if bool(manifests(folder)) == committed and (committed or homes):
            _SEARCHED[committed, layout] = n
            return folder
        n += 1
