"""Five maps and a filter written by hand in ``mapInArrow``: the same functions, source and sink."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from functions import Sink, add_one, flip, halve, keep, minus_seven, triple
from spark_session import Job, measured, session

Pipeline = Callable[[Iterable[int]], Iterator[int]]


def generators(parallelism: int = 2) -> Job:
    """A pipeline of generators."""
    return _by_hand(_generators, parallelism)


def builtins(parallelism: int = 2) -> Job:
    """A pipeline of Python's ``map`` and ``filter``, which call the functions from C."""
    return _by_hand(_builtins, parallelism)


def _generators(numbers: Iterable[int]) -> Iterator[int]:
    first = (add_one(number) for number in numbers)
    second = (triple(number) for number in first)
    third = (flip(number) for number in second)
    fourth = (halve(number) for number in third)
    fifth = (minus_seven(number) for number in fourth)
    return (number for number in fifth if keep(number))


def _builtins(numbers: Iterable[int]) -> Iterator[int]:
    return filter(keep, map(minus_seven, map(halve, map(flip, map(triple, map(add_one, numbers))))))


def _by_hand(pipeline: Pipeline, parallelism: int) -> Job:
    spark = session(parallelism)

    def job(numbers: int, folder: str) -> None:
        def run(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            for batch in batches:
                for subtask in batch.column(0).to_pylist():
                    _into(Sink(folder), pipeline(range(subtask, numbers, parallelism)))
            yield pa.RecordBatch.from_arrays([pa.array([], pa.int32())], names=["nothing"])

        spark.range(0, parallelism, 1, parallelism).mapInArrow(run, "nothing int").count()

    return measured(job)


def _into(sink: Sink, numbers: Iterator[int]) -> None:
    invoke = sink.invoke
    for number in numbers:
        invoke(number)
    sink.close()
