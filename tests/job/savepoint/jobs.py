"""Jobs that leave a checkpoint directory with state of several kinds, for tests of savepoints."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Types
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.connectors import Records, Source, Split
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.requests import Requests
from penstock.job.savepoint import commands
from penstock.storage.storage import real_place

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class At:
    """A position of a class of its own."""

    calls = 0

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, At) and other.number == self.number

    def __hash__(self) -> int:
        return self.number

    def __reduce__(self) -> Any:
        return at, (self.number,)


def at(number: int) -> At:
    """Makes a position; tests see whether it is called."""
    At.calls += 1
    return At(number)


class Numbers(Source[int]):
    """Numbers up to ``end``, as many at a time; its positions are pickled."""

    bounded = False
    end = 10

    def splits(self, parallelism: int) -> list[Split]:
        return [Split("numbers", At(0), At(type(self).end))]

    def read(self, split: Split) -> Any:
        for number in range(split.start.number, split.end.number):
            yield Records([number], At(number + 1))


def environment(folder: Path | str | None = None, parallelism: int = 2, **settings: Any) -> StreamExecutionEnvironment:
    """Of the local executor; ``penstock__step__records=10`` is a setting."""
    values = {key.replace("__", ".").replace("_", "-"): str(value) for key, value in settings.items()}
    if folder is not None:
        values["execution.checkpointing.dir"] = str(folder)
    configuration = Configuration.from_dict(values)
    return StreamExecutionEnvironment.get_execution_environment(configuration, executor="local").set_parallelism(
        parallelism
    )


def sums(env: StreamExecutionEnvironment, count: int = 100) -> DataStream:
    pairs = [(f"k{number % 7}", 1) for number in range(count)]
    stream = env.from_collection(pairs, PAIR).uid("pairs")
    return stream.key_by(lambda record: record[0], Types.STRING()).sum(1).uid("sum").name("sum")


SUMS = Counter((f"k{number % 7}", number // 7 + 1) for number in range(100))


def folder_with_state(folder: Path | str, job: str = "sums", count: int = 100) -> Files:
    """A checkpoint directory whose job has ended, after many steps."""
    env = environment(folder, penstock__step__records=10, penstock__job__retained_manifests=3)
    sums(env, count).add_sink(lambda value: None)
    env.execute(job)
    return JobFolder(str(folder)).files


def numbers_read(folder: Path | str) -> Files:
    """A checkpoint directory with positions that are pickled."""
    from penstock.common import WatermarkStrategy

    env = environment(folder, penstock__step__available_now="true")
    stream = env.from_source(Numbers(), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    stream.key_by(lambda number: number % 3, Types.LONG()).sum().uid("sum").add_sink(lambda value: None)
    env.execute("numbers")
    return Files(real_place(str(folder)))


def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let jobs with their folder on a store look for requests as often as others, and commands for answers."""
    init = Requests.__init__

    def often(self: Requests, *arguments: Any) -> None:
        init(self, *arguments)
        self.seconds = 0.1

    monkeypatch.setattr(Requests, "__init__", often)
    monkeypatch.setattr(commands, "is_local", lambda place: True)
