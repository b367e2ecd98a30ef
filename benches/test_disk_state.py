"""State beyond memory: ten million keys, and as many timers, in a process of one gibibyte."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Record

SCRIPT = Path(__file__).with_name("running") / "many_keys.py"
MIB = 1 << 20
KEYS = 10_000_000
LIMIT = 1_024


@pytest.mark.parametrize("what", ["values", "timers"])
def test_ten_million_keys(record: Record, tiny: bool, what: str) -> None:
    """In an address space of one gibibyte, of which less than half is used."""
    keys = 20_000 if tiny else KEYS
    command = [sys.executable, str(SCRIPT), str(keys), str(LIMIT), what]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    if not tiny:
        shape = f"a counter per key{' and a timer' if what == 'timers' else ''}, state on disk"
        record(phase="memory of a run", shape=shape, size=keys, peer="Penstock", peak_bytes=facts["peak"])
    assert facts["peak"] < LIMIT * MIB // 2
