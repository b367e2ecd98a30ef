"""A program with everything that a dying task could spoil, whose functions die where they are told to, once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.common import OutputTag
from penstock.common.serialization import SimpleStringEncoder
from penstock.connectors.files.buckets import BucketAssigner
from penstock.connectors.files.file_sink import FileOutput
from penstock.runtime.aggregators import SumAggregator
from penstock.runtime.io.sinks import TextSink
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.elementwise import StreamMap
from penstock.runtime.operators.process import ProcessOperator
from penstock.runtime.operators.reduce import GroupedReduce
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import TumblingEventTimeWindows
from penstock.runtime.windows.functions import ApplyWindow
from penstock.runtime.windows.triggers import EventTimeTrigger
from tests.job.commit.crashes import content
from tests.job.programs import Program

RECORDS = 1200
ODD = OutputTag("odd")


def kill(attempt: int, marker: str) -> None:
    """End the worker as the system would, once."""
    if first(marker):
        os.kill(os.getpid(), signal.SIGKILL)


def leave(attempt: int, marker: str) -> None:
    if first(marker):
        os._exit(3)


def fail(attempt: int, marker: str) -> None:
    """Fail as often as a task of ``local[2,4]`` may."""
    first(marker)
    if attempt < 3:
        raise OSError(f"attempt {attempt}")


def kill_executor(attempt: int, marker: str) -> None:
    """End the worker's executor, a JVM above it, once."""
    if not first(marker):
        return
    os.kill(executor_above(os.getpid()), signal.SIGKILL)
    time.sleep(60)


def executor_above(pid: int) -> int:
    """The JVM of Spark that a worker works for."""
    while not is_executor(pid):
        pid = parent_of(pid)
    return pid


def is_executor(pid: int) -> bool:
    """Whether a process is a JVM that runs tasks."""
    return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()


def parent_of(pid: int) -> int:
    """The process that a process was started by."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def dawdle(attempt: int, marker: str) -> None:
    """Take so long, once, that another attempt starts elsewhere."""
    if first(marker):
        time.sleep(900)


def first(marker: str) -> bool:
    """Whether nobody has asked before, in any process."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


class Mortal:
    def __init__(self, dies: Callable[[int, str], None] | None, marker: str, at: Any) -> None:
        self.dies, self.marker, self.at = dies, marker, at

    def open(self, context: Any) -> None:
        self.attempt, self.calls = context.get_attempt_number(), 0
        self.subtask, self.all = context.get_index_of_this_subtask(), context.get_number_of_parallel_subtasks()
        self.counter = context.get_metrics_group().counter("calls")
        self.sizes = context.get_metrics_group().distribution("sizes")

    def call(self, value: int) -> None:
        self.calls += 1
        self.counter.inc()
        self.sizes.update(value)
        if self.dies is not None and self.calls == self.at:
            self.dies(self.attempt, self.marker)

    def close(self) -> None:
        if self.dies is not None and self.at == "close":
            self.dies(self.attempt, self.marker)

    def run(self, ctx: Any) -> None:
        for number in range(self.subtask, RECORDS, self.all):
            self.call(number)
            ctx.collect_with_timestamp(number, number)
            if number % 50 < self.all:
                ctx.emit_watermark(number)

    def map(self, value: int) -> int:
        self.call(value)
        return value

    def process_element(self, value: int, ctx: Any) -> Any:
        self.call(value)
        yield value
        if value % 2:
            yield ODD, -value

    def reduce(self, one: Any, other: Any) -> Any:
        self.call(other[1])
        return one[0], one[1] + other[1]

    def apply(self, key: int, window: Any, inputs: Any) -> Any:
        numbers = [number for _, number in inputs]
        self.call(len(numbers))
        yield key, window.start, sum(numbers)

    def invoke(self, value: Any) -> None:
        self.call(value[1])


PLACES: dict[str, Any] = {
    "source": 400,
    "map": 300,
    "process": 250,
    "keyed": 100,
    "window": 10,
    "sink": 20,
    **{f"close of {name}": "close" for name in ("source", "map", "keyed", "sink")},
}
"""Where something can die, and at which call."""


def mortal(folder: Path, marker: Path, place: str = "", dies: Callable[[int, str], None] | None = None) -> Program:
    def function(name: str) -> Mortal:
        here = place.removeprefix("close of ") == name
        return Mortal(dies if here else None, str(marker), PLACES[place] if here else None)

    key = KeyPartition(lambda pair: pair[0])
    program = Program()
    source = program.add(StreamSource(function("source")), p=2, name="source")
    mapped = program.add(StreamMap(function("map")), source, p=2, name="map")
    split = program.add(ProcessOperator(function("process")), mapped, p=3, name="process")
    program.collect(split, tag="odd", p=2, partitioner="REBALANCE", id="odd")
    pairs = program.add(StreamMap(lambda number: (number % 7, number)), split, p=3, name="pairs")
    sums = GroupedReduce(function("keyed")).keyed_by(key)
    keyed = program.add(sums, pairs, p=2, partitioner="HASH", spec=key, name="keyed")
    program.add(StreamSink(TextSink(str(folder / "left"))), keyed, p=2, name="left")
    program.add(StreamSink(function("sink")), keyed, p=2, name="sink")
    more = FileOutput(str(folder / "more"), SimpleStringEncoder(), BucketAssigner.base_path_bucket_assigner(), 1000)
    program.add(StreamSink(more), keyed, p=2, name="more")
    apply = ApplyWindow(function("window"))
    window = WindowOperator(TumblingEventTimeWindows(100), EventTimeTrigger(), None, apply).keyed_by(key)
    windows = program.add(window, pairs, p=3, partitioner="HASH", spec=key, name="window")
    program.add(StreamSink(TextSink(str(folder / "right"))), windows, name="right")
    rules = program.source(range(20), name="rules")
    heard = program.add(StreamMap(str), rules, mapped, p=3, partitioner="BROADCAST", name="heard")
    program.collect(heard, id="heard")
    total = GroupedReduce(SumAggregator(1)).keyed_by(key)
    program.collect(program.add(total, windows, pairs, p=2, partitioner="HASH", spec=key, name="total"), id="total")
    return program


def facts(executor: Any, program: Program, folder: Path) -> dict[str, Any]:
    """Run the program; all that it leaves behind."""
    folder.mkdir()
    result = executor.execute(program.pipeline())
    user = {name: metrics.user for name, metrics in ((operator.name, operator) for operator in result.metrics.values())}
    return {
        "collected": result.collected,
        "counters": [(report.task, report.counters) for report in executor.reports],
        "accumulators": result.get_all_accumulator_results(),
        "metrics": user,
        "files": content(folder),
        "names": sorted(path.name for path in folder.iterdir()),
    }
