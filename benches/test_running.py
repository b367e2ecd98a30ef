"""Programs on Penstock and on its peers: CPU seconds of JVM and Python, with results that must be the same records."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

import engines
import programs
from conftest import Record
from engines import Run
from programs import START, SUMS, WARM, Case
from results import short


def of_our_own() -> Iterator[Case]:
    """What needs Penstock's dependencies only."""
    yield from programs.word_counts()
    yield from programs.chains()
    yield from programs.column_sums()
    yield from programs.starts()


tiny_runs = cache(lambda: programs.together(of_our_own))


def runs_of(case: Case, tiny: bool) -> list[list[Run]]:
    """The runs of each process; in smoke mode all cases share one, because Spark starts for seconds."""
    if tiny and case.engine is None:
        return [tiny_runs()[str(case)]]
    once = lambda: engines.run([case.program(tiny)], case.engine, prepared=case.prepared)  # noqa: E731
    return [once() for _ in range(1 if tiny else case.processes)]


@pytest.mark.parametrize("case", list(programs.word_counts()), ids=str)
def test_word_count(record: Record, tiny: bool, case: Case) -> None:
    check(record, tiny, case)


@pytest.mark.parametrize("case", list(programs.chains()), ids=str)
def test_chain(record: Record, tiny: bool, case: Case) -> None:
    check(record, tiny, case)


@pytest.mark.parametrize("case", list(programs.column_sums()), ids=str)
def test_column_sums(record: Record, tiny: bool, case: Case) -> None:
    check(record, tiny, case)


@pytest.mark.parametrize("case", list(programs.starts()), ids=str)
def test_start(record: Record, tiny: bool, case: Case) -> None:
    if tiny and case.prepared:
        pytest.skip("tests/cli prepares a machine")
    check(record, tiny, case)


@pytest.mark.parametrize("case", list(programs.other_engines()), ids=str)
def test_engine(record: Record, tiny: bool, case: Case) -> None:
    assert case.engine is not None
    if tiny and not engines.installed(case.engine):  # hundreds of megabytes from PyPI: not for a smoke test
        pytest.skip(f"{case.engine} is not installed in target/engines")
    reason = engines.missing(case.engine)
    if reason:
        pytest.skip(reason)
    check(record, tiny, case)


def check(record: Record, tiny: bool, case: Case) -> None:
    """Run it, compare its records with those of a plain loop, and write down what it took."""
    case = replace(case, size=min(case.size, int(os.environ.get("PENSTOCK_BENCH_MAX", case.size))))
    first, rest = case.expected(tiny)
    processes = runs_of(case, tiny)
    equal = all(run.result == (rest if number else first) for runs in processes for number, run in enumerate(runs))
    assert first[0] > 0
    assert rest[0] > 0
    starts, rounds = (
        [runs[0] for runs in processes],
        [run for runs in processes for run in runs[1 if tiny else 1 + case.warm :]],
    )
    facts = {"shape": case.shape, "size": case.size, "peer": case.peer, "checksum_equal": equal}
    write(record, rounds, **facts, phase=WARM if case.phase == START else case.phase)
    of_sums = {"shape": f"{case.phase}, {case.shape}"} if case.phase == SUMS else {}
    write(record, starts, **{**facts, **of_sums}, phase=START)
    assert equal


def write(record: Record, runs: list[Run], **facts: object) -> None:
    """Times of all runs; of the rest the median, of memory the peak."""
    middle = lambda values: short(statistics.median(values))  # noqa: E731
    record(
        **facts,
        seconds=[short(run.wall) for run in runs],
        cpu_seconds=[short(run.cpu_seconds) for run in runs],
        jvm_seconds=middle([run.cpu["jvm"] for run in runs]),
        first_record=None if runs[0].first_record is None else middle([run.first_record or 0 for run in runs]),
        worker_bytes=max(run.peak_bytes.get("python", 0) for run in runs) or None,
        shuffle_bytes=runs[-1].shuffle_bytes,
    )
