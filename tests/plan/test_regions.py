"""Regions, failover and release: refusals, repetition, tables, and sizes that single edges would never allow."""

from __future__ import annotations

import time
from typing import Any

import pyarrow as pa
import pytest

from penstock.errors import SpecError
from penstock.plan import ExecutionGraph, StreamGraph, StreamGraphBuilder

PARALLELISM = 4000


def pair(parallelism: int, mode: str, partitioner: str = "HASH") -> ExecutionGraph:
    """Two vertices; the shape of Flink's own scheduler benchmarks."""
    nodes: list[dict[str, Any]] = [
        {"id": 1, "name": "Source", "kind": "source", "parallelism": parallelism},
        {"id": 2, "name": "Sink", "kind": "sink", "parallelism": parallelism},
    ]
    edge = {"source": 1, "target": 2, "partitioner": partitioner, "shuffle_mode": mode, "input": 0}
    spec = {"name": "pair", "chaining_enabled": False, "nodes": nodes, "edges": [edge]}
    return StreamGraph.from_dict(spec).job_graph().execution_graph()


def test_regions_of_a_pipelined_all_to_all_exchange() -> None:
    graph = pair(PARALLELISM, "PIPELINED")
    regions = graph.pipelined_regions()
    assert (len(regions), regions.spans(0)) == (1, [(0, 0, PARALLELISM - 1), (1, 0, PARALLELISM - 1)])
    assert graph.regions_to_restart(1, 7).total_vertices == 2 * PARALLELISM
    release = graph.partition_release()
    for vertex in (0, 1):
        assert release.vertices_finished(vertex, 0, PARALLELISM - 1) == [], "pipelined results release themselves"
    assert repr(release) == "PartitionRelease(1 of 1 regions finished)"


def test_regions_of_a_blocking_all_to_all_exchange() -> None:
    graph = pair(PARALLELISM, "BATCH")
    assert len(graph.pipelined_regions()) == 2 * PARALLELISM
    assert len(graph.regions_to_restart(0, 0)) == PARALLELISM + 1
    assert graph.regions_to_restart(1, 5).regions == [PARALLELISM + 5]
    everything = graph.regions_to_restart(1, 5, lost=[(0, 0, 0, PARALLELISM - 1)])
    assert len(everything) == 2 * PARALLELISM
    assert pa.table(everything.subtasks_table()).num_rows == 2 * PARALLELISM
    release = graph.partition_release()
    assert release.vertices_finished(1, 0, PARALLELISM - 2) == []
    (released,) = release.vertex_finished(1, PARALLELISM - 1)
    assert (released.producer, released.first, released.last, released.free) == (0, 0, PARALLELISM - 1, True)


def test_twenty_thousand_squared_takes_no_time() -> None:
    """Four hundred million connections; walking them takes seconds at best."""
    graph = pair(20_000, "BATCH")
    start = time.process_time()
    assert len(graph.regions_to_restart(0, 0)) == 20_001
    assert len(graph.partition_release().vertices_finished(1, 0, 19_999)) == 1
    assert time.process_time() - start < 1


@pytest.mark.slow
@pytest.mark.parametrize(("partitioner", "mode", "expected"), [("RESCALE", "PIPELINED", 4), ("HASH", "PIPELINED", 1)])
def test_a_chain_of_a_million_vertices(partitioner: str, mode: str, expected: int) -> None:
    """Iterative and linear: nothing walks the depth of the graph by recursion, or again for each vertex."""
    size = 1_000_000
    builder = StreamGraphBuilder(chaining_enabled=False)
    for id_ in range(size):
        builder.add_node(id_, "Op", "operator" if id_ else "source", parallelism=4)
        if id_:
            builder.add_edge(id_ - 1, id_, partitioner=partitioner, shuffle_mode=mode)
    graph = builder.build().job_graph().execution_graph()
    start = time.process_time()
    assert len(graph.pipelined_regions()) == expected
    assert graph.regions_to_restart(size // 2, 0).total_vertices == 4 * size // expected
    assert graph.partition_release().vertex_finished(size - 1, 0) == []
    assert time.process_time() - start < 10


def test_a_region_that_finishes_twice_releases_twice() -> None:
    release = pair(2, "BATCH", "RESCALE").partition_release()
    once = release.vertex_finished(1, 0)
    assert [(group.first, group.last, group.consumer, group.input) for group in once] == [(0, 0, 1, 0)]
    assert release.vertex_finished(1, 0) == once, "as Flink answers a repeated report"
    release.vertex_unfinished(1, 0)
    release.vertex_unfinished(1, 0)
    assert release.vertex_finished(1, 0) == once


def test_tables_list_regions_by_spans_and_by_subtasks() -> None:
    regions = pair(2, "BATCH").pipelined_regions()
    spans = pa.table(regions.spans_table())
    assert spans.to_pydict() == {
        "region": [0, 1, 2, 3], "vertex": [0, 0, 1, 1], "first_subtask": [0, 1, 0, 1], "last_subtask": [0, 1, 0, 1]
    }  # fmt: skip
    assert pa.table(regions.subtasks_table()).column_names == ["region", "vertex", "subtask"]


def test_places_that_do_not_exist_are_refused() -> None:
    graph = pair(2, "BATCH")
    regions, release = graph.pipelined_regions(), graph.partition_release()
    for call in (regions.region_of, graph.regions_to_restart, release.vertex_finished, release.vertex_unfinished):
        for place in ((0, 2), (2, 0)):
            with pytest.raises(SpecError, match=str(2)):
                call(*place)
    with pytest.raises(IndexError, match="region 4 of 4"):
        regions.spans(4)


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ((2, 0, 0, 0), "producer is 2"),
        ((1, 0, 0, 0), "result is 0"),
        ((0, 0, 0, 2), "last is 2"),
        ((0, 0, 1, 0), "last is 0"),
        ((0, 0, 0, 2**32 - 1), "last is"),
    ],
)
def test_partitions_that_do_not_exist_are_refused(lost: tuple[int, int, int, int], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        pair(2, "BATCH").regions_to_restart(1, 0, lost=[lost])
