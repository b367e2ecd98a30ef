"""The real Flink 1.11.4 and 2.3.0 on the same graphs, each result's checksum compared with Penstock's.

What a Flink cannot do (stack, memory, time) is recorded as that and fails nothing; a checksum that differs fails.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from tests.shapes import SHAPES

import checksums
import flink_peer
from conftest import HUGE, Record, smoke
from penstock.plan import shapes

RELEASES = {"1.11": "Flink 1.11.4", "2.3": "Flink 2.3.0"}
HEAP = os.environ.get("PENSTOCK_BENCH_HEAP", "8g")
PHASES = {  # as the report calls them
    "hash": "hash",
    "job_graph": "job graph",
    "serialisation": "config serialisation",
    "execution_graph": "execution graph",
    "connect": "connect",
    "regions": "regions",
    "restart": "regions to restart",
    "release": "partition release",
}
BY_NAME = {shape.__name__: shape for shape in SHAPES}


@dataclass(frozen=True)
class Case:
    """A graph, what which Flink is asked to do with it how often, and the size it warms up on (0: this one)."""

    shape: str
    size: int
    phases: tuple[str, ...]
    rounds: int
    warm: int = 0
    versions: tuple[str, ...] = tuple(RELEASES)

    def __str__(self) -> str:
        return f"{self.shape}-{self.size}"

    def graph(self, size: int | None = None) -> Any:
        """The graph."""
        size = size or self.size
        if self.shape in BY_NAME:
            return BY_NAME[self.shape](size)
        if self.shape == "all_to_all":
            return shapes.all_to_all(size)
        return shapes.scheduler_benchmark(size, blocking=self.shape == "scheduler_batch")


def ladder(shape: str, phases: Sequence[str], *sizes: int) -> list[Case]:
    """One case per size; the bigger, the fewer rounds, and from 100,000 on warmed up on a smaller graph."""
    rounds = [5 if size <= 10_000 else 3 if size <= 100_000 else 1 for size in sizes]
    return [
        Case(shape, size, tuple(phases), count, 10_000 if size > 10_000 else 0)
        for size, count in zip(sizes, rounds, strict=True)
    ]


PLANNING = ("hash", "job_graph", "serialisation")
EXPANDING = ("execution_graph", "connect")
SCHEDULING = ("regions", "restart", "release")
CASES = [
    *ladder("layered_dag", PLANNING, 1_000, 10_000, 100_000),
    Case("layered_dag", 1_000_000, PLANNING, 1, 10_000, ("1.11",)),
    Case("layered_dag", 1_000_000, ("hash",), 3, 10_000, ("2.3",)),  # its JobGraph takes more than 16 GB
    *ladder("layered_dag", ("execution_graph",), 1_000, 10_000),
    *ladder("keyed_pipelines", PLANNING, 1_000, 10_000, 100_000),
    *ladder("forward_chain", ("hash", "job_graph"), 1_000, 10_000),
    Case("forward_chain", 100_000, ("hash", "job_graph"), 1, warm=1_000),
    *ladder("uid_table", ("hash",), 1_000, 10_000),
    Case("uid_table", 100_000, ("hash",), 1, 1_000, ("1.11",)),  # a minute, quadratic in both
    *ladder("yielding_diamonds", ("hash",), 1_000),
    *ladder("yielding_chain", ("hash",), 18, 22, 26),  # four times as long for every two more
    *ladder("all_to_all", EXPANDING, 100, 1_000, 4_000),
    Case("all_to_all", 8_000, EXPANDING, 3, warm=1_000),
    *ladder("scheduler_streaming", SCHEDULING, 1_000, 4_000),
    *ladder("scheduler_batch", SCHEDULING, 1_000, 4_000),
]
SMOKE_CASES = [
    Case("layered_dag", 110, (*PLANNING, *EXPANDING), 1),
    Case("keyed_pipelines", 20, (*PLANNING, *EXPANDING), 1),
    Case("scheduler_batch", 4, SCHEDULING, 1),
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    limit = int(os.environ.get("PENSTOCK_BENCH_MAX", HUGE))
    cases = SMOKE_CASES if smoke(metafunc.config) else [case for case in CASES if case.size <= limit]
    pairs = [(version, case) for case in cases for version in case.versions]
    if "case" in metafunc.fixturenames:
        metafunc.parametrize(("version", "case"), pairs, ids=str)


def skip_without(version: str, tiny: bool) -> None:
    """Building Flink's peer downloads from Maven Central: not for a smoke test."""
    if tiny and not (flink_peer.PROJECT / "target" / version / "flink-peer.jar").exists():
        pytest.skip("benches/flink is not built")
    reason = flink_peer.missing(version)
    if reason:
        pytest.skip(reason)


def planned(graph: Any, version: str) -> tuple[Any, Any]:
    """The graph and its JobGraph, as this Flink would make it."""
    return graph, graph.job_graph(flink=version)


def checksum(phase: str, graph: Any, job: Any) -> dict[str, Any] | None:
    """That of Penstock's own result; ``None`` for a phase that has none."""
    if phase in ("serialisation", "connect"):
        return None
    if phase == "hash":
        return checksums.hashes(graph)
    return checksums.job_graph(job) if phase == "job_graph" else getattr(checksums, phase)(job.execution_graph())


def shortened(result: dict[str, Any]) -> str:
    """Enough of a checksum to tell two runs apart."""
    return str(result.get("sha256") or result.get("sha256_inputs") or result)[:16]


def test_flink(record: Record, tiny: bool, version: str, case: Case) -> None:
    skip_without(version, tiny)
    limits = {"rounds": case.rounds, "heap": "1g" if tiny else HEAP, "warm_seconds": 0 if tiny else 2}
    limits["timeout"] = 900 if case.size >= 1_000_000 else 400
    warm = case.graph(case.warm) if case.warm else None
    timings = flink_peer.time(version, case.graph(), case.phases, warm=warm, **limits)
    ours = planned(case.graph(), version)
    different = []
    for timing in timings:
        expected = checksum(timing.phase, *ours) if timing.checksum else None
        record(
            phase=PHASES[timing.phase],
            shape=case.shape,
            size=case.size,
            peer=RELEASES[version],
            seconds=[wall / 1000 for wall in timing.walls],
            cpu_seconds=[cpu / 1000 for cpu in timing.cpus],
            died=timing.died and timing.died[:200],
            heap_bytes=timing.heap_mb and round(timing.heap_mb * 2**20),
            checksum=expected and shortened(expected),
            checksum_equal=None if expected is None else timing.checksum == expected,
        )
        if expected is not None and timing.checksum != expected:
            different.append(f"{timing.phase}: Flink {timing.checksum}, Penstock {expected}")
    assert not different
