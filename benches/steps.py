"""The steps of ``make bench``, and which of them are peers: those whose figures are divided by each other."""

from __future__ import annotations

STEPS = {  # name: (file or test, minutes it may take); small things first, so that something is seen soon
    "api": ("test_api.py", 5),
    "core": ("test_core.py", 10),
    "planner": ("test_planner.py", 15),
    "fan_out": ("test_fan_out.py", 5),
    "regions": ("test_regions.py", 5),
    "memory": ("test_memory.py", 5),
    "job_memory": ("test_job_memory.py", 30),
    "python": ("test_python.py", 5),
    "graph_libraries": ("test_graph_libraries.py", 5),
    "runtime": ("test_runtime.py", 8),
    "native": ("test_native.py", 10),
    "state": ("test_state.py", 3),
    "savepoints": ("test_savepoints.py", 5),
    "restore": ("test_restore.py", 5),
    "start": ("test_running.py::test_start", 10),
    "chain": ("test_running.py::test_chain", 8),
    "word_count": ("test_running.py::test_word_count", 8),
    "column_sums": ("test_running.py::test_column_sums", 8),
    "engines": ("test_running.py::test_engine", 15),
    "unbounded": ("test_unbounded.py::test_unbounded", 20),
    "steps": ("test_unbounded.py::test_steps", 10),
    "latency": ("test_latency.py", 5),
    "manifest": ("test_scale.py::test_manifest", 2),
    "scale": ("test_scale.py::test_scale", 60),
    "flink": ("test_flink.py", 45),
}
PEERS = (
    ("core", "planner", "fan_out", "regions", "memory", "python", "graph_libraries", "flink"),
    ("word_count", "engines"),
)
"""What has to be measured in one run to be compared; every other step has its peers within it."""


def peers(step: str) -> tuple[str, ...]:
    """The steps that are compared with a step, with itself."""
    return next((group for group in PEERS if step in group), (step,))


def without_peers(steps: list[str]) -> dict[tuple[str, ...], list[str]]:
    """Of each group of peers that a choice has only some steps of, the steps that it lacks."""
    groups = dict.fromkeys(peers(step) for step in steps)
    lacking = {group: [step for step in group if step not in steps] for group in groups}
    return {group: left for group, left in lacking.items() if left}
