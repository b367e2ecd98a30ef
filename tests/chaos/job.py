"""The job: ``python -m tests.chaos.job ROOT '{"setting": "value"}' [LEASE]``."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from penstock.common import Configuration, Time, Types, WatermarkStrategy
from penstock.common.serialization import Encoder
from penstock.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import FileSink
from penstock.datastream.sinks import TwoPhaseCommitSink
from penstock.datastream.state import MapStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.job.folder import owners
from penstock.runtime.io.splits import Records, Source, Split

COUNT, SPLITS, KEYS = 300, 2, 5
"""Numbers in a split, splits of a source, keys of a split."""
SECTION, WINDOW = 100, 50
DAWDLES = "chaos.dawdles"
"""Not of the program's settings: the name of a folder, for tasks that take their time; see :class:`Dawdler`."""
PACE = "chaos.pace"
"""Not of the program's settings either: seconds that each record takes, so that the job outlives its kills."""
GO = "go"
"""A file in the job's folder without which the last records do not come, if the job is told of it: a setting, too."""
LAST = 40
"""How many numbers come at a time, and at the end."""
Pair = tuple[str, int]
PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


class Numbers(Source[Pair]):
    """0, 1, … of each split, with the key of each."""

    together = True

    def __init__(self, name: str, bounded: bool, go: str = "") -> None:
        self.name, self.bounded, self._go = name, bounded, go
        self._available = COUNT if bounded else 0

    def splits(self, parallelism: int) -> Sequence[Split]:
        if not self.bounded:
            most = COUNT - LAST if self._go and not os.path.exists(self._go) else COUNT
            self._available = max(self._available, min(most, self._available + LAST))
        return [Split(f"{self.name}{i}", 0, self._available, finite=self._available == COUNT) for i in range(SPLITS)]

    def pending(self, parallelism: int, positions: Any, over: Any = frozenset()) -> Sequence[Split]:
        self._available = max([self._available, *positions.values()])
        return super().pending(parallelism, positions, over)

    def ended(self) -> bool:
        return self._available == COUNT

    def limited(self, split: Split, records: int) -> Split:
        end = min(split.end, split.start + records)
        return Split(split.id, split.start, end, finite=split.finite and end == split.end)

    def read(self, split: Split) -> Iterator[Records[Pair]]:
        for begin in range(split.start, split.end, 7):
            numbers = range(begin, min(begin + 7, split.end))
            yield Records([(key_of(split.id, n), n) for n in numbers], numbers.stop, list(numbers))


def key_of(split: str, number: int) -> str:
    return f"{split}-{number % KEYS}"


class Dawdler(MapFunction):
    """Takes its time now and then, so that Spark starts another attempt of the task, if it may."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.seen: set[int] = set()

    def map(self, value: Pair) -> Pair:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is None:
            return value
        task = context.taskAttemptId()
        if context.attemptNumber() > 0 and task not in self.seen:
            self.seen.add(task)
            Path(self.folder, str(task)).touch()
        if context.attemptNumber() == 0 and os.urandom(1)[0] < 2:
            time.sleep(3)
        return value


class Sections(KeyedProcessFunction):
    """The sum of a hundred numbers, when they are over, and how many there have been of the key before the last one."""

    def open(self, context: Any) -> None:
        self.sums = context.get_map_state(MapStateDescriptor("sums", Types.LONG(), Types.LONG()))
        self.fired = context.get_state(ValueStateDescriptor("fired", Types.LONG()))

    def process_element(self, value: Pair, ctx: Any) -> Iterator[Any]:
        section = value[1] // SECTION
        self.sums.put(section, (self.sums.get(section) or 0) + value[1])
        ctx.timer_service().register_event_time_timer((section + 1) * SECTION)
        yield from ()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[str]:
        section = timestamp // SECTION - 1
        fired = (self.fired.value() or 0) + 1
        self.fired.update(fired)
        yield f"{ctx.get_current_key()} {section} {self.sums.get(section)} {fired}"
        self.sums.remove(section)


class Ledger(TwoPhaseCommitSink[Any, Any]):
    """A file per version, which it writes whole; a second time it must be the same."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def open(self, context: Any) -> None:
        self.values: list[str] = []

    def write(self, value: str) -> None:
        self.values.append(value)

    def prepare(self, version: int) -> Any:
        values, self.values = self.values, []
        return values or None

    def commit(self, committables: Sequence[Any], version: int) -> None:
        text = "".join(f"{value}\n" for values in committables for value in values)
        name = Path(self.folder, f"{self.owner}-{version}")
        if name.exists():
            if name.read_text() != text:
                raise AssertionError(f"{name} is {name.read_text()!r}, and now {text!r}")
            return
        name.parent.mkdir(parents=True, exist_ok=True)
        temporary = name.with_name("unfinished")
        temporary.write_text(text)
        os.replace(temporary, name)


def run(root: str, settings: dict[str, str]) -> None:
    texts = {
        "execution.checkpointing.dir": f"{root}/job",
        "penstock.step.records": "20",
        "penstock.files.commit-interval": "0",
        "parallelism.default": "2",
    }
    settings = dict(settings)
    dawdles, pace = settings.pop(DAWDLES, None), float(settings.pop(PACE, 0))
    go = f"{root}/{GO}" if settings.pop(GO, "") else ""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(texts | settings))
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    one, other = (env.from_source(Numbers(name, name == "a", go), strategy, name, PAIR) for name in "ab")
    both = one.union(other)
    if dawdles:
        Path(root, dawdles).mkdir(exist_ok=True)
        both = both.map(Dawdler(f"{root}/{dawdles}"), PAIR)
    if pace:
        both = both.map(lambda pair: time.sleep(pace) or pair, PAIR)
    keyed = both.key_by(lambda pair: pair[0], Types.STRING())
    sums = keyed.reduce(lambda x, y: (x[0], x[1] + y[1])).map(lambda pair: f"{pair[0]} {pair[1]}", Types.STRING())
    target = settings.get("execution.checkpointing.dir", root).removesuffix("/job")
    sums.sink_to(FileSink.for_row_format(f"{target}/sums", Encoder.simple_string_encoder()).build())
    windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW)))
    sizes = windows.reduce(lambda x, y: (x[0], x[1] + y[1]))
    sizes.map(lambda pair: f"{pair[0]} {pair[1]}", Types.STRING()).sink_to(Ledger(f"{root}/ledger"))
    sections = keyed.process(Sections(), Types.STRING())
    if "://" in target:
        sections.sink_to(FileSink.for_row_format(f"{target}/sections", Encoder.simple_string_encoder()).build())
    else:
        sections.write_as_text(f"{root}/sections")
    env.execute("chaos")


def expected() -> dict[str, list[str]]:
    outputs: dict[str, list[str]] = {"sums": [], "ledger": [], "sections": []}
    for split in (f"{name}{i}" for name in "ab" for i in range(SPLITS)):
        for first in range(KEYS):
            key, numbers = key_of(split, first), range(first, COUNT, KEYS)
            outputs["sums"] += [f"{key} {sum(numbers[: i + 1])}" for i in range(len(numbers))]
            outputs["ledger"] += [f"{key} {_part(numbers, at, WINDOW)}" for at in range(0, COUNT, WINDOW)]
            sections = enumerate(range(0, COUNT, SECTION))
            outputs["sections"] += [f"{key} {i} {_part(numbers, at, SECTION)} {i + 1}" for i, at in sections]
    return {name: sorted(lines) for name, lines in outputs.items()}


def _part(numbers: range, at: int, size: int) -> int:
    return sum(number for number in numbers if at <= number < at + size)


def main(root: str, settings: str, lease: str = "") -> None:
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    if lease:
        short_lease(float(lease))
    run(root, json.loads(settings))


def short_lease(seconds: float) -> None:
    """From now on a silent driver counts as dead after these seconds, and no lock tells."""
    owners.LEASE_SECONDS = seconds
    owners.Lock._lock = lambda self, file: None


if __name__ == "__main__":
    main(*sys.argv[1:])
