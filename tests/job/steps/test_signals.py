"""What a checkpoint knows of watermarks and idleness."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.common import Configuration, Duration, Time, TimestampAssigner, Types, WatermarkStrategy
from penstock.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import Records, Source, Split
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.job.folder.lease import JobFolder
from tests.running import collected

EACH = 5


class Numbers(Source[int]):
    """As many numbers for each subtask, other ones than the next has; not all in one step."""

    bounded = False

    def splits(self, parallelism: int) -> list[Split]:
        return [Split(f"{subtask}", subtask, subtask + 2 * EACH, finite=False) for subtask in range(parallelism)]

    def limited(self, split: Split, records: int) -> Split:
        return Split(split.id, split.start, min(split.end, split.start + EACH), finite=False)

    def read(self, split: Split) -> Iterator[Records[int]]:
        yield Records(list(range(split.start, split.end)), split.end)


class Moment(TimestampAssigner):
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value


class Counted(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, len(list(elements))


def run(folder: Path, parallelism: int, *, idle: bool) -> None:
    """Count numbers in windows, in some steps."""
    settings = {
        "execution.checkpointing.dir": str(folder),
        "penstock.step.available-now": "true",
        "penstock.step.records": str(EACH * parallelism),
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings), executor="local")
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Moment())
    if idle:
        strategy = strategy.with_idleness(Duration.of_millis(1))
    numbers = env.set_parallelism(parallelism).from_source(Numbers(), strategy, "numbers", Types.LONG())
    windows = numbers.key_by(lambda n: n % 10, Types.LONG()).window(
        TumblingEventTimeWindows.of(Time.milliseconds(EACH))
    )
    assert collected(windows.process(Counted(), Types.TUPLE([Types.LONG(), Types.LONG()])))


@pytest.mark.parametrize("idle", [False, True])
def test_a_checkpoint_does_not_grow_with_the_square_of_the_subtasks(tmp_path, idle):
    """Each sender has one line of watermarks, which all its receivers have seen."""
    sizes = []
    for parallelism in (8, 64):
        folder = tmp_path / str(parallelism)
        run(folder, parallelism, idle=idle)
        tasks = JobFolder(str(folder)).newest().tasks
        sizes.append(max(len(task.volatile) for subtasks in tasks.values() for task in subtasks))
    assert 0 < sizes[1] < 1.1 * sizes[0]
