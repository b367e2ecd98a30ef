"""Programs of the run scripts as those that never end run: in steps, fed bit by bit, killed, and gone on with.

Options of ``run_scripts.py``:

* ``--feed N``: each subtask of a source reads N records in a step; ``all``: all of them; ``random:SEED``: 1 to 50, by
  chance, few more often than many. What a source says between its records belongs to the step of the record after.
* ``--kill K``: once K steps have been committed, the process that runs the job kills itself with all that belongs to it
  (on Spark: the JVM too), and another one goes on with the same job folder.
* ``--when``: at which moment it does. ``between``: the K-th manifest stands, and nothing of it is published; ``after``:
  it is published; ``before``: the next step has run, and has no manifest. Unless given, the script's name decides.

A program that makes fewer steps is not killed. ``counts`` and ``late_dropped`` are totals of all processes. For what
functions trace see :mod:`tests.datastream.run_exactly_once`.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any
from unittest import mock

if __name__ == "__main__":  # a worker of its own
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from penstock.job.folder.manifest import StepManifest
from penstock.job.steps import loop
from penstock.job.steps.committing import Commits
from penstock.local import LocalExecutor
from tests.datastream.run_exactly_once import ExactNotes, Marks
from tests.datastream.run_notes import Notes
from tests.datastream.run_scripts import restarts, result_of

MOST = 50
ALL = 1 << 40
PATIENCE = 600_000
"""Milliseconds that a source may take in a step: what it reads is to depend on records alone."""
WHEN = ("before", "between", "after")

Run = Callable[[dict[str, Any]], dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--feed", type=_feed, metavar="N|all|random:SEED", help="run in steps of so many records")
    parser.add_argument("--kill", type=int, metavar="K", help="kill the job's process after so many steps, and go on")
    parser.add_argument("--when", choices=WHEN, help="the moment at which it is killed")


def _feed(text: str) -> str:
    kind, _, seed = text.partition(":")
    if text == "all" or (kind == "random" and seed) or (text.isdecimal() and int(text) > 0):
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is none of N (1 or more), all, random:SEED")


def sizes(feed: str, *seed: Any) -> Callable[[], int]:
    """What says how many records are read next.

    Args:
        feed: the option.
        seed: what else chance depends on.
    """
    if feed.startswith("random:"):
        draw = random.Random("/".join(map(str, (feed, *seed))))
        return lambda: int(MOST ** draw.random())
    records = ALL if feed == "all" else int(feed)
    return lambda: records


@contextlib.contextmanager
def fed(size: Callable[[], int]) -> Iterator[None]:
    """Within the block each step of a job reads so many records of each source."""
    plan_of = loop.plan_of

    def patched(*args: Any, **kwargs: Any) -> Any:
        plan = plan_of(*args, **kwargs)
        ask = plan.plan
        plan.plan = lambda records, millis: ask(size(), PATIENCE)  # type: ignore[method-assign]
        return plan

    with mock.patch.object(loop, "plan_of", patched):
        yield


@contextlib.contextmanager
def marked(marks: Marks, die: Callable[[], None], kill: int, when: str) -> Iterator[None]:
    """Within the block a job says when it makes versions, and dies after so many steps.

    Args:
        marks: are set before each manifest.
        die: ends this process.
        kill: committed steps.
        when: one of :data:`WHEN`.
    """
    commit, publish, done = Commits.commit, Commits.publish, 0

    def committing(self: Commits, manifest: StepManifest) -> None:
        nonlocal done
        if (done, when) == (kill, "before"):
            die()
        marks.set(manifest.version)
        commit(self, manifest)
        done += 1
        if (done, when) == (kill, "between"):
            die()

    def publishing(self: Commits, manifest: StepManifest) -> None:
        publish(self, manifest)
        if (done, when) == (kill, "after"):
            die()

    with mock.patch.object(Commits, "commit", committing), mock.patch.object(Commits, "publish", publishing):
        yield


def fed_result(
    script: dict[str, Any], executor: Any, root: str, feed: str, *, exact: bool, life: int = 0
) -> dict[str, Any]:
    """The result of a script that runs in steps; see :func:`tests.datastream.run_scripts.result_of`.

    Args:
        script: to run.
        executor: runs it.
        root: a folder for the job alone.
        feed: as the option.
        exact: whether tasks may be run again.
        life: how many processes have run the job before.
    """
    notes = ExactNotes(root, restarts(script)) if exact else Notes(os.path.join(root, "notes"), restarts(script))
    os.makedirs(notes.folder, exist_ok=True)
    if life:
        Marks(root, notes).back()
    with fed(sizes(feed, script.get("name"), life)):
        settings = {"penstock.job.folder": os.path.join(root, "job")}
        return result_of(script, executor, notes=notes, settings=settings)


def killed_result(
    script: dict[str, Any], executor: Any, root: str, feed: str, kill: int, when: str | None, die: Callable[[], None]
) -> dict[str, Any]:
    """As :func:`fed_result`, in a process that dies after some steps."""
    name = script.get("name", "")
    moment = when or WHEN[hashlib.sha256(f"{name} {kill}".encode()).digest()[0] % len(WHEN)]
    with marked(Marks(root, ExactNotes(root)), die, kill, moment):
        return fed_result(script, executor, root, feed, exact=True)


@contextlib.contextmanager
def runner(chosen: argparse.Namespace) -> Iterator[Run]:
    """What runs scripts as the command's options say."""
    if chosen.feed is not None and chosen.kill is not None:
        with contextlib.closing(Killer(chosen)) as killer:
            yield killer.run
        return
    executor = executor_of(chosen.spark)
    if chosen.feed is None:
        yield lambda script: result_of(script, executor)
        return

    def run(script: dict[str, Any]) -> dict[str, Any]:
        with folder() as root:
            return fed_result(script, executor, root, chosen.feed, exact=chosen.spark)

    yield run


def executor_of(spark: bool) -> Any:
    """Spark's, or that of this process."""
    if not spark:
        return LocalExecutor()
    from penstock.spark import SparkExecutor

    return SparkExecutor(master="local[2,4]", progress=False)


@contextlib.contextmanager
def folder() -> Iterator[str]:
    """A folder for a while, in memory where there is a file system for that: nobody switches the power off here."""
    memory = "/dev/shm"
    place = tempfile.mkdtemp(prefix="penstock-fed-", dir=memory if os.access(memory, os.W_OK) else None)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


class Killer:
    """Runs scripts in workers that are killed, each of them once: who goes on takes the next one, too.

    Args:
        chosen: the command's options.
    """

    def __init__(self, chosen: argparse.Namespace) -> None:
        self._chosen = chosen
        self._worker: Worker | None = None

    def run(self, script: dict[str, Any]) -> dict[str, Any]:
        """The result of a script."""
        with folder() as root:
            for life in range(2):
                if self._worker is None:
                    self._worker = (SparkWorker if self._chosen.spark else Worker)(self._chosen)
                result = self._worker.ask({"script": script, "root": root, "life": life})
                if result is not None:
                    return result
                self.close()
        return {"defect": "the process has ended that was to go on"}

    def close(self) -> None:
        """No script follows, or not for this worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None


class Worker:
    """A process that runs scripts, made of this one: it has loaded what they need.

    Args:
        chosen: the command's options.
    """

    requests: IO[str]
    answers: IO[str]

    def __init__(self, chosen: argparse.Namespace) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        (asked, ask), (answered, answer) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(ask)
                os.close(answered)
                serve(os.fdopen(asked), os.fdopen(answer, "w"), chosen)
            finally:
                os._exit(0)
        os.close(asked)
        os.close(answer)
        self.requests, self.answers = os.fdopen(ask, "w"), os.fdopen(answered)

    def ask(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """The result of a script; None if the worker has died."""
        with contextlib.suppress(BrokenPipeError):
            self.requests.write(json.dumps(message) + "\n")
            self.requests.flush()
        line = self.answers.readline()
        return json.loads(line) if line.endswith("\n") else None

    def close(self) -> None:
        """End it, if it has not ended."""
        with contextlib.suppress(BrokenPipeError):
            self.requests.close()
        self._wait()
        self.answers.close()

    def _wait(self) -> None:
        os.waitpid(self.pid, 0)


class SparkWorker(Worker):
    """A process with a Spark of its own, and a group of processes."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self._place = tempfile.mkdtemp(prefix="penstock-worker-")
        options = ["--spark", "--feed", chosen.feed, "--kill", str(chosen.kill)]
        options += ["--when", chosen.when] if chosen.when else []
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "TMPDIR": self._place, "SPARK_LOCAL_DIRS": self._place},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.requests, self.answers = self._process.stdin, self._process.stdout

    def _wait(self) -> None:
        self._process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        shutil.rmtree(self._place, ignore_errors=True)


def serve(requests: IO[str], answers: IO[str], chosen: argparse.Namespace) -> None:
    """Be a worker: a line of result per line of request."""
    executor = executor_of(chosen.spark)

    def die() -> None:
        if chosen.spark:
            os.killpg(0, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    for line in requests:
        message = json.loads(line)
        script, root = message["script"], message["root"]
        try:
            if message["life"]:
                result = fed_result(script, executor, root, chosen.feed, exact=True, life=1)
            else:
                result = killed_result(script, executor, root, chosen.feed, chosen.kill, chosen.when, die)
        except Exception as defect:
            traceback.print_exc()
            result = {"defect": repr(defect)}
        answers.write(json.dumps(result) + "\n")
        answers.flush()


if __name__ == "__main__":
    from tests.datastream import feeding  # what is sent to Spark's workers must not be of __main__

    options = argparse.ArgumentParser()
    options.add_argument("--spark", action="store_true")
    feeding.add_arguments(options)
    answering = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs print is no answer
    feeding.serve(sys.stdin, answering, options.parse_args())
