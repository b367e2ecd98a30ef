"""How long a record takes to a sink without commits, with a checkpoint interval and without one: a program for each, on
an executor, whose source has a record now and then and says when."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import Records, Source, Split
from penstock.job.folder.lease import JobFolder

EVERY = 0.1
"""Seconds between two records."""
INTERVAL = 20_000
"""Milliseconds between two checkpoints."""
PATIENCE = 600


class Ticking(Source[Any]):
    """Numbers from 0, one more each :data:`EVERY` seconds after a moment.

    Args:
        began: the moment, as of ``time.time()``.
    """

    bounded = False
    together = True

    def __init__(self, began: float) -> None:
        self.began = began

    def splits(self, parallelism: int) -> list[Split]:
        """What there is by now."""
        return [Split("numbers", 0, max(0, int((time.time() - self.began) / EVERY)))]

    def read(self, split: Split) -> Iterator[Records[int]]:
        """Them."""
        for number in range(split.start, split.end or 0):
            yield Records([number], number + 1)


@dataclass(frozen=True)
class Measured:
    """What a run has shown.

    Attributes:
        numbers: the records that have come, in order.
        seconds: from when each was there until the sink had it.
        versions: manifests that were written.
    """

    numbers: list[int]
    seconds: list[float]
    versions: int


def measured(folder: Path, records: int, warm: int, interval: int | None, **executor: Any) -> Measured:
    """Run the program until so many records have come.

    Args:
        folder: for the job and its output.
        records: that are timed.
        warm: records before them.
        interval: milliseconds between two checkpoints; None: each step is one.
        executor: ``executor`` or ``spark`` of the environment.
    """
    out = folder / "out"
    configuration = Configuration.from_dict({"execution.checkpointing.dir": str(folder / "job")})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, **executor).set_parallelism(1)
    if interval is not None:
        env.enable_checkpointing(interval)
    began = time.time()
    stream = env.from_source(Ticking(began), WatermarkStrategy.no_watermarks(), "ticks", Types.LONG())
    keyed = stream.map(lambda n: (n % 10, n), Types.TUPLE([Types.LONG(), Types.LONG()])).key_by(lambda pair: pair[0])
    keyed.reduce(lambda one, other: other).add_sink(_noting(str(out)))
    client = env.execute_async("latency")
    try:
        limit = time.monotonic() + PATIENCE
        while not out.exists() or out.read_text().count("\n") < warm + records:
            assert time.monotonic() < limit, "records do not come"
            assert not client.get_job_status().result().is_terminal_state()
            time.sleep(EVERY)
        newest = JobFolder(str(folder / "job")).newest()
    finally:
        client.cancel().result()
    lines = [line.split() for line in out.read_text().splitlines()[: warm + records]]
    came = [float(moment) - began - (int(number) + 1) * EVERY for number, moment in lines]
    return Measured([int(number) for number, _ in lines], came[warm:], 0 if newest is None else newest.version)


def _noting(path: str) -> Any:
    def note(pair: tuple[int, int]) -> None:
        with open(path, "ab", buffering=0) as file:
            os.write(file.fileno(), f"{pair[1]} {time.time()}\n".encode())

    return note


def compared(folder: Path, records: int, warm: int, **executor: Any) -> dict[str, Measured]:
    """A run without an interval, and one with :data:`INTERVAL`, after one that nobody looks at.

    Args:
        folder, records, warm, executor: as of :func:`measured`.
    """
    runs: list[Measured] = []
    for number, interval in enumerate((None, None, INTERVAL)):
        place = folder / str(number)
        place.mkdir()
        runs.append(measured(place, records if number else 5, warm, interval, **executor))
    return {"each step a checkpoint": runs[1], "a checkpoint each 20 s": runs[2]}


def median(run: Measured) -> float:
    """Of the seconds."""
    return statistics.median(run.seconds)
