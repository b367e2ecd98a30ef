"""A program's side of a restore: its vertices with the IDs, parallelism and inputs that Flink compares."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from penstock.plan import JobGraph, Pipeline, StreamGraph
from penstock.plan.types import FlinkVersion


@dataclass(frozen=True)
class PlannedOperator:
    """An operator of a program."""

    generated: str
    pinned: str | None
    name: str = ""
    uid: str | None = None
    node: int = -1

    @property
    def label(self) -> str:
        """For display."""
        return f"{self.name!r}" + (f" (uid {self.uid!r})" if self.uid is not None else "")


@dataclass(frozen=True)
class PlannedVertex:
    """A vertex of a program."""

    id: str
    name: str
    parallelism: int
    max_parallelism: int
    configured: bool
    operators: tuple[PlannedOperator, ...]
    inputs: tuple[tuple[int, bool], ...]


@dataclass(frozen=True)
class RestorePlan:
    """A program as Flink plans it."""

    flink: str
    vertices: tuple[PlannedVertex, ...]


def plan_of(program: Mapping[str, object] | str | StreamGraph | JobGraph | Pipeline, flink: str) -> RestorePlan:
    """Plan a described graph (as data or JSON), a graph, or a captured pipeline as Flink ``"1.11"`` or ``"2.3"`` does.
    A job graph is used unchanged.

    Raises:
        SpecError: the description is invalid.
        PlanError: Flink would refuse the graph.
        UnsupportedError: another version of Flink.
    """
    if isinstance(program, JobGraph):
        return _of_job_graph(program)
    if isinstance(program, Pipeline):
        graph = program.stream_graph
    elif isinstance(program, StreamGraph):
        graph = program
    else:
        graph = StreamGraph.from_json(program if isinstance(program, str) else json.dumps(program))
    return _of_job_graph(graph.job_graph(flink=cast(FlinkVersion, flink)))


def _of_job_graph(graph: JobGraph) -> RestorePlan:
    nodes = {node.id: node for node in graph.stream_graph.nodes}
    jobs = graph.vertices
    execution_vertices = graph.execution_graph().vertices
    at = {vertex.job_vertex: index for index, vertex in enumerate(execution_vertices)}
    vertices: list[PlannedVertex] = []
    for vertex in execution_vertices:
        job = jobs[vertex.job_vertex]
        operators = tuple(
            PlannedOperator(generated, pinned, nodes[node].name, nodes[node].uid, node)
            for (generated, pinned), node in zip(job.operator_ids, job.operator_nodes, strict=True)
        )
        inputs = tuple((at[edge.source], edge.distribution == "ALL_TO_ALL") for edge in job.inputs)
        sizes = (vertex.parallelism, vertex.max_parallelism, vertex.max_parallelism_configured)
        vertices.append(PlannedVertex(job.id, job.name, *sizes, operators, inputs))
    return RestorePlan(graph.flink, tuple(vertices))
