"""Programs whose single steps are measured: which, and with how many keys."""

from __future__ import annotations

import json
import marshal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import engines
import unbounded
from endless import ALIKE, EXCHANGES, FEW, HELD, KEYS, LOCAL, MANY, MOST, RESUMED, STEP, STREAMING, TRIGGER, WRITTEN
from engines import RUNNING

STEP_RECORDS = 10_000


@dataclass(frozen=True)
class Alone:
    """A program that steps.

    Attributes:
        phase, shape, size, peer: its names in the results.
        job: of ``running/``.
        arguments: of the job.
        warm: steps before those that are timed; as many as it takes until all keys are there.
        steps: that are timed.
        runs: how often the job is killed and goes on, with one.
    """

    phase: str
    shape: str
    size: int
    peer: str
    job: str
    arguments: dict[str, Any] = field(default_factory=dict, hash=False)
    warm: int = 30
    steps: int = 40
    runs: int = 1

    @property
    def slow(self) -> bool:
        """Whether the smoke mode goes without it, because it starts a Spark of its own: all but one of ours."""
        return self.arguments.get("executor", "spark") == "spark" and self.job != "live_steps:exchanges"

    def __str__(self) -> str:
        return f"{self.phase}-{self.size}-{self.peer}".replace(" ", "_")


@dataclass(frozen=True)
class Stepped:
    """One run of it, see ``running/stepping.py``."""

    job: str
    steps: int
    first: float
    seconds: list[float]
    cpu: dict[str, float]
    bytes: int
    peak_bytes: dict[str, int]


def triggers() -> Iterator[Alone]:
    """Two exchanges at ten records."""
    for peer, executor in (("Penstock", "spark"), (LOCAL, "local")):
        yield Alone(TRIGGER, EXCHANGES, 10, peer, "live_steps:exchanges", {"executor": executor})
    yield Alone(TRIGGER, EXCHANGES, 10, STREAMING, "live_steps:by_hand")


def touching() -> Iterator[Alone]:
    """Few keys of many, and all of few; the many are there again when the job goes on."""
    for peer, executor in (("Penstock", "spark"), (LOCAL, "local")):
        for keys in (FEW, MANY):
            more = {"warm": keys // STEP_RECORDS + 20, "steps": 20, "runs": 2 if keys == MANY else 1}
            yield Alone(STEP, ALIKE, keys, peer, "live_steps:sums", {"executor": executor, "keys": keys}, **more)


def others() -> Iterator[Alone]:
    """What is written for a key, and many keys in little memory."""
    ten = {"executor": "spark", "keys": 10 * STEP_RECORDS, "records": STEP_RECORDS}
    yield Alone(WRITTEN, KEYS, FEW, "Penstock", "live_steps:sums", ten, 10, 60)
    records = MOST // 40
    many = {"executor": "spark", "keys": MOST, "records": records, "settings": {"penstock.step.records": records}}
    yield Alone(HELD, KEYS, MOST, "Penstock", "live_steps:sums", many, 40, 4)


def run(program: Alone, tiny: bool, timeout: float = 300) -> list[Stepped]:
    """Run it in processes of its own.

    Raises:
        AssertionError: it failed; the end of what it said.
    """
    arguments, warm, steps = program.arguments, program.warm, program.steps
    if tiny:
        arguments = {**arguments, **({"keys": 50, "records": 10} if "keys" in arguments else {})}
        warm, steps = 3, 3
    spec = {"job": program.job, "arguments": arguments, "warm": warm, "steps": steps, "runs": program.runs}
    command = [sys.executable, str(RUNNING / "stepping.py"), json.dumps(spec)]
    process = subprocess.Popen(
        command, env=unbounded.environment(None), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        out, _ = process.communicate(timeout=timeout)
    finally:
        engines.end(process)
    assert process.returncode == 0, f"status {process.returncode}: {out.strip()[-3000:]}"
    return [Stepped(**json.loads(line)) for line in out.splitlines() if line.startswith('{"job"')]


def facts(program: Alone, runs: list[Stepped]) -> Iterator[dict[str, Any]]:
    """What is written down of it: a row, or two where the job went on."""
    first = runs[0]
    row: dict[str, Any] = {"shape": program.shape, "size": program.size, "peer": program.peer}
    if program.phase == HELD:
        yield {**row, "phase": HELD, "seconds": first.seconds, "peak_bytes": first.peak_bytes["python"]}
    elif program.phase == WRITTEN:
        touched = first.steps * STEP_RECORDS
        serialised = len(marshal.dumps((f"k{MANY}", first.steps), 2)) * STEP_RECORDS
        step_bytes = round(first.bytes / touched * STEP_RECORDS)
        yield {**row, "phase": WRITTEN, "seconds": first.seconds, "bytes": step_bytes, "serialised": serialised}
    else:
        yield {**row, "phase": program.phase, "seconds": first.seconds}
    if len(runs) > 1:
        yield {**row, "phase": RESUMED, "shape": KEYS, "seconds": [run.first for run in runs[1:]]}
