"""The planner without Python around it: ``rust/planner/examples/phases``, with floors that no hashing can beat.

``traversal`` walks the same arrays breadth first and touches every node and both lists of its edges; ``murmur`` hashes
as many positions. Bytes are counted in the allocator.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import instructions
from conftest import HUGE, Record

PHASES = {  # as the report calls them
    "verdicts": "verdicts",
    "hash": "hash",
    "chains": "chains",
    "job_graph": "job graph",
    "traversal": "bare traversal",
    "murmur": "bare murmur3",
}
LARGEST = ("hash", "traversal", "murmur")


@pytest.fixture(scope="session")
def binary() -> Path:
    return instructions.build()


def run(binary: Path, *arguments: object) -> dict[str, Any]:
    command = [str(binary), *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


@pytest.mark.parametrize("phase", PHASES)
def test_phase(binary: Path, record: Record, phase: str, huge_size: int) -> None:
    if huge_size == HUGE and phase not in LARGEST:
        pytest.skip("not at this size")
    rounds = 20 if huge_size <= 10_000 else 5
    result = run(binary, phase, "layered_dag", huge_size, rounds)
    assert len(result["seconds"]) == rounds
    record(
        phase=PHASES[phase],
        shape="layered_dag",
        size=huge_size,
        peer="Rust",
        seconds=result["seconds"],
        held_bytes=result["held_bytes"],
        peak_bytes=result["peak_bytes"],
    )


def test_lists_its_phases_and_shapes(binary: Path) -> None:
    listing = subprocess.run([str(binary), "list"], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert {*PHASES, "build", "fan_out", "layered_dag", "all_to_all"} <= set(listing.split())
