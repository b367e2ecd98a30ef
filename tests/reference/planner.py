"""SPEC -> RESULT: all passes in order, and every field of the RESULT."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from tests.reference import execution_graph, job_graph, json_plan, stream_graph, streaming_plan
from tests.reference.chaining import Chainability
from tests.reference.errors import FlinkError
from tests.reference.execution_graph import ExecutionVertex
from tests.reference.hasher import operator_ids
from tests.reference.java import hash_order
from tests.reference.job_types import Config, JobGraph, JobVertex, shown
from tests.reference.stream_graph import StreamGraph

MINIMAL_CHECKPOINT_INTERVAL = 10
LONG_MAX = 2**63 - 1
MAX_LISTED_EDGES = 1000


def plan(spec: dict[str, Any]) -> dict[str, Any]:
    """The RESULT of one SPEC.

    Every stage but the first is tried by itself; an execution graph is made only of a job graph that was.
    """
    result: dict[str, Any] = {"name": spec.get("name"), "flink": "1.11.4"}
    try:
        graph = stream_graph.build(spec)
        chainable = Chainability(graph)
        result["stream_graph"] = _stream_graph(graph, chainable)
    except FlinkError as error:
        return {**result, "stream_graph": error.to_result()}
    result["hashes"] = _try(lambda: _hashes(graph, chainable))
    result["streaming_plan"] = _try(lambda: streaming_plan.render(graph))
    try:
        job = job_graph.build(graph, chainable)
    except FlinkError as error:
        return {**result, "job_graph": error.to_result()}
    result["job_graph"] = _job_graph(graph, job)
    result["execution_graph"] = _try(lambda: _execution_graph(job))
    return result


def plan_deep(spec: dict[str, Any]) -> dict[str, Any]:
    """``plan`` for graphs that are thousands of operators deep: in a thread with a stack for its recursion."""
    results: list[dict[str, Any]] = []
    limit, size = sys.getrecursionlimit(), threading.stack_size(512 * 1024 * 1024)
    sys.setrecursionlimit(1_000_000)
    try:
        thread = threading.Thread(target=lambda: results.append(plan(spec)))
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    return results[0]


def _try(stage: Callable[[], Any]) -> Any:
    try:
        return stage()
    except FlinkError as error:
        return error.to_result()


def _stream_graph(graph: StreamGraph, chainable: Chainability) -> dict[str, Any]:
    edges = [
        {
            "partitioner": edge.partitioner,
            "shuffle_mode": edge.shuffle_mode,
            "buffer_timeout": edge.buffer_timeout,
            "chainable": chainable(edge),
        }
        for edge in graph.edges
    ]
    return {"edges": edges, "source_ids": graph.source_ids()}


def _hashes(graph: StreamGraph, chainable: Chainability) -> dict[str, str]:
    hashes = operator_ids(graph, chainable)
    return {str(node): hashes[node].hex() for node in sorted(hashes)}


def _job_graph(graph: StreamGraph, job: JobGraph) -> dict[str, Any]:
    vertices = list(job.vertices.values())
    index_of = {vertex: index for index, vertex in enumerate(vertices)}
    return {
        "name": graph.settings["job_name"],
        "schedule_mode": graph.settings["schedule_mode"],
        "maximum_parallelism": max([vertex.parallelism for vertex in vertices], default=-1),
        "vertices": [_vertex(graph, job, vertex, index_of) for vertex in vertices],
        "slot_sharing_groups": [
            {"vertices": [index_of[vertex] for vertex in group.members], "resources": shown(group.resources)}
            for group in job.slot_sharing_groups
        ],
        "co_location_groups": [[index_of[vertex] for vertex in group] for group in job.co_location_groups],
        "checkpointing": _checkpointing(graph, job, index_of),
        "topological_order": [index_of[vertex] for vertex in job_graph.topological_order(job)],
        "json_plan": json_plan.render(job, graph.settings["job_name"]),
        "edge_buffer_timeouts": [edge.buffer_timeout for edge in graph.edges],
    }


def _vertex(graph: StreamGraph, job: JobGraph, vertex: JobVertex, index_of: dict[JobVertex, int]) -> dict[str, Any]:
    settings = graph.settings
    co_location = [group is vertex.co_location_group for group in job.co_location_groups]
    assert vertex.slot_sharing_group is not None
    return {
        "id": vertex.id.hex(),
        "head": vertex.head.node.id,
        "name": vertex.name,
        "parallelism": vertex.parallelism,
        "max_parallelism": vertex.max_parallelism,
        "invokable": vertex.head.node.invokable,
        "operator_ids": [[made.hex(), user.hex() if user else None] for _, made, user in vertex.operators],
        "operator_nodes": [node for node, _, _ in vertex.operators],
        "slot_sharing_group": job.slot_sharing_groups.index(vertex.slot_sharing_group),
        "co_location_group": co_location.index(True) if any(co_location) else None,
        "min_resources": shown(vertex.min_resources),
        "preferred_resources": shown(vertex.preferred_resources),
        "inputs": [
            {
                "source": index_of[edge.data_set.producer],
                "result": edge.data_set.producer.results.index(edge.data_set),
                "distribution": edge.distribution,
                "result_type": edge.data_set.result_type,
                "ship_strategy": edge.ship_strategy,
            }
            for edge in vertex.inputs
        ],
        "results": [
            {
                "type": data_set.result_type,
                "consumers": [[index_of[edge.target], edge.target.inputs.index(edge)] for edge in data_set.consumers],
            }
            for data_set in vertex.results
        ],
        "number_of_inputs": len(vertex.inputs),
        "in_edges": [edge.index for edge in vertex.in_edges],
        "out_edges": [edge.index for edge in vertex.out_edges],
        "chain": [_config(vertex, config) for config in vertex.walk()],
        "checkpointing_enabled": graph.checkpoints,
        "checkpoint_mode": settings["checkpointing_mode"] if graph.checkpoints else "AT_LEAST_ONCE",
    }


def _config(vertex: JobVertex, config: Config) -> dict[str, Any]:
    written = config.managed_memory_fraction if config is vertex.head else vertex.fractions.get(config.node.id, 0.0)
    return {
        "node": config.node.id,
        "operator_id": config.operator_id.hex(),
        "operator_name": config.node.name,
        "chain_index": config.chain_index,
        "chain_start": config.chain_start,
        "chain_end": not config.chained_outputs,
        "managed_memory_fraction": written,
        "chained_outputs": [edge.index for edge in config.chained_outputs],
        "non_chained_outputs": [edge.index for edge in config.non_chained_outputs],
        "number_of_outputs": len(config.non_chained_outputs),
    }


def _checkpointing(graph: StreamGraph, job: JobGraph, index_of: dict[JobVertex, int]) -> dict[str, Any]:
    interval = graph.settings["checkpoint_interval"] if graph.checkpoints else -1
    vertices = [job.vertices[head] for head in hash_order(job.vertices)]
    everybody = [index_of[vertex] for vertex in vertices]
    return {
        "interval": interval if interval >= MINIMAL_CHECKPOINT_INTERVAL else LONG_MAX,
        "trigger": [index_of[vertex] for vertex in vertices if not vertex.inputs],
        "acknowledge": everybody,
        "confirm": everybody,
    }


def _execution_graph(job: JobGraph) -> dict[str, Any]:
    graph = execution_graph.build(job)
    total_edges = sum(len(partitions) for vertex in graph for subtasks in vertex.inputs for partitions in subtasks)
    positions = {vertex: index for index, vertex in enumerate(job.vertices.values())}
    listed = total_edges <= MAX_LISTED_EDGES
    return {
        "total_vertices": sum(vertex.parallelism for vertex in graph),
        "total_edges": total_edges,
        "vertices": [_execution_vertex(graph, vertex, positions, listed=listed) for vertex in graph],
        "sha256_inputs": execution_graph.checksum(execution_graph.edges_by_input(graph)),
        "sha256_consumers": execution_graph.checksum(execution_graph.edges_by_result(graph)),
    }


def _execution_vertex(
    graph: list[ExecutionVertex], vertex: ExecutionVertex, positions: dict[JobVertex, int], *, listed: bool
) -> dict[str, Any]:
    index_of = {other.job_vertex: other.index for other in graph}
    inputs = [
        {
            "source": index_of[edge.data_set.producer],
            "result": edge.data_set.producer.results.index(edge.data_set),
            **({"partitions": partitions} if listed else {}),
        }
        for edge, partitions in zip(vertex.job_vertex.inputs, vertex.inputs, strict=True)
    ]
    results = [
        {
            "type": data_set.result_type,
            **({"consumers": [list(map(list, consumers)) for consumers in partitions]} if listed else {}),
        }
        for data_set, partitions in zip(vertex.job_vertex.results, vertex.results, strict=True)
    ]
    return {
        "job_vertex": positions[vertex.job_vertex],
        "parallelism": vertex.parallelism,
        "max_parallelism": vertex.max_parallelism,
        "max_parallelism_configured": vertex.job_vertex.max_parallelism != execution_graph.UNSET,
        "inputs": inputs,
        "results": results,
    }
