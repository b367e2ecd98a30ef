"""A checkpoint interval does not slow a record down: how long one takes to a sink that needs no commit, on both
executors, with an interval and without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import latency
from conftest import Record
from results import short

LATENCY = "latency"


@pytest.mark.parametrize("executor", ["local", "spark"])
def test_latency(tmp_path: Path, record: Record, tiny: bool, executor: str) -> None:
    records, warm = (10, 5) if tiny else (150, 20)
    executor_arguments: dict[str, Any] = {"executor": "local"}
    if executor == "spark":
        from penstock.spark.session import open_session

        executor_arguments = {"spark": open_session("local[2]", {})}
    runs = latency.compared(tmp_path, records, warm, **executor_arguments)
    for shape, run in runs.items():
        assert run.numbers == list(range(records + warm))
        facts = {"phase": LATENCY, "shape": f"{shape}, {executor}", "size": records, "peer": "Penstock"}
        record(**facts, seconds=[short(second) for second in run.seconds], versions=run.versions)
        print(f"{executor}, {shape}: median {latency.median(run) * 1000:.0f} ms, {run.versions} versions")
    per_step, some = runs.values()
    assert per_step.versions >= some.versions
    if tiny:  # a slow machine reads so few records in one step
        return
    assert per_step.versions > some.versions
    assert latency.median(some) < latency.median(per_step) + 2  # seconds: the interval has twenty
