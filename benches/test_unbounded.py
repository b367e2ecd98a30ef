"""Programs that never end, on Penstock and on its peers: CPU seconds of JVM and Python per round of the same input."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator

import pytest

import alone
import engines
import unbounded
from alone import Alone
from conftest import Record
from results import short
from unbounded import KAFKA, UNBOUNDED, Case, Round

ALL = [case for cases in unbounded.CASES for case in cases()]


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """A broker's address."""
    try:
        context = unbounded.broker()
        address = context.__enter__()
    except LookupError as reason:
        pytest.skip(str(reason))
    yield address
    context.__exit__(None, None, None)


def leave_out(slow: bool) -> None:
    """Skip what the smoke mode goes without."""
    if slow and os.environ.get("PENSTOCK_BENCH_SMOKE") != "all":
        pytest.skip("starts a Spark of its own: PENSTOCK_BENCH_SMOKE=all")


@pytest.mark.parametrize("case", ALL, ids=str)
def test_unbounded(request: pytest.FixtureRequest, record: Record, tiny: bool, case: Case) -> None:
    leave_out(tiny and case.slow)
    if case.engine and tiny and not engines.installed(case.engine):
        pytest.skip(f"{case.engine} is not installed in target/engines")
    reason = engines.missing(case.engine) if case.engine else None
    if reason:
        pytest.skip(reason)
    address = request.getfixturevalue("kafka") if case.shape == KAFKA else None
    inputs = case.input(tiny)
    rounds, final = unbounded.run(case, inputs, address)
    expected = case.expected(inputs)
    equal = [tuple(one_round.result) for one_round in rounds] == expected[: len(rounds)]
    equal = equal and (final is None or tuple(final) == expected[-1])
    assert expected[0][0] > 0
    write(record, case, rounds, inputs.records(), equal)
    assert equal, f"{[one_round.result for one_round in rounds]} {final}, expected {expected}"


@pytest.mark.parametrize("program", [*alone.triggers(), *alone.touching(), *alone.others()], ids=str)
def test_steps(record: Record, tiny: bool, program: Alone) -> None:
    leave_out(tiny and program.slow)
    runs = alone.run(program, tiny)
    assert [len(run.seconds) for run in runs] == program.runs * [3 if tiny else program.steps]
    for facts in alone.facts(program, runs):
        record(**{**facts, "seconds": [short(second) for second in facts["seconds"]]})


def write(record: Record, case: Case, rounds: list[Round], records: list[int], equal: bool) -> None:
    """Of all rounds but the first the times, of memory the peak."""
    measured = rounds[1:]
    record(
        phase=UNBOUNDED,
        shape=case.shape,
        size=records[-1],
        peer=case.peer,
        checksum_equal=equal,
        seconds=[short(one_round.wall) for one_round in measured],
        cpu_seconds=[short(sum(one_round.cpu.values())) for one_round in measured],
        jvm_seconds=short(statistics.median(one_round.cpu["jvm"] for one_round in measured)),
        start_cpu=short(sum(rounds[0].cpu.values())),
        worker_bytes=max(one_round.peak_bytes.get("python", 0) for one_round in rounds) or None,
    )
