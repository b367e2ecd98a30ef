"""Running sums that never end: ``python -m tests.sparks.sums EXECUTOR FOLDER FROM TO [SAVEPOINT]``.

Reads the numbers from FROM on that there are before TO, beginning with what SAVEPOINT has, compares what came out, and
takes a savepoint; prints its path."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.common.serialization import Encoder
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSink
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.store import write_savepoint
from penstock.runtime.io.splits import Records, Source, Split
from penstock.storage.stores import storage_of

KEYS, LENGTH = 7, 200
"""Keys, and how many numbers there are more each time."""
SETTINGS = {"penstock.step.available-now": "true", "penstock.step.records": "50", "parallelism.default": "2"}


class Numbers(Source[int]):
    """0, 1, … up to those that there are; more may come."""

    bounded = False

    def __init__(self, count: int) -> None:
        self.count = count

    def splits(self, parallelism: int) -> Sequence[Split]:
        return [Split("numbers", 0, self.count, finite=False)]

    def limited(self, split: Split, records: int) -> Split:
        return Split(split.id, split.start, min(split.end, split.start + records), finite=False)

    def read(self, split: Split) -> Iterator[Records[int]]:
        yield Records(list(range(split.start, split.end)), split.end)


def configuration(folder: Path, savepoint: str | None = None, *, endless: bool = False) -> Configuration:
    """The settings of a run, by default one that ends when there is nothing more to read."""
    texts = SETTINGS | {"execution.checkpointing.dir": str(folder / "job")}
    texts |= {"penstock.step.available-now": "false"} if endless else {}
    texts |= {} if savepoint is None else {"execution.savepoint.path": savepoint}
    return Configuration.from_dict(texts)


def run(folder: Path, end: int, savepoint: str | None = None, **executor: Any) -> None:
    """Read all numbers before ``end`` that have not been read."""
    env = StreamExecutionEnvironment.get_execution_environment(configuration(folder, savepoint), **executor)
    numbers = env.from_source(Numbers(end), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).uid("numbers")
    pairs = numbers.map(lambda number: (number % KEYS, number), Types.TUPLE([Types.LONG(), Types.LONG()]))
    sums = pairs.key_by(lambda pair: pair[0], Types.LONG()).reduce(lambda x, y: (x[0], x[1] + y[1])).uid("sums")
    lines = sums.map(lambda pair: f"{pair[0]} {pair[1]}", Types.STRING())
    lines.sink_to(FileSink.for_row_format(str(folder / "out"), Encoder.simple_string_encoder()).build()).uid("out")
    env.execute("sums")


def lines_in(folder: Path) -> list[str]:
    """What runs have written, sorted."""
    files = [path for path in (folder / "out").rglob("*") if path.is_file() and path.name[0] not in "._"]
    return sorted(line for path in files for line in path.read_text().splitlines())


def expected(begin: int, end: int) -> list[str]:
    """The lines for the numbers of a range, if those before it have been added up."""
    return sorted(f"{number % KEYS} {sum(range(number % KEYS, number + 1, KEYS))}" for number in range(begin, end))


def main(executor: str, place: str, begin: str, end: str, savepoint: str | None = None) -> None:
    """One job of the line."""
    folder = Path(place)
    run(folder, int(end), savepoint, executor=executor)
    lines = lines_in(folder)
    assert lines == expected(int(begin), int(end)), f"{len(lines)} lines, not those of {begin} to {end}: {lines[:20]}"
    job = JobFolder(str(folder / "job"))
    newest = job.newest()
    assert newest is not None
    write_savepoint(Files(job.place, storage_of(job.place)), newest, folder / "savepoint")
    print(folder / "savepoint")


if __name__ == "__main__":
    main(*sys.argv[1:])
