"""Peak memory of planning, per operator and per edge, each measurement in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from conftest import Record

PEAK = Path(__file__).with_name("peak.py")
WIDTH = 100  # of a layer
STEPS = ("graph", "job_graph", "execution_graph")


def alone(*arguments: object) -> dict[str, Any]:
    """What ``peak.py`` says."""
    command = [sys.executable, str(PEAK), *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"exit status {run.returncode} (negative: killed, by lack of memory?)\n{run.stderr}"
    return json.loads(run.stdout)


def write(record: Record, size: int, inputs: int, facts: dict[str, Any]) -> None:
    """One result per step: the peak so far beyond what the process had at first, and the seconds of the step."""
    counts = {"nodes": size, "edges": inputs * max(size - WIDTH, 0)}
    for step in STEPS:
        record(
            phase={"graph": "build", "job_graph": "job graph", "execution_graph": "execution graph"}[step],
            shape="layered_dag" if inputs == 2 else f"layered_dag, {inputs} inputs",
            size=size,
            peer="Penstock",
            seconds=[facts[f"{step}_seconds"]] if inputs == 2 and size > 1_000_000 else None,
            peak_bytes=facts[step] - facts["base"],
            **counts,
        )


def test_by_size(record: Record, huge_size: int) -> None:
    """The layered DAG with two inputs per operator, up to 10,000,000 operators and 20,000,000 edges."""
    facts = alone("plan", huge_size, 2)
    write(record, huge_size, 2, facts)
    assert facts["subtasks"] == 4 * huge_size
    assert facts["job_graph"] < 10 * 2**30


def test_by_edges(record: Record, size: int) -> None:
    """The same operators with four edges each; with one they would be chained. The difference is what an edge takes."""
    inputs = 4
    if size < 200 or size in (1_000, 10_000):
        size = 200  # too small to see in the memory of a process, but the script still has to work
    facts = alone("plan", size, inputs)
    write(record, size, inputs, facts)


def test_walk(record: Record, tiny: bool) -> None:
    """400 million edges of an exchange, a million at a time: memory must not grow with them."""
    wide = 100 if tiny else 20_000
    facts = alone("walk", wide)
    assert facts["rows"] == wide**2
    assert facts["grown"] < 100e6
    run = {"phase": "execution edges, in chunks", "shape": "all_to_all", "size": wide, "peer": "Penstock"}
    record(**run, seconds=[facts["seconds"]], peak_bytes=facts["grown"])
