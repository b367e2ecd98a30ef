"""What Flink's scheduler does with an ExecutionGraph, on the shapes of Flink's own scheduler benchmarks.

As there, regions are found before the clock runs for restarts and for releases.
"""

from __future__ import annotations

from typing import Any

import pytest

from conftest import Measure
from penstock.plan import PROFILES, shapes

KINDS = pytest.mark.parametrize("kind", ["streaming", "batch"])
VERSIONS = pytest.mark.parametrize("flink", PROFILES)


def expanded(kind: str, parallelism: int, flink: str) -> Any:
    """Source and sink, all-to-all; pipelined for streaming, blocking for batch."""
    graph = shapes.scheduler_benchmark(parallelism, blocking=kind == "batch")
    return graph.job_graph(flink=flink).execution_graph()


def with_regions(kind: str, parallelism: int, flink: str) -> Any:
    execution = expanded(kind, parallelism, flink)
    execution.pipelined_regions()
    return execution


def facts(phase: str, kind: str, parallelism: int, flink: str) -> dict[str, Any]:
    peer = "Penstock" if flink == "1.11" else f"Penstock ({flink})"
    return {"phase": phase, "shape": f"scheduler_{kind}", "size": parallelism, "peer": peer}


@KINDS
@VERSIONS
def test_regions(measure: Measure, kind: str, flink: str, parallelism: int) -> None:
    """All subtasks of the streaming job are one region, those of the batch job one each."""
    run = facts("regions", kind, parallelism, flink)
    regions = measure(
        lambda execution: execution.pipelined_regions(), lambda: expanded(kind, parallelism, flink), **run
    )
    assert len(regions) == (1 if kind == "streaming" else 2 * parallelism)


@KINDS
@VERSIONS
def test_regions_to_restart(measure: Measure, kind: str, flink: str, parallelism: int) -> None:
    """The first subtask of the source fails: it and all that read what it writes run again."""
    run = facts("regions to restart", kind, parallelism, flink)
    fail = lambda execution: execution.regions_to_restart(0, 0)  # noqa: E731 - one expression
    restarted = measure(fail, lambda: with_regions(kind, parallelism, flink), **run)
    assert restarted.total_vertices == (2 * parallelism if kind == "streaming" else parallelism + 1)


@KINDS
@VERSIONS
@pytest.mark.parametrize("step", ["partition release", "partition release, a call per subtask"])
def test_partition_release(measure: Measure, kind: str, flink: str, parallelism: int, step: str) -> None:
    """Every subtask finishes, one after the other: which partitions has everybody read? They are reported a vertex at a
    time, or by a Python call each, which is then most of the time."""
    run = facts(step, kind, parallelism, flink)

    def finish(release: Any) -> int:
        if step == "partition release":
            freed = [release.vertices_finished(vertex, 0, parallelism - 1) for vertex in (0, 1)]
        else:
            freed = [release.vertex_finished(vertex, subtask) for vertex in (0, 1) for subtask in range(parallelism)]
        return sum(map(len, freed))

    released = measure(finish, lambda: with_regions(kind, parallelism, flink).partition_release(), **run)
    assert released == (0 if kind == "streaming" else 1), "pipelined results are released by who wrote them"
