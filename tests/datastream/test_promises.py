"""What docs/streaming.md promises of each source and sink: programs that are killed on the way, and go on.

A program numbers 0 to 39 in steps of some records. It is killed before a change of a file that it makes, at many of
them, and run again to its end; then each number has reached the sink as often as the page says. What needs a broker or
Spark has tests of its own; ``tests/docs/test_exactly_once_page.py`` names for each row of the page who holds it.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.common.serialization import SimpleStringEncoder
from penstock.datastream import SinkFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import (
    BucketAssigner,
    DataGeneratorSource,
    FileSink,
    FileSource,
    JdbcConnectionOptions,
    JdbcSink,
    NumberSequenceSource,
    StreamFormat,
    StreamingFileSink,
    TwoPhaseCommitSink,
)
from penstock.datastream.connectors import Records as Block
from penstock.datastream.connectors import Source as OwnSource
from penstock.datastream.connectors import Split as OwnSplit
from penstock.datastream.formats import CsvBulkWriters, CsvSchema
from tests.effort import one_of
from tests.job.commit.crashes import dies_at

pytestmark = pytest.mark.slow

ALL = list(range(40))
NONE = WatermarkStrategy.no_watermarks()
BASE = BucketAssigner.base_path_bucket_assigner()
NUMBER = Types.ROW_NAMED(["n"], [Types.INT()])


# --- sources


class Own(OwnSource[int]):
    """Two splits, whose positions are indices."""

    together = True

    def splits(self, parallelism: int) -> Sequence[OwnSplit]:
        return [OwnSplit(f"{begin}", begin, begin + 20) for begin in (0, 20)]

    def limited(self, split: OwnSplit, records: int) -> OwnSplit:
        return OwnSplit(split.id, split.start, min(split.end, split.start + records))

    def read(self, split: OwnSplit) -> Iterator[Block[int]]:
        for number in range(split.start, split.end):
            yield Block([number], number + 1)


def lines_of(root: Path) -> FileSource[Any]:
    for half in (0, 20):
        path = root / "in" / str(half)
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(f"{number}\n" for number in ALL[half : half + 20]))
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(root / "in")).build()


SOURCES: dict[str, Callable[[Any, Path], Any]] = {
    "number sequence": lambda env, root: env.from_source(NumberSequenceSource(0, 39), NONE, "numbers"),
    "generated records": lambda env, root: env.from_source(
        DataGeneratorSource(lambda index: index, 40, Types.LONG()), NONE, "numbers"
    ),
    "files": lambda env, root: env.from_source(lines_of(root), NONE, "numbers"),
    "a source with splits": lambda env, root: env.from_source(Own(), NONE, "numbers", Types.INT()),
}


# --- sinks


class Ledger(TwoPhaseCommitSink[int, Any]):
    """A file for each commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def open(self, context: Any) -> None:
        self.numbers: list[int] = []

    def write(self, value: int) -> None:
        self.numbers.append(value)

    def prepare(self, version: int) -> Any:
        numbers, self.numbers = self.numbers, []
        return numbers or None

    def commit(self, committables: Sequence[Any], version: int) -> None:
        page = Path(self.folder, f"{self.owner}-{version}")
        page.with_suffix(".tmp").write_text(json.dumps(list(chain.from_iterable(committables))))
        os.replace(page.with_suffix(".tmp"), page)


class Appends(SinkFunction):
    """Adds each number to a file, at once."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def invoke(self, value: int, context: Any = None) -> None:
        with open(self.path, "a") as file:
            file.write(f"{value}\n")


class Gathers(Appends):
    """Adds numbers to a file when it is told to."""

    def open(self, runtime_context: Any) -> None:
        self.numbers: list[int] = []

    def invoke(self, value: int, context: Any = None) -> None:
        self.numbers.append(value)

    def flush(self) -> None:
        numbers, self.numbers = self.numbers, []
        for number in numbers:
            super().invoke(number)


def callable_sink(path: Path) -> Callable[[int], None]:
    sink = Appends(path)
    return lambda value: sink.invoke(value)


def table(root: Path, statement: str = "INSERT INTO numbers VALUES (?)", **how: Any) -> JdbcSink:
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{root / 'db'}").build()
    with contextlib.closing(sqlite3.connect(root / "db")) as database:
        database.execute("CREATE TABLE IF NOT EXISTS numbers (n INTEGER)")
        database.execute("CREATE TABLE IF NOT EXISTS once (n INTEGER PRIMARY KEY)")
    return JdbcSink.sink(statement, Types.INT(), options, **how)


def csv_sink(root: Path) -> FileSink[Any]:
    schema = CsvSchema.builder().add_number_column("n").build()
    return FileSink.for_bulk_format(str(root / "out"), CsvBulkWriters.for_schema(schema)).build()


def row_sink(root: Path, kind: Any = FileSink) -> Any:
    return kind.for_row_format(str(root / "out"), SimpleStringEncoder()).with_bucket_assigner(BASE).build()


# --- what has arrived


def of_files(root: Path) -> list[int]:
    files = [path for path in sorted((root / "out").rglob("*")) if path.is_file() and not path.name.startswith(".")]
    return [int(cell) for path in files for [cell] in csv.reader(path.read_text().splitlines())]


def of_text(root: Path) -> list[int]:
    return of_files(root) if (root / "out").is_dir() else [int(line) for line in (root / "out").read_text().split()]


def of_ledger(root: Path) -> list[int]:
    return [number for path in (root / "out").glob("*[0-9]") for number in json.loads(path.read_text())]


def of_table(root: Path, name: str = "numbers") -> list[int]:
    with contextlib.closing(sqlite3.connect(root / "db")) as database:
        return [number for (number,) in database.execute(f"SELECT n FROM {name}")]


@dataclass(frozen=True)
class Promise:
    """Of a sink.

    Attributes:
        write: adds it to a stream of numbers.
        read: what has reached it.
        least, most: how often each number has.
        run: runs the program.
    """

    write: Callable[[Any, Path], Any]
    read: Callable[[Path], list[int]]
    least: int = 1
    most: int | None = 1
    run: Callable[[Any, Path], Any] = lambda env, root: env.execute("promises")


def printing(env: Any, root: Path) -> None:
    with open(root / "out", "a", buffering=1) as file, contextlib.redirect_stdout(file):
        env.execute("promises")


def upsert(root: Path) -> JdbcSink:
    return table(root, "INSERT INTO once VALUES (?) ON CONFLICT (n) DO UPDATE SET n = excluded.n")


SINKS: dict[str, Promise] = {
    "FileSink": Promise(lambda stream, root: stream.sink_to(row_sink(root)), of_files),
    "FileSink, bulk": Promise(
        lambda stream, root: stream.map(lambda n: (n,), NUMBER).sink_to(csv_sink(root)), of_files
    ),
    "StreamingFileSink": Promise(lambda stream, root: stream.add_sink(row_sink(root, StreamingFileSink)), of_files),
    "write_as_text": Promise(lambda stream, root: stream.write_as_text(str(root / "out")), of_text),
    "TwoPhaseCommitSink": Promise(lambda stream, root: stream.sink_to(Ledger(root / "out")), of_ledger),
    "JdbcSink": Promise(lambda stream, root: stream.add_sink(table(root)), of_table, most=None),
    "JdbcSink, upsert": Promise(
        lambda stream, root: stream.add_sink(upsert(root)), lambda root: of_table(root, "once")
    ),
    "JdbcSink, exactly_once": Promise(
        lambda stream, root: stream.add_sink(table(root, exactly_once="numbers")), of_table
    ),
    "print": Promise(lambda stream, root: stream.print().set_parallelism(1), of_text, least=0, run=printing),
    "SinkFunction": Promise(lambda stream, root: stream.add_sink(Appends(root / "out")), of_text, most=None),
    "SinkFunction with flush": Promise(lambda stream, root: stream.add_sink(Gathers(root / "out")), of_text, most=None),
    "a callable": Promise(lambda stream, root: stream.add_sink(callable_sink(root / "out")), of_text, most=None),
}


LONG = {"execution.checkpointing.interval": "1 h"}
"""Which makes the first step and the last one checkpoints."""


def run(root: Path, source: str, sink: str, **more: str) -> None:
    settings = {
        "execution.checkpointing.dir": str(root / "job"),
        "penstock.step.records": "5",
        "penstock.files.commit-interval": "0",
        **more,
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings), executor="local")
    env.set_parallelism(2)
    if sink == "TwoPhaseCommitSink":
        (root / "out").mkdir(exist_ok=True)
    SINKS[sink].write(SOURCES[source](env, root).map(int, Types.INT()), root)
    SINKS[sink].run(env, root)


STRIDE, LATER = one_of(24), one_of(60)
"""A program is killed before one in so many of its changes at most, and before fewer when it has been killed often."""
OFTEN = 8


def deaths(root: Path, source: str, sink: str, seed: str, **more: str) -> Iterator[tuple[Path, int]]:
    """Kill the program before some of its changes of files, and run it again to its end; how often it was killed."""
    draw, number, at = random.Random(seed), 0, 0
    while True:
        place = root / str(number)
        place.mkdir()
        killed = 0
        while killed < 3 and dies_at(at + 17 * killed, lambda place=place: run(place, source, sink, **more)):
            killed += 1
        run(place, source, sink, **more)
        yield place, killed
        if not killed:
            return
        at, number = at + 1 + draw.randrange(STRIDE if number < OFTEN else LATER), number + 1


@pytest.mark.parametrize("sink", SINKS)
def test_a_sink_keeps_its_promise(tmp_path: Path, sink: str) -> None:
    promise, killed, most = SINKS[sink], 0, 0
    for root, times in deaths(tmp_path, "number sequence", sink, sink):
        counted, killed = Counter(promise.read(root)), killed + times
        assert counted.keys() <= set(ALL)
        assert all(counted[number] >= promise.least for number in ALL), root
        assert promise.most is None or max(counted.values(), default=0) <= promise.most, root
        assert len(counted) >= len(ALL) - 10 * times, "more is missing than a step has for each death"
        most = max(most, *counted.values())
    assert killed >= 6
    assert most > 1 or promise.most == 1, "the page promises less than there is"


@pytest.mark.parametrize("sink", [name for name, promise in SINKS.items() if promise.least == promise.most])
def test_a_sink_keeps_its_promise_between_checkpoints(tmp_path: Path, sink: str) -> None:
    killed = 0
    for root, times in deaths(tmp_path, "number sequence", sink, sink, **LONG):
        assert sorted(SINKS[sink].read(root)) == ALL, root
        assert len(list((root / "job" / "manifests").iterdir())) <= 2
        killed += times
    assert killed >= 4


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_keeps_its_promise(tmp_path: Path, source: str) -> None:
    killed = 0
    for root, times in deaths(tmp_path, source, "FileSink", source):
        assert sorted(of_files(root)) == ALL, root
        killed += times
    assert killed >= 6


@pytest.mark.parametrize("folder", [False, True], ids=["one step", "steps"])
def test_what_a_sink_has_gathered_at_the_end_of_the_input_is_asked_for(tmp_path: Path, folder: bool) -> None:
    settings = {"execution.checkpointing.dir": str(tmp_path / "job")} if folder else {}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings), executor="local")
    env.from_collection(ALL, Types.INT()).set_parallelism(1).add_sink(Gathers(tmp_path / "out")).set_parallelism(2)
    env.execute("gathers")
    assert sorted(of_text(tmp_path)) == ALL


def test_what_was_collected_is_there_once_or_is_gone_with_the_driver(tmp_path: Path) -> None:
    def collecting(root: Path) -> list[int]:
        settings = {"execution.checkpointing.dir": str(root / "job"), "penstock.step.records": "5"}
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings), executor="local")
        env.set_parallelism(2)
        numbers = []
        with env.from_source(NumberSequenceSource(0, 39), NONE, "numbers").execute_and_collect() as records:
            for record in records:
                numbers.append(record)
                with open(root / "out", "a") as file:
                    file.write(f"{record}\n")
        return numbers

    gone = []
    for number, change in enumerate((20, 45, 60, 75)):
        root = tmp_path / str(number)
        root.mkdir()
        died = dies_at(change, lambda root=root: collecting(root))
        before = of_text(root) if (root / "out").exists() else []
        after = collecting(root)
        assert died
        assert max(Counter(before + after).values(), default=0) <= 1
        gone.append(len(ALL) - len(before + after))
    assert min(gone) >= 0
    assert max(gone) > 0
