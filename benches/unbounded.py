"""What never ends beside Penstock: the same program, on the same input, by every peer."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import engines
import lines
from engines import RUNNING
from lines import Rounds
from results import ROOT

UNBOUNDED = "unbounded"
SUMS, KAFKA, TIMERS = "running sums", "Kafka to Kafka", "a state and a timer per key"
KEYS, BATCH = 100_000, 100_000
BATCHES = {SUMS: 10, KAFKA: 6, TIMERS: 8}
"""Of a round of ours."""
OURS = {SUMS: 10 * BATCH, KAFKA: 6 * BATCH, TIMERS: 8 * BATCH // 2 + lines.FILES}
"""Records of it."""
DELAY = 1_000
"""Milliseconds that watermarks are behind the latest time: as much as a batch has of event time."""
PYFLINK = {
    "python.execution-mode": "process",
    "python.state.cache-size": "100000",
    "python.fn-execution.bundle.size": "100000",
    "pipeline.object-reuse": "true",
}


@dataclass(frozen=True)
class Case:
    """A program on a peer.

    Attributes:
        shape, peer: its names in the results.
        job: of ``running/``.
        arguments: of the job.
        warm: batches of the first round, which is not measured.
        batches: of each further round.
        rounds: of those.
        engine: whose environment it runs in, None for ours.
        asked: whether it tells its result only at the end, see ``running/feeding.py``.
        slow: whether the smoke mode goes without it, because it starts a Spark of its own.
    """

    shape: str
    peer: str
    job: str
    arguments: dict[str, Any] = field(default_factory=dict, hash=False)
    warm: int = 4
    batches: int = 4
    rounds: int = 3
    engine: str | None = None
    asked: bool = False
    slow: bool = False

    def __str__(self) -> str:
        return f"{self.shape}-{self.peer}".replace(" ", "_")

    def input(self, tiny: bool) -> Rounds:
        """What it is fed."""
        if self.shape == TIMERS:
            keys, window = (30, DELAY) if tiny else (KEYS // 10, DELAY)
            return lines.timed(keys, 5, window, *((2, 1, 2) if tiny else self._rounds()))
        keys, batch = (300, 400) if tiny else (KEYS, BATCH)
        return lines.keyed(keys, batch, *((1, 1, 2) if tiny else self._rounds()))

    def _rounds(self) -> tuple[int, int, int]:
        return self.warm, self.rounds, self.batches

    def expected(self, inputs: Rounds) -> list[tuple[int, int]]:
        """Number and checksum of the records that have come out after each round; of one that is asked, the number of
        records read, and at the end those of its last sums."""
        return [tuple(pair) for pair in _plainly(self.shape, self.asked, json.dumps(inputs.paths))]


@dataclass(frozen=True)
class Round:
    """One round of a program, see ``running/feeding.py``."""

    job: str
    cpu: dict[str, float]
    wall: float
    result: list[int]
    peak_bytes: dict[str, int]


@cache
def _plainly(shape: str, asked: bool, paths: str) -> list[list[int]]:
    """By plain loops, in a process whose hashes are those of the programs."""
    command = [sys.executable, str(Path(__file__)), shape, str(int(asked)), paths]
    return json.loads(subprocess.check_output(command, env=environment(None), text=True))


def plainly(shape: str, asked: bool, rounds: Rounds) -> list[tuple[int, int]]:
    """What :meth:`Case.expected` gives."""
    import live

    if asked:
        counts, read = [], 0
        for records in rounds.records():
            read += records
            counts.append((read, 0))
        return [*counts, live.final_sums(rounds.lines())]
    if shape == TIMERS:
        return list(live.timers(rounds.lines(), DELAY))
    return list((live.sum_lines if shape == KAFKA else live.sums)(rounds.lines()))


def run(case: Case, inputs: Rounds, kafka: str | None, timeout: float = 400) -> tuple[list[Round], list[int] | None]:
    """Run a program over its rounds, in one process with what it starts.

    Returns:
        The rounds, the first of which is the start; and the final result of one that is asked.

    Raises:
        AssertionError: it failed; the end of what it said.
    """
    counts = [count for count, _ in case.expected(inputs)][: len(inputs.paths)]
    spec = {"job": case.job, "arguments": case.arguments, "rounds": inputs.paths, "expected": counts}
    spec |= {"kafka": kafka, "asked": case.asked, "timeout": timeout / 2}
    command = [str(engines.python(case.engine)), str(RUNNING / "feeding.py"), json.dumps(spec)]
    with tempfile.TemporaryFile("w+") as errors:  # a pipe would fill: some peers say much
        process = subprocess.Popen(
            command, env=environment(case.engine), stdout=subprocess.PIPE, stderr=errors, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            out, _ = process.communicate(timeout=timeout)
        finally:
            engines.end(process)
        errors.seek(0)
        assert process.returncode == 0, f"status {process.returncode}: {errors.read().strip()[-3000:]}"
    answers = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    final = next((answer["final"] for answer in answers if "final" in answer), None)
    return [Round(**answer) for answer in answers if "final" not in answer], final


def environment(engine: str | None) -> dict[str, str]:
    """Of the process of a program; hashes of texts are the same in all of them."""
    path = [str(RUNNING)] if engine else [str(ROOT / "benches"), str(RUNNING), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(filter(None, path))}


@contextlib.contextmanager
def broker() -> Iterator[str]:
    """The tests' Kafka; its CPU time is nobody's.

    Raises:
        LookupError: it cannot be had here.
    """
    from tests.kafka import broker as kafka

    with tempfile.TemporaryDirectory() as folder, kafka.running(Path(folder)) as running:
        yield running.servers


def ours() -> Iterator[Case]:
    """Penstock, on Spark and in one process."""
    for peer, executor in (("Penstock", "spark"), ("Penstock, local", "local")):
        here = {"arguments": {"executor": executor}}
        for shape, job in ((SUMS, "sums"), (KAFKA, "kafka_sums"), (TIMERS, "timers")):
            slow = executor == "spark" and shape != SUMS
            yield Case(shape, peer, f"live_penstock:{job}", warm=6, batches=BATCHES[shape], slow=slow, **here)
    least = {"executor": "spark", "guarantee": "AT_LEAST_ONCE"}
    yield Case(KAFKA, "Penstock, at least once", "live_penstock:kafka_sums", least, 6, BATCHES[KAFKA], slow=True)


def on_spark() -> Iterator[Case]:
    """Peers that need Spark only."""
    yield Case(SUMS, "Spark's aggregation", "live_spark:native_sums", asked=True, warm=10, batches=10, slow=True)
    yield Case(SUMS, "transformWithState", "live_spark:state_sums", warm=2, batches=1, slow=True)
    yield Case(TIMERS, "transformWithState", "live_spark:state_timers", warm=3, batches=2, slow=True)
    pandas = {"arguments": {"pandas": True}, "slow": True}
    yield Case(TIMERS, "transformWithStateInPandas", "live_spark:state_timers", warm=3, batches=2, rounds=2, **pandas)


def other_engines() -> Iterator[Case]:
    """Peers with environments of their own."""
    yield Case(SUMS, "Bytewax", "live_bytewax:sums", engine="Bytewax")
    ten = {"arguments": {"epoch": 10.0}, "rounds": 1, "batches": 12}
    yield Case(SUMS, "Bytewax, every 10 s", "live_bytewax:sums", engine="Bytewax", **ten)
    settings = {"arguments": {"settings": PYFLINK}, "rounds": 3, "batches": 1, "warm": 1}
    yield Case(SUMS, "PyFlink", "live_pyflink:sums", engine="PyFlink", **settings)


def over_kafka() -> Iterator[Case]:
    """From a topic to a topic."""
    yield Case(KAFKA, "Bytewax", "live_bytewax:kafka_sums", engine="Bytewax", warm=2, batches=2)


CASES: tuple[Callable[[], Iterator[Case]], ...] = (ours, on_spark, other_engines, over_kafka)

if __name__ == "__main__":
    print(json.dumps(plainly(sys.argv[1], bool(int(sys.argv[2])), Rounds(json.loads(sys.argv[3])))))
