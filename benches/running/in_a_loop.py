"""The programs in one loop of one process: what Python itself takes for them, and the results they must have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from functions import MAPS, PairSink, Sink, keep, pair, running_sums, split

Job = Callable[..., None]


def word_count() -> Job:
    """Word count with running sums."""

    def job(data: str, folder: str) -> None:
        sink = PairSink(folder)
        for record in running_sums(map(pair, _words(data))):
            sink.invoke(record)
        sink.close()

    return job


def final_counts() -> Job:
    """Word count without running sums."""

    def job(data: str, folder: str) -> None:
        sink = PairSink(folder)
        for record in Counter(_words(data)).items():
            sink.invoke(record)
        sink.close()

    return job


def maps() -> Job:
    """Five maps and a filter over the numbers from 0."""

    def job(numbers: int, folder: str) -> None:
        sink, (first, second, third, fourth, fifth) = Sink(folder), MAPS
        for number in range(numbers):
            result = fifth(fourth(third(second(first(number)))))
            if keep(result):
                sink.invoke(result)
        sink.close()

    return job


def _words(data: str) -> Iterator[str]:
    return (word for path in sorted(Path(data).iterdir()) for line in _lines(path) for word in split(line))


def _lines(path: Path) -> Iterator[str]:
    with open(path, encoding="utf-8") as file:
        yield from file
