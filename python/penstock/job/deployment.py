"""From a planned program to task descriptors: what :mod:`penstock.local` and :mod:`penstock.spark` run.

The plan has decided everything; here each JobVertex gets a *level*, depth(source) = 0 and depth(v) = 1 + max(depth of
its inputs), and its subtasks get slots in the level. User code is pickled, once. Cost: O(V + E), no recursion.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.errors import InvalidProgramError, UnsupportedError
from penstock.job.batch_edges import BatchEdges
from penstock.job.pickling import pickle_operator
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.config.pointwise import POINTWISE
from penstock.runtime.config.tasks import (
    ChainedOutput,
    Deployment,
    Destination,
    InputEdge,
    JobConfig,
    NetworkOutput,
    OperatorConfig,
    VertexConfig,
)
from penstock.runtime.io.sinks import TextSink
from penstock.runtime.keys.keygroups import default_max_parallelism
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.iteration import IterationHead, IterationTail
from penstock.runtime.operators.sink import StreamSink

_ENDS: dict[str, StreamOperator] = {"StreamIterationHead": IterationHead(), "StreamIterationTail": IterationTail()}
"""What runs at the ends of a loop, by task class."""

_SHARED = frozenset({"FORWARD", "GLOBAL", "BROADCAST", "HASH"})
"""Partitioners that choose the same channels for a record on every edge with the same attributes."""


def deploy(pipeline: Any, *, loops: bool = False) -> Deployment:
    """The task descriptors of a program.

    Args:
        pipeline: a :class:`penstock.plan.Pipeline`.
        loops: whether the executor can lead records back.

    Raises:
        UnsupportedError: the program has an iteration, and the executor or the mode cannot; or something else that
            BATCH mode cannot.
        InvalidProgramError: an operator is missing, or its code cannot be pickled.
        PenstockError: what an operator's own check refuses, such as a missing input file.
        PlanError: what the planner refuses.
    """
    batch = pipeline.settings.batch
    job_graph = pipeline.job_graph()
    if batch or not loops:
        _refuse_iterations(job_graph, batch)
    parallelism = {v.job_vertex: (v.parallelism, v.max_parallelism) for v in job_graph.execution_graph().vertices}
    levels, level_of = _levels(job_graph)
    places = _places(job_graph, levels, level_of, parallelism)
    operators = _prepared(pipeline, job_graph, places)
    edges = BatchEdges(operators, combine=pipeline.settings.combine) if batch else None
    vertices = _Vertices(pipeline, operators, job_graph, places, edges)
    job = JobConfig(pipeline.name, uuid.uuid4().hex, pipeline.settings)
    return Deployment(job, tuple(map(vertices.config, job_graph.vertices)), levels)


def sinks(pipeline: Any) -> dict[int, StreamSink]:
    """The sinks of a program by stream node."""
    return {node: op for node, op in pipeline.operators.items() if isinstance(op, StreamSink)}


def _refuse_iterations(job_graph: Any, batch: bool) -> None:
    loops = [v.name for v in job_graph.vertices if v.invokable in _ENDS]
    if loops and batch:
        raise UnsupportedError(
            f"The program has an iteration ({loops[0]!r}), iterate(), and BATCH mode reads all input of an operator "
            "before it emits: nothing could go round. Run it in STREAMING mode, or unroll the loop."
        )
    if loops:
        raise UnsupportedError(
            f"The program has an iteration ({loops[0]!r}), iterate(), and a Spark job has no way back. Run it with the "
            "local executor, unroll the loop, or run the steps as several programs."
        )


def _levels(job_graph: Any) -> tuple[tuple[tuple[int, ...], ...], list[int]]:
    """Vertex indices per level, and the level of each vertex."""
    level = [0] * len(job_graph.vertices)
    for index in job_graph.topological_order:
        inputs = job_graph.vertices[index].inputs
        level[index] = 1 + max((level[edge.source] for edge in inputs), default=-1)
    groups: list[list[int]] = [[] for _ in range(max(level, default=-1) + 1)]
    for index, depth in enumerate(level):
        groups[depth].append(index)
    return tuple(map(tuple, groups)), level


@dataclass(frozen=True)
class _Place:
    """Where a vertex runs."""

    level: int
    offset: int
    parallelism: int
    max_parallelism: int


def _places(
    job_graph: Any, levels: Any, level_of: list[int], parallelism: Mapping[int, tuple[int, int]]
) -> list[_Place]:
    offsets = [0] * len(job_graph.vertices)
    for group in levels:
        next_slot = 0
        for index in group:
            offsets[index] = next_slot
            next_slot += parallelism[index][0]
    return [_Place(level_of[i], offsets[i], *parallelism[i]) for i in range(len(offsets))]


def _prepared(pipeline: Any, job_graph: Any, places: list[_Place]) -> dict[int, StreamOperator]:
    """The operators as they travel, by node: each is there and accepts to run like this, and no two sinks write to one
    place."""
    result: dict[int, StreamOperator] = {}
    outputs = _Outputs()
    for vertex, place in zip(job_graph.vertices, places, strict=True):
        for link in vertex.chain:
            operator = _ENDS.get(vertex.invokable) or pipeline.operators.get(link.node)
            if not isinstance(operator, StreamOperator):
                raise InvalidProgramError(
                    f"Operator {link.name!r} (node {link.node}) has nothing to run: its entry in the pipeline is "
                    f"{operator!r}. Build the program with penstock.datastream, or give every node an operator of "
                    "penstock.runtime.operators."
                )
            operator = result[link.node] = operator.prepare(place.parallelism)
            if isinstance(operator, StreamSink) and isinstance(operator.function, TextSink):
                outputs.add(operator.function.path, link.name)
    return result


class _Outputs:
    """The paths of text sinks: none is another's, or inside another's. O(depth of the path) each."""

    def __init__(self) -> None:
        self._sinks: dict[Path, str] = {}
        self._folders: dict[Path, str] = {}  # all that contain an output, and a sink that writes there

    def add(self, path: str, name: str) -> None:
        """Take one more.

        Raises:
            InvalidProgramError: it is taken already, also under another spelling, or by a folder above or below.
        """
        real = Path(os.path.realpath(path))
        for place in (real, *real.parents):
            if place in self._sinks:
                self._refuse(self._sinks[place], name, path)
        if real in self._folders:
            self._refuse(self._folders[real], name, path)
        self._sinks[real] = name
        self._folders.update(dict.fromkeys(real.parents, name))

    def _refuse(self, first: str, second: str, path: str) -> None:
        raise InvalidProgramError(
            f"The sinks {first!r} and {second!r} both write to {path!r}, or one inside the folder of the other. Give "
            "each its own path, or unite the streams before one sink."
        )


class _Vertices:
    """Makes the descriptors of vertices."""

    def __init__(
        self,
        pipeline: Any,
        operators: Mapping[int, StreamOperator],
        job_graph: Any,
        places: list[_Place],
        sorting: BatchEdges | None,
    ) -> None:
        graph = pipeline.stream_graph
        self._pipeline = pipeline
        self._operators = operators
        self._nodes = {node.id: node for node in graph.nodes}
        self._edges = list(graph.edges)
        self._ids = graph.operator_ids()
        self._exact_shares = job_graph.flink != "1.11"
        self._places = places
        self._sorting = sorting
        self._vertex_of = {link.node: v.index for v in job_graph.vertices for link in v.chain}
        heads = [v.chain[0].node for v in job_graph.vertices if v.invokable == "StreamIterationHead"]
        self._way_back = {head: len(self._edges) + i for i, head in enumerate(heads)}

    def config(self, vertex: Any) -> VertexConfig:
        """The descriptor of one vertex."""
        place = self._places[vertex.index]
        position = {link.node: i for i, link in enumerate(vertex.chain)}
        operators = tuple(self._operator(link, place, position) for link in vertex.chain)
        if self._sorting is not None:
            self._sorting.check_chain(vertex.chain)
        edges = [self._edges[e] for e in vertex.in_edges]
        inputs = tuple(self._input(edge, edges) for edge in edges)
        back = self._way_back.get(vertex.chain[0].node)
        if back is not None:
            inputs = (InputEdge(back, 0, place.parallelism, pointwise=True),)
        return VertexConfig(
            vertex.index,
            vertex.id,
            vertex.name,
            place.parallelism,
            place.max_parallelism,
            place.level,
            place.offset,
            operators,
            inputs,
        )

    def _operator(self, link: Any, place: _Place, position: Mapping[int, int]) -> OperatorConfig:
        node = self._nodes[link.node]
        chained = (self._edges[e] for e in link.chained_outputs)
        return OperatorConfig(
            node=link.node,
            operator_id=self._ids[link.node],
            name=link.name,
            uid=node.uid,
            max_parallelism=node.max_parallelism if node.max_parallelism > 0 else place.max_parallelism,
            operator=pickle_operator(self._operators[link.node], link.name),
            chained=tuple(
                ChainedOutput(e.side_output, position[e.target], e.type_number, self._record_type(e)) for e in chained
            ),
            network=tuple(self._network(link)),
            input_type=self._input_type(node),
        )

    def _input_type(self, node: Any) -> TypeInformation | None:
        """The type of what an operator reads; a sink's own entry says it too."""
        own = self._pipeline.types.get(node.id)
        if own is not None and isinstance(self._operators[node.id], StreamSink):
            return own
        return self._record_type(self._edges[node.in_edges[0]]) if node.in_edges else None

    def _record_type(self, edge: Any) -> TypeInformation | None:
        """The type of an edge's records: its node's, or the side output's where the pipeline has it by (node, tag)."""
        key = edge.source if edge.side_output is None else (edge.source, edge.side_output)
        return self._pipeline.types.get(key)

    def _network(self, link: Any) -> Iterator[NetworkOutput]:
        """Outputs over the exchange; edges that choose the same channels for every record are one output."""
        if link.node + 1 in self._way_back:
            yield self._feedback(link.node)
        groups: dict[Any, list[Any]] = {}
        for ordinal, index in enumerate(link.non_chained_outputs):
            edge = self._edges[index]
            target = self._places[self._vertex_of[edge.target]]
            same = (edge.side_output, edge.partitioner, edge.partition_node, target.parallelism, target.max_parallelism)
            by, combined = self._sorted(edge)
            key = (*same, id(by), combined) if edge.partitioner in _SHARED else (ordinal,)
            groups.setdefault(key, []).append(edge)
        for edges in groups.values():
            yield self._network_output(link, edges)

    def _feedback(self, tail: int) -> NetworkOutput:
        """The way from a loop's tail to its head, an edge that no plan shows. The head's node is the next number."""
        head = self._places[self._vertex_of[tail + 1]]
        way = Destination(self._way_back[tail + 1], head.level, head.offset)
        most = head.max_parallelism or default_max_parallelism(head.parallelism)
        return NetworkOutput(None, "FORWARD", None, head.parallelism, most, "", (way,), None)

    def _network_output(self, link: Any, edges: list[Any]) -> NetworkOutput:
        edge = edges[0]
        targets = [self._places[self._vertex_of[e.target]] for e in edges]
        ordinal = link.non_chained_outputs.index(edge.index)
        key, combined = self._sorted(edge)
        return NetworkOutput(
            side_tag=edge.side_output,
            partitioner=edge.partitioner,
            partition=self._partition(edge, link.name, key),
            parallelism=targets[0].parallelism,
            max_parallelism=targets[0].max_parallelism or default_max_parallelism(targets[0].parallelism),
            seed=f"{self._ids[edge.source]}/{ordinal}/{self._ids[edge.target]}",
            destinations=tuple(Destination(e.index, t.level, t.offset) for e, t in zip(edges, targets, strict=True)),
            record_type=self._record_type(edge),
            exact_shares=self._exact_shares,
            sorted=key is not None,
            combined=combined,
        )

    def _sorted(self, edge: Any) -> tuple[KeyPartition | None, Any]:
        """The key by which the records of an edge are sorted, and the reduction that may be applied before."""
        if self._sorting is None:
            return None, None
        return self._sorting.key(edge), self._sorting.combined(edge, self._record_type(edge))

    def _partition(self, edge: Any, name: str, key: KeyPartition | None) -> bytes | None:
        if key is None and edge.partitioner not in ("HASH", "CUSTOM"):
            return None
        spec = key or self._pipeline.partitioners.get(edge.partition_node)
        if spec is None:
            raise InvalidProgramError(
                f"The {edge.partitioner} edge behind operator {name!r} has no partitioner: the pipeline has none for "
                f"the virtual node {edge.partition_node}. Add a KeyPartition or CustomPartition there."
            )
        return pickle_operator(spec, f"{name} ({edge.partitioner} partitioner)")

    def _input(self, edge: Any, beside: list[Any]) -> InputEdge:
        sorting = self._sorting
        return InputEdge(
            edge.index,
            edge.type_number,
            self._places[self._vertex_of[edge.source]].parallelism,
            edge.partitioner in POINTWISE,
            self._exact_shares,
            sorting is not None and sorting.key(edge) is not None,
            sorting is not None and sorting.early(edge, beside),
        )
