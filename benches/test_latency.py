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
    given: dict[str, Any] = {"executor": "local"}
    if executor == "spark":
        from penstock.spark.session import open_session

        given = {"spark": open_session("local[2]", {})}
    found = latency.compared(tmp_path, records, warm, **given)
    for shape, run in found.items():
        assert run.numbers == list(range(records + warm))
        facts = {"phase": LATENCY, "shape": f"{shape}, {executor}", "size": records, "peer": "Penstock"}
        record(**facts, seconds=[short(each) for each in run.seconds], versions=run.versions)
        print(f"{executor}, {shape}: median {latency.median(run) * 1000:.0f} ms, {run.versions} versions")
    each, some = found.values()
    assert each.versions >= some.versions
    if tiny:  # a slow machine reads so few records in one step
        return
    assert each.versions > some.versions
    assert latency.median(some) < latency.median(each) + 2  # seconds: the interval has twenty
