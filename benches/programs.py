"""What runs beside Penstock: the same program, on the same data, by every peer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import engines
import pairs
import words
from engines import Program, Run
from results import RAW

WORDS, MAPS, START, WARM = "word count", "maps", "start-up", "start-up, warm"
SUMS = "sums by key"
RUNNING, FINAL, FIVE, FIRST = "running sums", "final counts", "5 maps and a filter", "to the first record"
WINDOWS = "tumbling windows"
RECORDS = 4_000_000
"""Of the sums by key."""
PYFLINK = {
    "python.execution-mode": "process",
    "python.state.cache-size": "100000",  # all words: a word that is not in the cache costs a call to the JVM
    "python.fn-execution.bundle.size": "100000",
    "pipeline.object-reuse": "true",
}


@dataclass(frozen=True)
class Case:
    """A program on a peer.

    Attributes:
        phase, shape, peer: its names in the results.
        job: of ``running/``.
        size: words, numbers, or records.
        arguments: of the job.
        engine: whose environment it runs in, None for ours.
        rounds: how often it runs after its first, tiny run.
        warm: how many more come before these and do not count, as a JVM is slow in them.
        processes: how often all that is repeated.
        prepared: whether ``penstock prepare`` has been run.
        oracle: the job whose results are right.
    """

    phase: str
    shape: str
    peer: str
    job: str
    size: int = 5_000_000
    arguments: dict[str, Any] = field(default_factory=dict, hash=False)
    engine: str | None = None
    rounds: int = 3
    warm: int = 0
    processes: int = 1
    prepared: bool = False
    oracle: str = "in_a_loop:word_count"

    def __str__(self) -> str:
        return f"{self.phase}-{self.shape}-{self.peer}".replace(" ", "_")

    def program(self, tiny: bool) -> Program:
        """What to run; small, and once, in smoke mode."""
        data, rounds = (4_000, 1) if tiny else (self.size, self.warm + self.rounds)
        return Program(self.job, self._data(200), self._data(data), rounds, self.arguments)

    def _data(self, size: int) -> Any:
        if self.phase == MAPS:
            return size
        return str((pairs.table if self.phase == SUMS else words.text)(RAW, size))

    def expected(self, tiny: bool) -> list[list[int]]:
        """Number and checksum of the records, of the first run and of the others."""
        program = self.program(tiny)
        return _in_a_loop(self.oracle, program.tiny, program.data)


@cache
def _in_a_loop(job: str, tiny: Any, data: Any) -> list[list[int]]:
    return [run.result for run in engines.run([Program(job, tiny, data, 1)])]


def word_counts() -> Iterator[Case]:
    """Word count with running sums, and what does less."""
    yield Case(WORDS, RUNNING, "Penstock", "on_penstock:word_count", warm=4)
    yield Case(WORDS, RUNNING, "RDD", "words_spark:rdd_running_sums")
    yield Case(WORDS, RUNNING, "mapInArrow", "words_spark:map_in_arrow", warm=4)
    yield Case(WORDS, RUNNING, "Python loop", "in_a_loop:word_count")
    yield Case(WORDS, FINAL, "RDD reduceByKey", "words_spark:rdd_reduce_by_key", oracle="in_a_loop:final_counts")
    yield Case(WORDS, FINAL, "Spark SQL", "words_spark:sql", warm=4, oracle="in_a_loop:final_counts")


def other_engines() -> Iterator[Case]:
    """The same word count on engines with environments of their own."""
    tuned = {"settings": PYFLINK}
    plain = {"settings": {"python.execution-mode": "process"}}
    yield Case(WORDS, RUNNING, engines.FLINK, "on_flink:word_count", engine=engines.FLINK, warm=4, rounds=4)
    yield Case(WORDS, RUNNING, "Bytewax", "on_bytewax:word_count", arguments={"workers": 1}, engine="Bytewax")
    yield Case(
        WORDS, RUNNING, "Bytewax, 2 workers", "on_bytewax:word_count",
        arguments={"workers": 2}, engine="Bytewax", rounds=1,
    )  # fmt: skip
    yield Case(
        WORDS, RUNNING, "PyFlink", "on_pyflink:word_count", 1_000_000, arguments=tuned, engine="PyFlink", rounds=1
    )
    yield Case(
        WORDS, RUNNING, "PyFlink, defaults", "on_pyflink:word_count", 200_000,
        arguments=plain, engine="PyFlink", rounds=1,
    )  # fmt: skip


def chains() -> Iterator[Case]:
    """Five maps and a filter: chained, by hand, and each in a task of its own."""
    here = {"oracle": "in_a_loop:maps"}
    yield Case(MAPS, FIVE, "Penstock", "on_penstock:maps", **here)
    yield Case(MAPS, FIVE, "generators in mapInArrow", "chain_spark:generators", **here)
    yield Case(MAPS, FIVE, "map and filter in mapInArrow", "chain_spark:builtins", **here)
    yield Case(MAPS, FIVE, "Python loop", "in_a_loop:maps", **here)
    yield Case(MAPS, FIVE, "Penstock, unchained", "on_penstock:maps", 1_000_000, {"chaining": False}, **here)


def column_sums() -> Iterator[Case]:
    """Sums of a double by a long, out of Parquet: running sums, and sums in tumbling windows."""
    for shape, name in ((RUNNING, "running"), (WINDOWS, "windows")):
        job = f"sums_of_columns:penstock_{name}"
        here = {"oracle": f"sums_of_columns:{name}_loop"}
        yield Case(SUMS, shape, "Penstock", job, RECORDS, warm=4, rounds=5, **here)
        yield Case(SUMS, shape, "Penstock, local", job, RECORDS, {"executor": "local"}, rounds=5, **here)
        yield Case(SUMS, shape, "Spark SQL", f"sums_of_columns:spark_{name}", RECORDS, warm=4, rounds=5, **here)
        yield Case(SUMS, shape, "Python loop", here["oracle"], RECORDS, rounds=1, **here)


def starts() -> Iterator[Case]:
    """A small job: cold, in a new process with a new session, and again in the same session."""
    first, repeated = {"sink": "first"}, {"size": 2_000, "rounds": 5, "processes": 3}
    yield Case(START, FIRST, "Penstock", "on_penstock:word_count", arguments=first, **repeated)
    prepared = "Penstock, prepared"
    yield Case(START, FIRST, prepared, "on_penstock:word_count", arguments=first, prepared=True, **repeated)
    session = "mapInArrow in Penstock's session"
    yield Case(START, FIRST, session, "words_spark:map_in_arrow", arguments=first, **repeated)
    plain = {"sink": "first", "plain": True}
    yield Case(START, FIRST, "mapInArrow in a plain session", "words_spark:map_in_arrow", arguments=plain, **repeated)


def together(cases: Callable[[], Iterator[Case]]) -> dict[str, list[Run]]:
    """The runs of cases without an engine or a start of their own, tiny, in one process: for the smoke mode."""
    chosen = [case for case in cases() if case.engine is None and not case.prepared]
    runs = iter(engines.run([case.program(tiny=True) for case in chosen]))
    return {str(case): [next(runs), next(runs)] for case in chosen}
