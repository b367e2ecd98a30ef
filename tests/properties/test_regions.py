"""Regions, failover and partition release over groups are those over single execution edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.errors import ExecutionGraphError
from penstock.plan import PROFILES, ExecutionGraph, StreamGraph
from tests.execution_edges import from_inputs
from tests.reference.regions import (
    Partition,
    PartitionRelease,
    RegionScheduling,
    Subtask,
    Topology,
    regions,
    regions_to_restart,
)

pytestmark = pytest.mark.slow

Spec = dict[str, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]


def spec_of(
    parallelisms: Sequence[int], edges: Iterable[tuple[int, int, str, str]], co_located: int | None = None
) -> Spec:
    """Unchained vertices; those from number ``co_located`` on share a co-location group."""
    fed = {target for _, target, _, _ in edges}
    nodes = [
        {"id": at, "name": f"v{at}", "kind": "operator" if at in fed else "source", "parallelism": parallelism}
        | {"co_location_group": "c" if co_located is not None and at >= co_located else None}
        for at, parallelism in enumerate(parallelisms)
    ]
    fields = ("source", "target", "partitioner", "shuffle_mode")
    return {
        "name": "regions",
        "chaining_enabled": False,
        "nodes": nodes,
        "edges": [dict(zip(fields, edge, strict=True)) | {"input": 0} for edge in edges],
    }


@st.composite
def graphs(draw: Draw) -> Spec:
    """A few vertices with pipelined and blocking exchanges of both distributions; some parallelisms never fit."""
    palette = draw(st.sampled_from(((1, 2, 3, 4, 5, 7), (2, 3), (3,))))
    partitioners = draw(st.sampled_from((("RESCALE", "RESCALE", "HASH"), ("RESCALE",))))
    parallelisms = draw(st.lists(st.sampled_from(palette), min_size=1, max_size=7))
    edges = [
        (draw(st.integers(0, target - 1)), target, draw(st.sampled_from(partitioners)), mode)
        for target in range(1, len(parallelisms))
        for mode in draw(st.lists(st.sampled_from(("PIPELINED", "BATCH")), max_size=3))
    ]
    co_located = draw(st.integers(0, len(parallelisms) - 1)) if draw(st.integers(0, 9)) == 9 else None
    return spec_of(parallelisms, edges, co_located)


CYCLE = spec_of(
    (3, 2, 3, 3, 2),
    [
        (0, 1, "RESCALE", "PIPELINED"),
        (1, 2, "RESCALE", "PIPELINED"),
        (0, 2, "RESCALE", "BATCH"),
        (2, 3, "RESCALE", "BATCH"),
        (1, 4, "RESCALE", "PIPELINED"),
        (3, 4, "RESCALE", "PIPELINED"),
    ],
)
"""Two pipelined halves; subtask 1 of vertex 0 feeds the first from the second, subtask 1 of vertex 2 the other way."""


def topology_of(graph: ExecutionGraph) -> Topology:
    """Every execution edge by itself."""
    job = graph.job_graph.vertices
    subtasks = [(vertex.index, subtask) for vertex in graph.vertices for subtask in range(vertex.parallelism)]
    reads: dict[Subtask, dict[int, list[Partition]]] = {subtask: {} for subtask in subtasks}
    for consumer, subtask, number, producer, result, partition in from_inputs(graph):
        reads[consumer, subtask].setdefault(number, []).append((producer, result, partition))
    edges = {(vertex.index, edge.input): edge for vertex in graph.vertices for edge in job[vertex.job_vertex].inputs}
    groups: dict[int, list[int]] = {}
    for vertex in graph.vertices:
        if (group := job[vertex.job_vertex].co_location_group) is not None:
            groups.setdefault(group, []).append(vertex.index)
    return Topology(
        subtasks,
        reads,
        {end: edge.result_type == "PIPELINED_BOUNDED" for end, edge in edges.items()},
        {end: edge.distribution == "ALL_TO_ALL" for end, edge in edges.items()},
        list(groups.values()),
    )


def plan(spec: Spec, flink: str) -> ExecutionGraph:
    profile: Any = {} if flink == PROFILES[0] else {"flink": flink}
    return StreamGraph.from_dict(spec).job_graph(**profile).execution_graph()


def planned(spec: Spec, flink: str) -> tuple[ExecutionGraph, Topology, list[frozenset[Subtask]]] | None:
    """The graph and its regions by the reference; ``None`` where co-location is rightly refused."""
    try:
        graph = plan(spec, flink)
    except ExecutionGraphError:
        apart = plan({**spec, "nodes": [{**node, "co_location_group": None} for node in spec["nodes"]]}, flink)
        together = {node["name"] for node in spec["nodes"] if node["co_location_group"]}
        topology = topology_of(apart)
        topology.co_located = [[vertex.index for vertex in apart.vertices if vertex.name in together]]
        with pytest.raises(ValueError, match="co-located"):
            regions(topology, flink)
        return None
    topology = topology_of(graph)
    return graph, topology, regions(topology, flink)


def found_regions(graph: ExecutionGraph) -> list[frozenset[Subtask]]:
    actual = graph.pipelined_regions()
    return [
        frozenset(
            (vertex, subtask) for vertex, first, last in actual.spans(region) for subtask in range(first, last + 1)
        )
        for region in range(len(actual))
    ]


@pytest.mark.parametrize("flink", PROFILES)
@settings(max_examples=5 * settings().max_examples)
@example(CYCLE)
@given(graphs())
def test_regions(flink: str, spec: Spec) -> None:
    known = planned(spec, flink)
    if known is None:
        return
    graph, _, expected = known
    assert found_regions(graph) == expected
    of = {subtask: number for number, region in enumerate(expected) for subtask in region}
    actual = graph.pipelined_regions()
    assert {subtask: actual.region_of(*subtask) for subtask in of} == of


@pytest.mark.parametrize("flink", PROFILES)
@settings(max_examples=5 * settings().max_examples)
@given(graphs(), st.data())
def test_regions_to_restart(flink: str, spec: Spec, data: st.DataObject) -> None:
    known = planned(spec, flink)
    if known is None:
        return
    graph, topology, all_regions = known
    failed = data.draw(st.sampled_from(topology.subtasks))
    written = sorted(
        {partition for reads in topology.reads.values() for group in reads.values() for partition in group}
    )
    lost = data.draw(st.sets(st.sampled_from(written))) if written else set()
    expected = regions_to_restart(topology, all_regions, failed, lost)
    spans = [(producer, result, partition, partition) for producer, result, partition in lost]
    restarted = graph.regions_to_restart(*failed, lost=spans)
    assert {all_regions[region] for region in restarted.regions} == expected
    assert restarted.regions == sorted(restarted.regions)
    assert restarted.total_vertices == sum(map(len, expected))


@pytest.mark.parametrize("flink", PROFILES)
@settings(max_examples=3 * settings().max_examples)
@given(graphs(), st.data())
def test_partition_release(flink: str, spec: Spec, data: st.DataObject) -> None:
    known = planned(spec, flink)
    if known is None:
        return
    graph, topology, all_regions = known
    expected, release = PartitionRelease(topology, all_regions, flink), graph.partition_release()
    order = data.draw(st.permutations(topology.subtasks))
    again = data.draw(st.lists(st.tuples(st.sampled_from(topology.subtasks), st.booleans()), max_size=8))
    for subtask, finished in [*((subtask, True) for subtask in order), *again, *((subtask, True) for subtask in order)]:
        if not finished:
            release.vertex_unfinished(*subtask)
            expected.vertex_unfinished(subtask)
            continue
        released = [
            ((group.consumer, group.input), (group.producer, group.result, partition), group.free)
            for group in release.vertex_finished(*subtask)
            for partition in range(group.first, group.last + 1)
        ]
        assert sorted(released) == sorted(expected.vertex_finished(subtask))


@pytest.mark.parametrize("flink", PROFILES)
@settings(max_examples=3 * settings().max_examples)
@given(graphs(), st.data())
def test_region_scheduling(flink: str, spec: Spec, data: st.DataObject) -> None:
    known = planned(spec, flink)
    if known is None:
        return
    graph, topology, all_regions = known
    expected, scheduling = RegionScheduling(topology, all_regions, flink), graph.region_scheduling()
    assert scheduling.start() == expected.start()
    for subtask in data.draw(st.permutations(topology.subtasks)):
        assert scheduling.vertex_finished(*subtask) == expected.vertex_finished(subtask)
        if data.draw(st.integers(0, 9)) == 9:
            again = data.draw(st.sets(st.integers(0, len(all_regions) - 1), max_size=3))
            assert scheduling.restart(list(again)) == expected.restart(again)
    assert scheduling.start() == expected.start() == []


def test_a_cycle_of_blocking_results_is_one_region_since_it_was_noticed() -> None:
    """FLINK-17330: neither half could begin before the other had finished."""
    assert [len(plan(CYCLE, flink).pipelined_regions()) for flink in PROFILES] == [2, 1][: len(PROFILES)]
