"""Peak memory of running programs, each in a process of its own.

What a Python worker, the driver, or the local executor takes beyond what it has when idle.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Record

SCRIPT = Path(__file__).with_name("running") / "memory.py"
MIB = 1 << 20
SIZES = {  # what each program of running/memory.py is given, and how much memory that may take
    "skewed_sum": (10_000_000, 100 * MIB),
    "skewed_window": (10_000_000, 150 * MIB),
    "exchange": (1_000_000, 250 * MIB),
    "timed_exchange": (10_000_000, 150 * MIB),
    "slow_consumer": (200_000, 250 * MIB),
    "explosion": (10_000_000, 250 * MIB),
    "giants": (20, 500 * MIB),
    "text_file": (3_500_000, 300 * MIB),
    "channels": (300_000, 350 * MIB),
    "collected": (180_000, 600 * MIB),
}


def alone(names: str, executor: str, size: int) -> list[dict[str, Any]]:
    """What ``running/memory.py`` says of each program."""
    command = [sys.executable, str(SCRIPT), names, executor, str(size)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"exit status {run.returncode} (negative: killed, by lack of memory?)\n{run.stderr}"
    return list(map(json.loads, run.stdout.splitlines()))


@pytest.mark.parametrize("executor", ["spark", "local"])
@pytest.mark.parametrize("name", SIZES)
def test_memory(record: Record, tiny: bool, name: str, executor: str) -> None:
    """Bounded, whatever the size of the input."""
    if tiny:
        pytest.skip("one process runs them all, see below")
    size, limit = SIZES[name]
    facts = alone(name, executor, size)[0]
    taken = {process: peak - facts["idle"].get(process, 0) for process, peak in facts["peaks"].items()}
    for process in ("python", "driver"):
        if process in taken:
            record(
                phase="memory of a run",
                shape=f"{name}, {'local executor' if executor == 'local' else process}",
                size=size,
                peer="Penstock",
                peak_bytes=taken[process],
            )
            assert taken[process] < limit, taken


def test_programs(tiny: bool) -> None:
    """Every program runs; Spark starts for seconds, so it runs but one."""
    if tiny:
        assert len(alone(",".join(name for name in SIZES if name != "giants"), "local", 20)) == len(SIZES) - 1
        assert len(alone("exchange", "spark", 20)) == 1
