"""What savepoints cost: taking one, and the steps of a job of which one is taken again and again."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Measure
from penstock.common import Configuration, JobClient, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import Records, Source, Split
from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.store import write_savepoint

MOST, STEP, STEPS = 1_000_000, 20_000, 20
PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])


class Numbers(Source[int]):
    """Numbers without an end, a thousand at a time."""

    bounded = False

    def splits(self, parallelism: int) -> list[Split]:
        return [Split("numbers", 0, 1 << 60)]

    def read(self, split: Split) -> Iterator[Records[int]]:
        for number in range(split.start, split.end, 1_000):
            yield Records(range(number, number + 1_000), number + 1_000)


def started(folder: Path, keys: int, step: int) -> JobClient:
    """A job that counts by key, as soon as it has all keys."""
    settings = {"execution.checkpointing.dir": str(folder), "penstock.step.records": str(step)}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings), executor="local")
    numbers = env.from_source(Numbers(), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).uid("numbers")
    pairs = numbers.map(lambda number: (number % keys, 1), PAIR)
    pairs.key_by(lambda pair: pair[0], Types.LONG()).sum(1).uid("sum").add_sink(lambda value: None)
    client = env.execute_async("counts")
    while client.metrics()["numbers"].metrics.records_out < keys:
        time.sleep(0.05)
    return client


@pytest.fixture
def job(tiny: bool, tmp_path: Path) -> Iterator[tuple[JobClient, int]]:
    """The client of such a job, and the number of its keys."""
    keys = 1_000 if tiny else MOST
    client = started(tmp_path / "job", keys, 1_000 if tiny else STEP)
    yield client, keys
    client.cancel()
    client.get_job_execution_result().exception()


def steps(client: JobClient, count: int) -> int:
    """Wait for so many steps."""
    until = client.metrics().version + count
    while client.metrics().version < until:
        time.sleep(0.005)
    return count


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside savepoints"])
def test_steps(measure: Measure, tiny: bool, tmp_path: Path, job: tuple[JobClient, int], beside: bool) -> None:
    client, keys = job
    count, over = 2 if tiny else STEPS, threading.Event()

    def take() -> None:
        while not over.wait(0.5):
            client.trigger_savepoint(str(tmp_path / "savepoints")).result()

    thread = threading.Thread(target=take, daemon=True)
    if beside:
        thread.start()
    shape = f"{STEPS} steps beside savepoints" if beside else f"{STEPS} steps"
    try:
        measure(lambda _: steps(client, count), lambda: None, phase="savepoint", shape=shape, size=keys, rounds=5)
    finally:
        over.set()
        if beside:
            thread.join()


@pytest.mark.parametrize("copied", [False, True], ids=["linked", "copied"])
def test_taking(
    measure: Measure, tmp_path: Path, job: tuple[JobClient, int], copied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, keys = job
    client.stop()
    client.get_job_execution_result().result()
    folder = JobFolder(str(tmp_path / "job"))
    newest = folder.newest()
    assert newest is not None
    if copied:
        monkeypatch.setattr("penstock.job.savepoint.transfer._linked", lambda old, last: False)

    def work(place: Path) -> Any:
        return write_savepoint(folder.files, newest, place)

    shape = "copied" if copied else "linked"
    savepoint = measure(work, lambda: tmp_path / uuid.uuid4().hex, phase="savepoint", shape=shape, size=keys, rounds=5)
    assert savepoint.manifest.operators == newest.operators
