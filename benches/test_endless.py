"""What is said of programs that never end follows from the figures of one run, and their input from its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import alone
import endless
import lines
import unbounded
from alone import Stepped
from endless import ALIKE, FEW, HELD, KEYS, LOCAL, MANY, MOST, RESUMED, STEP, TRIGGER, WRITTEN
from results import Results, Run, gather, merged
from unbounded import KAFKA, OURS, SUMS, TIMERS, UNBOUNDED


def results_of(*rows: dict[str, Any]) -> Results:
    steps = {"unbounded": {"started": "", "seconds": 1, "ended": "passed", "calibration": [1, 1]}}
    run = Run(
        "2026-01-01", "2026-01-01 10:00 UTC", steps=steps, rows=gather({**row, "step": "unbounded"} for row in rows)
    )
    return merged([run])


def round_of(shape: str, peer: str, size: int, *cpu: float, equal: bool = True) -> dict[str, Any]:
    facts = {"jvm_seconds": 0.5, "checksum_equal": equal, "seconds": [9.0] * len(cpu), "cpu_seconds": list(cpu)}
    return {"phase": UNBOUNDED, "shape": shape, "size": size, "peer": peer, **facts}


def verdicts(results: Results) -> dict[str, tuple[str, str]]:
    return {row.target: (row.measured, row.verdict) for row in endless.rows(results)}


def test_rates_are_compared_though_a_peer_had_fewer_records() -> None:
    ours = round_of(SUMS, "Penstock", OURS[SUMS], 2.0, 4.0, 2.0)
    results = results_of(
        ours, round_of(SUMS, "Bytewax", 100_000, 2.0), round_of(SUMS, "PyFlink", 100_000, 2.0, equal=False)
    )
    by_target = verdicts(results)
    assert next(words for target, words in by_target.items() if "Bytewax" in target) == (
        "10× (500,000 : 50,000)",
        "met",
    )
    assert next(verdict for target, (_, verdict) in by_target.items() if "PyFlink" in target) == "**wrong result**"
    assert next(verdict for target, (_, verdict) in by_target.items() if "aggregation" in target) == "not measured"
    shown = endless.unbounded(results)[1]
    assert [(row[0], row[2]) for row in shown[:2]] == [
        ("running sums: Penstock", "500,000"),
        ("running sums: Bytewax", "50,000"),
    ]


@pytest.mark.parametrize(("seconds", "verdict"), [(3.9, "met"), (4.1, "**missed**")])
def test_so_many_from_topic_to_topic(seconds: float, verdict: str) -> None:
    by_target = verdicts(results_of(round_of(KAFKA, "Penstock", OURS[KAFKA], seconds)))
    assert by_target[f"{endless.WHAT[KAFKA]}: ≥ 150,000 records per CPU-second"][1] == verdict


def test_limits() -> None:
    rows = [
        {"phase": TRIGGER, "shape": endless.EXCHANGES, "size": 10, "peer": "Penstock", "seconds": [0.1, 0.2, 0.14]},
        {"phase": TRIGGER, "shape": endless.EXCHANGES, "size": 10, "peer": LOCAL, "seconds": [0.05, 0.07, 0.065]},
        {"phase": STEP, "shape": ALIKE, "size": FEW, "peer": "Penstock", "seconds": [0.2, 0.2]},
        {"phase": STEP, "shape": ALIKE, "size": MANY, "peer": "Penstock", "seconds": [0.29, 0.29]},
        {"phase": HELD, "shape": KEYS, "size": MOST, "peer": "Penstock", "seconds": [1.0], "peak_bytes": 2**30 + 1},
        {
            "phase": WRITTEN, "shape": KEYS, "size": FEW, "peer": "Penstock", "seconds": [1.0],
            "bytes": 290_000, "serialised": 100_000,
        },
        {"phase": RESUMED, "shape": KEYS, "size": MANY, "peer": "Penstock", "seconds": [9.0]},
    ]  # fmt: skip
    by_target = {
        target: verdict for target, (_, verdict) in verdicts(results_of(*rows)).items() if verdict != "not measured"
    }
    assert list(by_target.values()) == ["met", "**missed**", "met", "met", "**missed**", "met"]


def test_what_steps_say() -> None:
    first = Stepped("job", 2, 1.0, [0.1, 0.2], {}, 500_000, {"python": 7, "driver": 1})
    again = Stepped("job", 2, 8.0, [0.1, 0.2], {}, 0, {})
    programs = {(program.phase, program.peer): program for program in [*alone.touching(), *alone.others()]}
    rows = list(alone.facts(programs[STEP, "Penstock"], [first, again]))
    assert [(row["phase"], row["seconds"]) for row in rows] == [(STEP, [0.1, 0.2]), (RESUMED, [8.0])]
    (held,) = alone.facts(programs[HELD, "Penstock"], [first])
    assert held["peak_bytes"] == 7
    (written,) = alone.facts(programs[WRITTEN, "Penstock"], [first])
    assert written["bytes"] == 250_000
    assert 10 * FEW < written["serialised"] < 30 * FEW


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lines, "RAW", tmp_path)
    monkeypatch.syspath_prepend(str(unbounded.RUNNING))
    return tmp_path


def test_what_sums_mean(folder: Path) -> None:
    inputs = lines.keyed(keys=20, batch=30, warm=1, rounds=2, batches=2)
    assert inputs.records() == [50, 60, 60]
    every = [line.split(",") for round_lines in inputs.lines() for line in round_lines]
    assert len({key for key, _ in every}) == 20
    assert len({tuple(pair) for pair in every}) == 20  # a key has one number
    expected = unbounded.plainly(SUMS, False, inputs)
    assert [count for count, _ in expected] == [50, 110, 170]
    assert unbounded.plainly(SUMS, True, inputs)[:-1] == [(50, 0), (110, 0), (170, 0)]
    assert unbounded.plainly(SUMS, True, inputs)[-1][0] == 20
    assert unbounded.plainly(KAFKA, False, inputs)[-1][0] == 170


def test_every_timer_of_a_round_fires_in_it(folder: Path) -> None:
    inputs = lines.timed(keys=5, records=4, window=unbounded.DELAY, warm=2, rounds=2, batches=3)
    expected = [count for count, _ in unbounded.plainly(TIMERS, False, inputs)]
    assert expected == [2 * 5, 2 * 5 + 2 + 3 * 5, 2 * 5 + 2 + 3 * 5 + 2 + 3 * 5]
    times = [int(line.split(",")[1]) for round_lines in inputs.lines() for line in round_lines[:-2]]
    assert max(times) - min(times) > 20 * unbounded.DELAY
