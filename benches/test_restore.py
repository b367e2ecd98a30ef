"""How long a job takes to begin from a savepoint at another parallelism, until its first step stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Measure
from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import NumberSequenceSource
from penstock.datastream.state import ValueStateDescriptor
from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.store import write_savepoint

KEYS = 1_000_000


class Sum(KeyedProcessFunction):
    """A sum per key."""

    def open(self, context: Any) -> None:
        self.sum = context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[Any]:
        self.sum.update((self.sum.value() or 0) + value)
        yield from ()


def run(executor: str, parallelism: int, keys: int, records: int, **settings: str) -> list[int]:
    """Sums of so many keys."""
    configuration = Configuration.from_dict({key.replace("__", "."): value for key, value in settings.items()})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor=executor)
    env.set_parallelism(parallelism)
    numbers = NumberSequenceSource(0, records - 1)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).uid("numbers")
    sums = stream.key_by(lambda number: number % keys, Types.LONG()).process(Sum(), Types.LONG()).uid("sum")
    with sums.execute_and_collect() as results:
        return list(results)


@pytest.mark.parametrize("executor", ["local", "spark"])
def test_restore(measure: Measure, tiny: bool, tmp_path: Path, executor: str) -> None:
    if tiny and executor == "spark":
        pytest.skip("a Spark of its own")
    keys, numbers = 1_000 if tiny else KEYS, itertools.count()
    job = str(tmp_path / "job")
    run("local", 2, keys, keys, execution__checkpointing__dir=job, penstock__step__records=str(keys))
    folder = JobFolder(job)
    newest = folder.newest()
    assert newest is not None
    savepoint = write_savepoint(folder.files, newest, tmp_path / "savepoint").place

    def work(place: str) -> list[int]:
        return run(executor, 3, keys, keys, execution__checkpointing__dir=place, execution__savepoint__path=savepoint)

    if executor == "spark":
        work(str(tmp_path / "warm"))  # Spark itself starts once
    shape = f"restore at another parallelism, {executor}"
    measure(work, lambda: str(tmp_path / str(next(numbers))), phase="state", shape=shape, size=keys, rounds=3)
    again = JobFolder(str(tmp_path / "0")).newest()
    assert again is not None
    (state,) = (operator for operator in again.operators.values() if operator.uid == "sum")
    assert sum(file.keys for chain in state.subtasks for file in chain) == keys
    assert state.parallelism == 3
