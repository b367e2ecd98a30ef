"""Every field of a RESULT: first what all versions of Flink have, then what only one has."""

from __future__ import annotations

from typing import Any

from tests.reference import execution_graph, job_graph, json_plan
from tests.reference.chaining import Chainability
from tests.reference.execution_graph import ExecutionVertex
from tests.reference.java import hash_order
from tests.reference.job_types import Config, DataSet, JobEdge, JobGraph, JobVertex, shown
from tests.reference.profile import PROFILES, Profile
from tests.reference.stream_graph import StreamGraph

MINIMAL_CHECKPOINT_INTERVAL = 10
LONG_MAX = 2**63 - 1
MAX_LISTED = 1000
OLD = PROFILES["1.11"]

Fields = dict[str, Any]


def of_stream_graph(graph: StreamGraph, chainable: Chainability) -> Fields:
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


def of_job_graph(graph: StreamGraph, job: JobGraph) -> Fields:
    vertices = list(job.vertices.values())
    index_of = {vertex: index for index, vertex in enumerate(vertices)}
    old = graph.profile is OLD
    groups = [{"vertices": [index_of[vertex] for vertex in group.members]} for group in job.slot_sharing_groups]
    for group, fields in zip(job.slot_sharing_groups, groups, strict=True):
        fields |= {"resources": shown(group.resources)} if old else {"name": group.name}
    fields = {
        "name": graph.settings["job_name"],
        "maximum_parallelism": max([vertex.parallelism for vertex in vertices], default=-1),
        "vertices": [_vertex(graph, job, vertex, index_of) for vertex in vertices],
        "slot_sharing_groups": groups,
        "co_location_groups": [[index_of[vertex] for vertex in group] for group in job.co_location_groups],
        "topological_order": [index_of[vertex] for vertex in job_graph.topological_order(job)],
        "json_plan": json_plan.render(job, graph.settings["job_name"], graph.profile),
    }
    if not old:
        return {**fields, "job_type": "STREAMING"}
    return {
        **fields,
        "schedule_mode": graph.settings["schedule_mode"],
        "checkpointing": _checkpointing(graph, job, index_of),
        "edge_buffer_timeouts": [edge.buffer_timeout for edge in graph.edges],
    }


def _vertex(graph: StreamGraph, job: JobGraph, vertex: JobVertex, index_of: dict[JobVertex, int]) -> Fields:
    co_location = [group is vertex.co_location_group for group in job.co_location_groups]
    assert vertex.slot_sharing_group is not None
    fields = {
        "id": vertex.id.hex(),
        "head": vertex.head.node.id,
        "name": vertex.name,
        "parallelism": vertex.parallelism,
        "max_parallelism": vertex.max_parallelism,
        "invokable": vertex.head.node.invokable,
        "operator_ids": [[generated.hex(), user.hex() if user else None] for _, generated, user in vertex.operators],
        "operator_nodes": [node for node, _, _ in vertex.operators],
        "slot_sharing_group": job.slot_sharing_groups.index(vertex.slot_sharing_group),
        "co_location_group": co_location.index(True) if any(co_location) else None,
        "min_resources": shown(vertex.min_resources),
        "preferred_resources": shown(vertex.preferred_resources),
        "inputs": [_input(edge, index_of, graph.profile) for edge in vertex.inputs],
        "results": [_result(data_set, index_of, graph.profile) for data_set in vertex.results],
        "number_of_inputs": len(vertex.inputs),
        "in_edges": [edge.index for edge in vertex.in_edges],
        "chain": [_config(vertex, config, graph.profile) for config in vertex.walk()],
    }
    if graph.profile is OLD:
        mode = graph.settings["checkpointing_mode"] if graph.checkpoints else "AT_LEAST_ONCE"
        out_edges = [edge.index for edge in vertex.out_edges]
        return {
            **fields,
            "out_edges": out_edges,
            "checkpointing_enabled": graph.checkpoints,
            "checkpoint_mode": mode,
        }
    return {
        **fields,
        "operator_pretty_name": json_plan.tree(vertex),
        "parallelism_configured": any(config.node.parallelism != -1 for config in vertex.walk()),
        "number_of_vertex_outputs": len(vertex.results),
    }


def _input(edge: JobEdge, index_of: dict[JobVertex, int], profile: Profile) -> Fields:
    fields = {
        "source": index_of[edge.data_set.producer],
        "result": edge.data_set.producer.results.index(edge.data_set),
        "distribution": edge.distribution,
        "result_type": edge.data_set.result_type,
        "ship_strategy": edge.ship_strategy,
    }
    if profile is OLD:
        return fields
    return {
        **fields,
        "broadcast": edge.ship_strategy == "BROADCAST",
        "forward": edge.ship_strategy == "FORWARD",
        "type_number": edge.edge.type_number,
    }


def _result(data_set: DataSet, index_of: dict[JobVertex, int], profile: Profile) -> Fields:
    consumers = [[index_of[edge.target], edge.target.inputs.index(edge)] for edge in data_set.consumers]
    fields = {"type": data_set.result_type, "consumers": consumers}
    return fields if profile is OLD else {**fields, "id": data_set.id.hex()}


def _config(vertex: JobVertex, config: Config, profile: Profile) -> Fields:
    written = config.managed_memory_fraction if config is vertex.head else vertex.fractions.get(config.node.id, 0.0)
    fields = {
        "node": config.node.id,
        "operator_id": config.operator_id.hex(),
        "operator_name": config.node.name,
        "chain_index": config.chain_index,
        "chain_start": config.chain_start,
        "chain_end": not config.chained_outputs,
        "chained_outputs": [edge.index for edge in config.chained_outputs],
    }
    if profile is OLD:
        leaving = [edge.index for edge in config.non_chained_outputs]
        more = {"managed_memory_fraction": written, "non_chained_outputs": leaving, "number_of_outputs": len(leaving)}
        return {**fields, **more}
    outputs = sum(data_set.edge.source is config.node for data_set in vertex.results)
    return {**fields, "managed_memory_fraction_operator": written, "number_of_outputs": outputs}


def _checkpointing(graph: StreamGraph, job: JobGraph, index_of: dict[JobVertex, int]) -> Fields:
    interval = graph.settings["checkpoint_interval"] if graph.checkpoints else -1
    vertices = [job.vertices[head] for head in hash_order(job.vertices)]
    everybody = [index_of[vertex] for vertex in vertices]
    return {
        "interval": interval if interval >= MINIMAL_CHECKPOINT_INTERVAL else LONG_MAX,
        "trigger": [index_of[vertex] for vertex in vertices if not vertex.inputs],
        "acknowledge": everybody,
        "confirm": everybody,
    }


def of_execution_graph(job: JobGraph, profile: Profile) -> Fields:
    graph = execution_graph.build(job, profile)
    total_edges = sum(len(partitions) for vertex in graph for subtasks in vertex.inputs for partitions in subtasks)
    total_groups = sum(len(execution_graph.groups(subtasks)) for vertex in graph for subtasks in vertex.inputs)
    positions = {vertex: index for index, vertex in enumerate(job.vertices.values())}
    listed = (total_edges if profile is OLD else total_groups) <= MAX_LISTED
    fields = {
        "total_vertices": sum(vertex.parallelism for vertex in graph),
        "total_edges": total_edges,
        "vertices": [_execution_vertex(graph, vertex, positions, profile, listed=listed) for vertex in graph],
        "sha256_inputs": execution_graph.checksum(execution_graph.edges_by_input(graph)),
    }
    if profile is OLD:
        return {**fields, "sha256_consumers": execution_graph.checksum(execution_graph.edges_by_result(graph))}
    return {**fields, "total_groups": total_groups}


def _execution_vertex(
    graph: list[ExecutionVertex],
    vertex: ExecutionVertex,
    positions: dict[JobVertex, int],
    profile: Profile,
    *,
    listed: bool,
) -> Fields:
    index_of = {other.job_vertex: other.index for other in graph}
    read = _partitions if profile is OLD else _groups
    written = _consumers if profile is OLD else _consumer_groups
    inputs = [
        {
            "source": index_of[edge.data_set.producer],
            "result": edge.data_set.producer.results.index(edge.data_set),
            **(read(partitions) if listed else {}),
        }
        for edge, partitions in zip(vertex.job_vertex.inputs, vertex.inputs, strict=True)
    ]
    results = [
        {"type": data_set.result_type, **(written(partitions) if listed else {})}
        for data_set, partitions in zip(vertex.job_vertex.results, vertex.results, strict=True)
    ]
    configured = vertex.job_vertex.max_parallelism != execution_graph.UNSET
    return {
        "job_vertex": positions[vertex.job_vertex],
        "parallelism": vertex.parallelism,
        "max_parallelism": vertex.max_parallelism,
        "inputs": inputs,
        "results": results,
        **({"max_parallelism_configured": configured} if profile is OLD else {}),
    }


def _partitions(partitions: list[list[int]]) -> Fields:
    return {"partitions": partitions}


def _groups(partitions: list[list[int]]) -> Fields:
    groups = execution_graph.groups(partitions)
    return {
        "groups": [
            {"partitions": [sources[0], sources[-1]], "consumers": [subtasks[0], subtasks[-1]]}
            for sources, subtasks in groups
        ]
    }


def _consumers(result: list[list[tuple[int, int, int]]]) -> Fields:
    return {"consumers": [list(map(list, consumers)) for consumers in result]}


def _consumer_groups(result: list[list[tuple[int, int, int]]]) -> Fields:
    """Per partition, the consumers of one input as a range."""
    return {"consumer_groups": [_ranges(consumers) for consumers in result]}


def _ranges(consumers: list[tuple[int, int, int]]) -> list[list[int]]:
    inputs: dict[tuple[int, int], list[int]] = {}
    for consumer, number, subtask in consumers:
        inputs.setdefault((consumer, number), []).append(subtask)
    return [[consumer, subtasks[0], subtasks[-1]] for (consumer, _), subtasks in inputs.items()]
