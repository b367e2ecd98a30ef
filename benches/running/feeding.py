"""Runs a program that never ends, feeds it round by round, and measures what each round costs.

    python feeding.py '{"job": "live_spark:sums", "arguments": {}, "rounds": [[["a-0", "a-1"], …], …], …}'

The job is a process beside this one: ``job(inlet, folder)`` runs until it is killed, reads what is in the inlet (a
folder that gets files, or a topic) and gives its records to sinks that tell in the folder how far they are. A round is
over when all records have come out that its input leads to, and a while has gone by in which the job commits them.
The first round is not measured: it starts everything and lets compilers see the code. One line of JSON is printed per
round: CPU seconds of JVM and Python, of all processes but this one; wall seconds; number and checksum of the records
so far; peak memory.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import tree
from live import taken

POLL = 0.05


@dataclass(frozen=True)
class Spec:
    """What to run.

    Attributes:
        job: module and function.
        arguments: of the function.
        rounds: of each round its batches, of each batch its files.
        expected: how many records have come out after each round.
        kafka: address of a broker, where the program reads and writes topics.
        asked: whether the job has no sink to tell how far it is: it looks at a file ``asked`` in its folder, which has
            the number of records that it shall have done, and tells its result when there is a file ``stop``.
        settle: seconds that a job has to commit what has come out.
        timeout: seconds for a round.
    """

    job: str
    arguments: dict[str, Any]
    rounds: list[list[list[str]]]
    expected: list[int]
    kafka: str | None = None
    asked: bool = False
    settle: float = 1.5
    timeout: float = 240


class Ways(Protocol):
    """How input gets to a job, and how its output is seen."""

    def inlet(self) -> Any:
        """What the job is told of both."""
        ...

    def feed(self, batch: Sequence[str]) -> None:
        """Let the job see some files' lines."""
        ...

    def fed(self, expected: int) -> None:
        """A round's files are all there; so many records are to come out."""
        ...

    def count(self) -> int:
        """How many records have come out, or a little more; cheap."""
        ...

    def result(self) -> tuple[int, int]:
        """Number and checksum of the records that have come out; off the clock."""
        ...


class Folders:
    """Files are linked into a folder; sinks leave files in another."""

    def __init__(self, folder: Path) -> None:
        self.inbox, self.out = folder / "inbox", folder / "out"
        self.inbox.mkdir()

    def inlet(self) -> str:
        return str(self.inbox)

    def feed(self, batch: Sequence[str]) -> None:
        for path in batch:
            os.link(path, self.inbox / Path(path).name)

    def fed(self, expected: int) -> None:
        making = self.out / "asked.part"
        making.write_text(str(expected))
        making.rename(self.out / "asked")

    def count(self) -> int:
        return self.result()[0]

    def result(self) -> tuple[int, int]:
        return taken(str(self.out))


def main() -> None:
    if len(sys.argv) > 2:
        job, inlet, out = map(json.loads, sys.argv[1:])
        loaded(job)(inlet, out)
        return
    spec = Spec(**json.loads(sys.argv[1]))
    tree.adopt()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "out").mkdir()
        ways = _ways(spec, Path(folder))
        arguments = [{"job": spec.job, "arguments": spec.arguments}, ways.inlet(), str(Path(folder, "out"))]
        child = subprocess.Popen([sys.executable, __file__, *map(json.dumps, arguments)])
        try:
            for batches, expected in zip(spec.rounds, spec.expected, strict=True):
                print(json.dumps(_round(spec, ways, child, batches, expected)), flush=True)
            if spec.asked:
                print(json.dumps({"final": _finish(Path(folder, "out"), child, spec)}), flush=True)
        finally:
            tree.end()


def _ways(spec: Spec, folder: Path) -> Ways:
    if spec.kafka is None:
        return Folders(folder)
    from topics import Topics

    return Topics(spec.kafka)


def loaded(call: dict[str, Any]) -> Any:
    """The job of a name and its arguments."""
    module, _, function = call["job"].partition(":")
    return getattr(importlib.import_module(module), function)(**call["arguments"])


def _round(
    spec: Spec, ways: Ways, child: subprocess.Popen[bytes], batches: list[list[str]], expected: int
) -> dict[str, Any]:
    started, before = time.monotonic(), tree.cpu(with_own=False)
    for batch in batches:
        ways.feed(batch)
    ways.fed(expected)
    while ways.count() < expected:
        _check(child, spec, started, f"{ways.count()} of {expected} records have come out")
        time.sleep(POLL)
    wall = time.monotonic() - started
    time.sleep(spec.settle)
    spent = {kind: after - before[kind] for kind, after in tree.cpu(with_own=False).items()}
    peaks = tree.peak_bytes()
    return {"job": spec.job, "cpu": spent, "wall": wall, "result": ways.result(), "peak_bytes": peaks}


def _check(child: subprocess.Popen[bytes], spec: Spec, started: float, words: str) -> None:
    if child.poll() is not None:
        raise SystemExit(f"{spec.job} ended by itself with status {child.returncode}; {words}")
    if time.monotonic() - started > spec.timeout:
        raise SystemExit(f"{spec.job} was given {spec.timeout:g} s; {words}")


def _finish(out: Path, child: subprocess.Popen[bytes], spec: Spec) -> list[int]:
    """Ask the job to stop and to tell its result."""
    (out / "stop").touch()
    started, final = time.monotonic(), out / "final.json"
    while not final.exists():
        _check(child, spec, started, "it has not told its result")
        time.sleep(POLL)
    return json.loads(final.read_text())


if __name__ == "__main__":
    main()
