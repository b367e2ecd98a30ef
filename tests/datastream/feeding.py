"""Programs of the run scripts as those that never end run: in steps, fed bit by bit, killed, and gone on with."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import random
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any
from unittest import mock

from penstock.job.folder.manifest import StepManifest
from penstock.job.steps import loop
from penstock.job.steps.commits import Commits
from tests.datastream.run_exactly_once import ExactNotes, Marks
from tests.datastream.run_notes import Notes
from tests.datastream.run_scripts import restarts, result_of
from tests.matrix.knobs import COMPILED

MOST = 50
ALL = 1 << 40
PATIENCE = 600_000
"""Milliseconds that a source may take in a step: what it reads is to depend on records alone."""
WHEN = ("before", "between", "after")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--feed", type=_feed, metavar="N|all|random:SEED", help="run in steps of so many records")
    parser.add_argument("--kill", type=int, metavar="K", help="kill the job's process after so many steps, and go on")
    parser.add_argument("--interval", type=int, metavar="MS", help="between two checkpoints; else each step is one")
    parser.add_argument("--when", choices=WHEN, help="the moment at which it is killed")
    parser.add_argument("--native", choices=("auto", "off"), help="penstock.native of each script")


def _feed(text: str) -> str:
    kind, _, seed = text.partition(":")
    if text == "all" or (kind == "random" and seed) or (text.isdecimal() and int(text) > 0):
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is none of N (1 or more), all, random:SEED")


def interval_settings(interval: int | None) -> dict[str, str]:
    """The settings of a job with an interval: what fails is not run again for that reason."""
    if interval is None:
        return {}
    return {"execution.checkpointing.interval": f"{interval} ms", "restart-strategy": "none"}


def sizes(feed: str, *seed: Any) -> Callable[[], int]:
    """What says how many records are read next."""
    if feed.startswith("random:"):
        draw = random.Random("/".join(map(str, (feed, *seed))))
        return lambda: int(MOST ** draw.random())
    records = ALL if feed == "all" else int(feed)
    return lambda: records


def native_settings(native: str | None) -> dict[str, str]:
    """The settings of a job that says whether functions are compiled."""
    return {} if native is None else {COMPILED: native}


@contextlib.contextmanager
def fed(size: Callable[[], int]) -> Iterator[None]:
    """Within the block each step of a job of this thread reads so many records of each source."""
    with _patched(), _set(_SIZE, size):
        yield


@contextlib.contextmanager
def marked(marks: Marks, die: Callable[[], None], kill: int, when: str) -> Iterator[None]:
    """Within the block a job of this thread says when it makes versions, and dies after so many steps."""
    with _patched(), _set(_MOMENTS, Moments(marks, die, kill, when)):
        yield


@contextlib.contextmanager
def stopped(stop: Callable[[], bool]) -> Iterator[None]:
    """Within the block a job of this thread ends before a step, in order, when a function says so."""
    with _patched(), _set(_STOP, stop):
        yield


class Moments:
    """Those at which a job says something, or dies; see :func:`marked`."""

    def __init__(self, marks: Marks, die: Callable[[], None], kill: int, when: str) -> None:
        self._marks, self._die, self._moment, self._done = marks, die, (kill, when), 0

    def before(self, version: int) -> None:
        self._at("before")
        self._marks.set(version)

    def between(self) -> None:
        self._done += 1
        self._at("between")

    def after(self) -> None:
        self._at("after")

    def _at(self, when: str) -> None:
        if (self._done, when) == self._moment:
            self._die()


_SIZE: ContextVar[Callable[[], int] | None] = ContextVar("size", default=None)
_MOMENTS: ContextVar[Moments | None] = ContextVar("moments", default=None)
"""Of the job that this thread runs."""
_STOP: ContextVar[Callable[[], bool] | None] = ContextVar("stop", default=None)
_PLAN_OF, _COMMIT, _PUBLISH, _DRY = loop.plan_of, Commits.commit, Commits.publish, loop.StepLoop._dry
_PATCHING = threading.Lock()
_patches: list[contextlib.ExitStack] = []  # one more for each block that is open; the first one has made them


@contextlib.contextmanager
def _set(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextlib.contextmanager
def _patched() -> Iterator[None]:
    """Within the block, and within others of this kind in any thread, the loop looks at the variables of its thread."""
    with _PATCHING:
        patches = contextlib.ExitStack()
        if not _patches:
            patches.enter_context(mock.patch.object(loop, "plan_of", _plan_of))
            patches.enter_context(mock.patch.multiple(Commits, commit=_commit, publish=_publish))
            patches.enter_context(mock.patch.object(loop.StepLoop, "_dry", _dry))
        _patches.append(patches)
    try:
        yield
    finally:
        with _PATCHING:
            _patches.pop().close()


def _plan_of(*args: Any, **kwargs: Any) -> Any:
    plan, size = _PLAN_OF(*args, **kwargs), _SIZE.get()
    if size is not None:
        ask = plan.plan
        plan.plan = lambda records, millis: ask(size(), PATIENCE)  # type: ignore[method-assign]
    return plan


def _commit(self: Commits, manifest: StepManifest) -> None:
    moments = _MOMENTS.get()
    if moments is not None:
        moments.before(manifest.version)
    _COMMIT(self, manifest)
    if moments is not None:
        moments.between()


def _publish(self: Commits, manifest: StepManifest, *passed: Any) -> None:
    _PUBLISH(self, manifest, *passed)
    moments = _MOMENTS.get()
    if moments is not None:
        moments.after()


def _dry(self: loop.StepLoop) -> bool:
    stop = _STOP.get()
    return (stop is not None and stop()) or _DRY(self)


def fed_result(
    script: dict[str, Any],
    executor: Any,
    root: str,
    feed: str,
    *,
    exact: bool,
    life: int = 0,
    interval: int | None = None,
    native: str | None = None,
) -> dict[str, Any]:
    """The result of a script that runs in steps; see :func:`tests.datastream.run_scripts.result_of`."""
    notes = ExactNotes(root, restarts(script)) if exact else Notes(os.path.join(root, "notes"), restarts(script))
    os.makedirs(notes.folder, exist_ok=True)
    if life:
        Marks(root, notes).back()
    with fed(sizes(feed, script.get("name"), life)):
        more = interval_settings(interval) | native_settings(native)
        settings = {"execution.checkpointing.dir": os.path.join(root, "job"), **more}
        return result_of(script, executor, notes=notes, settings=settings)


@contextlib.contextmanager
def killed(name: str, root: str, chosen: argparse.Namespace, die: Callable[[], None]) -> Iterator[None]:
    """Within the block a job dies as the options say."""
    moment = chosen.when or WHEN[hashlib.sha256(f"{name} {chosen.kill}".encode()).digest()[0] % len(WHEN)]
    with marked(Marks(root, ExactNotes(root)), die, chosen.kill, moment):
        yield


def make_folder() -> str:
    """A new folder, in memory where there is a file system for that: nobody switches the power off here."""
    memory = "/dev/shm"
    return tempfile.mkdtemp(prefix="penstock-fed-", dir=memory if os.access(memory, os.W_OK) else None)


@contextlib.contextmanager
def folder() -> Iterator[str]:
    place = make_folder()
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
