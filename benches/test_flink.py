"""The real Flink 1.11.4 and 2.3.0 on the same graphs, each result's checksum compared with Penstock's.

What a Flink cannot do (stack, memory) is recorded as that and fails nothing; a checksum that differs fails.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from tests.shapes import SHAPES

from conftest import HUGE, Record, smoke
from penstock.plan import PROFILES, shapes

checksums = pytest.importorskip("checksums")
flink_peer = pytest.importorskip("flink_peer")

BY_NAME = {shape.__name__: shape for shape in SHAPES}
RELEASES = {"1.11": "Flink 1.11.4", "2.3": "Flink 2.3.0"}
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


@dataclass(frozen=True)
class Case:
    """A graph and what Flink is asked to do with it."""

    shape: str
    size: int
    phases: tuple[str, ...]
    rounds: int

    def __str__(self) -> str:
        return f"{self.shape}-{self.size}"

    def graph(self) -> Any:
        """The graph."""
        if self.shape in BY_NAME:
            return BY_NAME[self.shape](self.size)
        if self.shape == "all_to_all":
            return shapes.all_to_all(self.size)
        return shapes.scheduler_benchmark(self.size, blocking=self.shape == "scheduler_batch")


def ladder(shape: str, phases: Sequence[str], *sizes: int) -> list[Case]:
    """One case per size, with fewer rounds the bigger it is."""
    return [Case(shape, size, tuple(phases), 5 if size <= 10_000 else 3 if size <= 100_000 else 1) for size in sizes]


PLANNING = ("hash", "job_graph", "serialisation")
EXPANDING = ("execution_graph", "connect")
SCHEDULING = ("regions", "restart", "release")
CASES = [
    *ladder("layered_dag", PLANNING, 1_000, 10_000, 100_000, 1_000_000),
    *ladder("layered_dag", ("execution_graph",), 1_000, 10_000),
    *ladder("keyed_pipelines", PLANNING, 1_000, 10_000, 100_000),
    *ladder("forward_chain", PLANNING[:2], 1_000, 100_000),
    *ladder("uid_table", ("hash",), 1_000, 10_000, 100_000),
    *ladder("yielding_diamonds", ("hash",), 17, 25, 33),
    *ladder("all_to_all", EXPANDING, 100, 1_000, 4_000, 8_000),
    *ladder("scheduler_streaming", SCHEDULING, 1_000, 4_000),
    *ladder("scheduler_batch", SCHEDULING, 1_000, 4_000),
]
SMOKE_CASES = [
    *(Case(shape, 20, (*PLANNING, *EXPANDING), 1) for shape in BY_NAME if not shape.startswith("yielding")),
    Case("all_to_all", 4, EXPANDING, 1),
    Case("scheduler_batch", 4, SCHEDULING, 1),
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        limit = int(os.environ.get("PENSTOCK_BENCH_MAX", HUGE))
        cases = SMOKE_CASES if smoke(metafunc.config) else [case for case in CASES if case.size <= limit]
        metafunc.parametrize("case", cases, ids=str)


def ours(phase: str, case: Case, version: str) -> str | None:
    """The checksum of Penstock's own result, ``None`` for a phase that has no result of its own."""
    profile = {} if version == "1.11" else {"flink": version}
    graph = case.graph()
    if phase in ("serialisation", "connect"):
        return None
    if phase == "hash":
        return checksums.hashes(graph)
    job = graph.job_graph(**profile)
    if phase == "job_graph":
        return checksums.job_graph(job)
    return getattr(checksums, phase)(job.execution_graph())


@pytest.mark.parametrize("version", RELEASES)
def test_flink(record: Record, tiny: bool, version: str, case: Case) -> None:
    if version not in PROFILES:
        pytest.skip(f"no profile {version}")
    if tiny and not os.environ.get("PENSTOCK_FLINK"):
        pytest.skip("downloads Flink and starts a JVM per graph: set PENSTOCK_FLINK=1")
    reason = flink_peer.missing(version)
    if reason:
        pytest.skip(reason)
    different = []
    for timing in flink_peer.time(
        version, case.graph(), case.phases, rounds=case.rounds, warm_seconds=0 if tiny else 3
    ):
        expected = None if timing.died else ours(timing.phase, case, version)
        equal = None if expected is None else timing.checksum == expected
        record(
            phase=PHASES[timing.phase],
            shape=case.shape,
            size=case.size,
            peer=RELEASES[version],
            seconds=None if timing.died else milliseconds(timing.wall_ms),
            cpu_seconds=None if timing.died else milliseconds(timing.cpu_ms),
            rounds=case.rounds,
            died=timing.died,
            checksum=timing.checksum,
            checksum_equal=equal,
        )
        if equal is False:
            different.append(f"{timing.phase}: Flink {timing.checksum}, Penstock {expected}")
    assert not different


def milliseconds(times: Any) -> list[float]:
    """One or several times as seconds."""
    return [time / 1000 for time in (times if isinstance(times, (list, tuple)) else [times])]
