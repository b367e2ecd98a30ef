"""Every table that a plan gives, over one graph with all that a table can hold: nulls, loops, both distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.plan import ExecutionGraph, StreamGraphBuilder

Rows = list[tuple[Any, ...]]


def execution_graph() -> ExecutionGraph:
    builder = StreamGraphBuilder()
    builder.add_node(1, "Source: left", "source", parallelism=3, uid="left")
    builder.add_node(2, "Source: right ü", "source", parallelism=4)
    builder.add_node(3, "join", "two_input", parallelism=7, user_hash="0123456789abcdef" * 2)
    builder.add_node(4, "map", "operator", parallelism=7, slot_sharing_group="late")
    builder.add_node(5, "Sink: out", "sink", parallelism=2)
    builder.add_node(6, "never reached", "operator")
    builder.add_edge(1, 3, 1, partitioner="HASH")
    builder.add_virtual_side_output(10, 2, "late")
    builder.add_virtual_partition(11, 10, "RESCALE")
    builder.add_edge(11, 3, 2)
    builder.add_edge(3, 4)
    builder.add_edge(4, 5, partitioner="RESCALE")
    builder.add_edge(1, 5, partitioner="BROADCAST")
    return builder.build().job_graph().execution_graph()


def empty_execution_graph() -> ExecutionGraph:
    return StreamGraphBuilder().build().job_graph().execution_graph()


TABLES: dict[str, Callable[[ExecutionGraph], Any]] = {
    "nodes": lambda graph: graph.job_graph.stream_graph.nodes_table(),
    "stream edges": lambda graph: graph.job_graph.stream_graph.edges_table(),
    "verdicts": lambda graph: graph.job_graph.stream_graph.verdicts_table(),
    "operator ids": lambda graph: graph.job_graph.stream_graph.operator_ids_table(),
    "binary operator ids": lambda graph: graph.job_graph.stream_graph.operator_ids_table(binary=True),
    "operators": lambda graph: graph.job_graph.operators_table(),
    "vertices": lambda graph: graph.job_graph.vertices_table(),
    "datasets": lambda graph: graph.job_graph.datasets_table(),
    "job edges": lambda graph: graph.job_graph.edges_table(),
    "execution vertices": lambda graph: graph.vertices_table(),
    "subtasks": lambda graph: graph.subtasks_table(),
    "result partitions": lambda graph: graph.result_partitions_table(),
    "execution edges": lambda graph: graph.execution_edges(),
    "execution edge chunks": lambda graph: graph.execution_edge_chunks(5),
    "consumed partition groups": lambda graph: graph.consumed_partition_groups(),
    "consumer vertex groups": lambda graph: graph.consumer_vertex_groups(),
}
