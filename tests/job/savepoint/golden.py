"""The program of the golden savepoint, with state of all kinds. :func:`main` takes one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.common import Configuration, Duration, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import (
    AggregateFunction,
    BroadcastProcessFunction,
    DataStream,
    KeyedProcessFunction,
    ReduceFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors import Records, Source, Split
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.datastream.window import TumblingEventTimeWindows

RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
FIRST, ALL = 60, 120
"""Numbers that have been read when the savepoint is taken, and in all."""


class Numbers(Source[int]):
    """Three files, which are over when they have been read, and two partitions that go on."""

    bounded = False

    def __init__(self, count: int) -> None:
        self.count = count

    def splits(self, parallelism: int) -> list[Split]:
        files = [Split(f"file-{number}", 0, 1, finite=True) for number in range(3)]
        return [*files, *(Split(f"part-{number}", 0, self.count // 2) for number in range(2))]

    def read(self, split: Split) -> Iterator[Records[int]]:
        which = int(split.id[-1])
        for number in range(split.start, split.end):
            yield Records([1000 + which if split.finite else 2 * number + which], number + 1)


class ByItself(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value if value < 1000 else 0


class Add(ReduceFunction):
    def reduce(self, value1: int, value2: int) -> int:
        return value1 + value2


class Count(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Many(KeyedProcessFunction):
    """Keeps state of every kind, and says it with each number."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.LONG()))
        self.by = runtime_context.get_map_state(MapStateDescriptor("by", Types.STRING(), Types.LONG()))
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", Add(), Types.LONG()))
        self.count = runtime_context.get_aggregating_state(AggregatingStateDescriptor("count", Count(), Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        before = self.last.value()
        self.last.update(value)
        self.all.add(value)
        self.by.put("even" if value % 2 == 0 else "odd", value)
        self.sum.add(value)
        self.count.add(value)
        ctx.timer_service().register_event_time_timer(value + 30)
        yield ("many", before, sorted(self.all.get()), sorted(self.by.items()), self.sum.get(), self.count.get())

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ("timer", timestamp, ctx.get_current_key())


class Rules(BroadcastProcessFunction):
    """Keeps the largest rule in every subtask."""

    def process_element(self, value: int, ctx: Any) -> Any:
        yield ("rules", value, sorted(ctx.get_broadcast_state(RULES).items()))

    def process_broadcast_element(self, value: int, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put("rule", value)


def program(env: StreamExecutionEnvironment, count: int) -> list[DataStream]:
    times = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5)).with_timestamp_assigner(ByItself())
    numbers = env.from_source(Numbers(count), times, "numbers", Types.LONG()).uid("numbers")
    small = numbers.filter(lambda number: number < 1000).uid("small")
    by_remainder = small.key_by(lambda number: number % 7, Types.LONG())
    many = by_remainder.process(Many()).uid("many").name("many kinds")
    windows = by_remainder.window(TumblingEventTimeWindows.of(Duration.of_millis(50)))
    summed = windows.reduce(Add()).uid("windows").name("sums of windows").map(lambda total: ("window", total))
    rules = numbers.filter(lambda number: number >= 1000).broadcast(RULES)
    ruled = small.connect(rules).process(Rules()).uid("rules").name("rules")
    return [many, summed, ruled]


def environment(folder: Path, **more: str) -> StreamExecutionEnvironment:
    settings = {
        "execution.checkpointing.dir": str(folder),
        "penstock.step.available-now": "true",
        "penstock.step.records": "20",
    }
    configuration = Configuration.from_dict({**settings, **more})
    return StreamExecutionEnvironment.get_execution_environment(configuration, executor="local").set_parallelism(2)


def main(folder: Path, *, refers: bool = False) -> None:
    """Take the savepoint, one by reference of a checkpoint directory inside of it if so."""
    from penstock.job.folder.lease import JobFolder
    from penstock.job.savepoint.store import write_savepoint

    place = folder / "savepoint" / "job" if refers else folder / f"job-{time.time_ns()}"
    env = environment(place)
    for stream in program(env, FIRST):
        stream.add_sink(lambda value: None)
    env.execute("golden")
    job = JobFolder(str(place))
    manifest = job.newest()
    assert manifest is not None
    if not refers:
        print(write_savepoint(job.files, manifest, folder / "savepoint").place)
        return
    with job.open("golden") as lease:
        print(write_savepoint(job.files, manifest, folder / "savepoint", pin=lease.pin).place)
