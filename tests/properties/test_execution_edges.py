"""Edges between subtasks, held as groups, in one table or in chunks, seen from either end, are the same edges."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PenstockError
from penstock.plan import PROFILES, ExecutionGraph, StreamGraph
from tests.execution_edges import Edge, from_inputs, from_results
from tests.properties.graphs import Spec, specs
from tests.reference import execution_graph as reference
from tests.reference import job_graph, profile, stream_graph
from tests.reference.chaining import Chainability


def as_edges(table: pa.Table) -> list[Edge]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@given(specs(max_nodes=12), st.integers(1, 5000))
def test_groups_tables_and_chunks_agree(spec: Spec, rows: int) -> None:
    try:
        graph = StreamGraph.from_dict(spec).job_graph().execution_graph()
    except PenstockError:
        return
    whole = as_edges(pa.table(graph.execution_edges()))
    assert len(whole) == graph.total_edges
    assert from_inputs(graph) == whole
    assert sorted(from_results(graph)) == sorted(whole)
    chunks = [as_edges(pa.table(chunk)) for chunk in graph.execution_edge_chunks(rows)]
    assert [edge for chunk in chunks for edge in chunk] == whole
    assert all(len(chunk) == rows for chunk in chunks[:-1])


def rectangles(table: pa.Table) -> list[Edge]:
    """The connections that groups stand for."""
    return [
        (row["consumer"], subtask, row["input"], row["producer"], row["result"], partition)
        for row in table.to_pylist()
        for subtask in range(row["first_subtask"], row["last_subtask"] + 1)
        for partition in range(row["first_partition"], row["last_partition"] + 1)
    ]


@given(specs(max_nodes=12), st.sampled_from(PROFILES))
def test_groups_and_lookups_equal_the_reference(spec: Spec, flink: str) -> None:
    try:
        graph = StreamGraph.from_dict(spec).job_graph(flink=flink).execution_graph()
    except PenstockError:
        return
    program = stream_graph.build(spec, profile.PROFILES[flink])
    vertices = reference.build(job_graph.build(program, Chainability(program)), program.profile)
    expected = list(reference.edges_by_input(vertices))
    consumed = pa.table(graph.consumed_partition_groups())
    assert sorted(rectangles(consumed)) == sorted(expected)
    assert sorted(rectangles(pa.table(graph.consumer_vertex_groups()))) == sorted(expected)
    assert consumed.num_rows <= sum(2 * vertex.parallelism * max(1, len(vertex.inputs)) for vertex in vertices)
    partitions = {key[:3]: key[5] for key in result_partitions(graph)}
    for vertex in vertices:
        for subtask in range(vertex.parallelism):
            read = [[*range(ours.first, ours.last + 1)] for ours in graph.inputs_of(vertex.index, subtask)]
            assert read == [theirs[subtask] for theirs in vertex.inputs]
        for result, readers in enumerate(vertex.results):
            for partition, theirs in enumerate(readers):
                groups = graph.consumers_of(vertex.index, result, partition)
                ours = [
                    (group.consumer, group.input, at) for group in groups for at in range(group.first, group.last + 1)
                ]
                assert ours == theirs
                assert partitions.pop((vertex.index, result, partition)) == len(theirs)
    assert not partitions


def result_partitions(graph: ExecutionGraph) -> list[Edge]:
    """(producer, result, partition, data set, type, number of readers) of each partition."""
    return as_edges(pa.table(graph.result_partitions_table()))
