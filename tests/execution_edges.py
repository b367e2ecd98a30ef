"""The single edges between the subtasks of an ExecutionGraph, seen from either end."""

from __future__ import annotations

from penstock.plan import ExecutionGraph

Edge = tuple[int, ...]  # consumer, subtask, input, producer, result, partition


def from_inputs(graph: ExecutionGraph) -> list[Edge]:
    """As the groups of the readers tell them, by reader."""
    return [
        (vertex.index, subtask.subtask, group.input, group.producer, group.result, partition)
        for vertex in graph.vertices
        for subtask in vertex.subtasks
        for group in subtask.inputs
        for partition in range(group.first, group.last + 1)
    ]


def from_results(graph: ExecutionGraph) -> list[Edge]:
    """As the consumers of the results tell them, by writer."""
    return [
        (consumer, subtask, number, vertex.index, result, partition)
        for vertex in graph.vertices
        for result in range(len(graph.job_graph.vertices[vertex.job_vertex].results))
        for partition in range(vertex.parallelism)
        for consumer, number, first, last in vertex.consumers(result, partition)
        for subtask in range(first, last + 1)
    ]
