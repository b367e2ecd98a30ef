"""From a program, or a bare graph, to its model. Everything is the planner's; nothing is decided here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import FunctionType
from typing import Any, NamedTuple

from penstock.analysis.declared import Declared, declared, key_of
from penstock.analysis.model import (
    EdgeModel,
    JobEdgeModel,
    OperatorModel,
    ProgramModel,
    Site,
    VertexModel,
    default_max_parallelism,
)
from penstock.errors import PenstockError
from penstock.plan import ExecutionGraph, JobEdge, JobGraph, JobVertex, Pipeline, StreamGraph, StreamNode

TYPES = {
    "StreamMap": "Map",
    "StreamFlatMap": "FlatMap",
    "StreamFilter": "Filter",
    "ProcessOperator": "Process",
    "KeyedProcessOperator": "KeyedProcess",
    "GroupedReduce": "Reduce",
    "GroupedFold": "Fold",
    "WindowOperator": "Window",
    "CoMap": "CoMap",
    "CoFlatMap": "CoFlatMap",
    "CoProcess": "CoProcess",
    "BroadcastProcess": "BroadcastProcess",
    "StreamSource": "Source",
    "StreamSink": "Sink",
}
"""What users call the operators, by class; others have the name of their class."""

_KINDS = {"source": "source", "sink": "sink"}


class _Objects(NamedTuple):
    """What is known of an operator besides the graph."""

    type: str = ""
    keyed: bool | None = None
    key_type: str | None = None
    states: Declared = Declared(None, "only the graph of the operator is known")
    site: Site | None = None
    description: str = ""


class _Planned(NamedTuple):
    """The graphs as far as the planner makes them, and why not further."""

    ids: Mapping[int, str]
    jobs: JobGraph | None
    executions: ExecutionGraph | None
    refused: str | None


def model_of(pipeline: Pipeline, *, states: bool = True) -> ProgramModel:
    """The model of a program. O(operators + edges), and what ``open`` of its functions takes.

    Args:
        pipeline: the program.
        states: whether its functions shall be opened to see their states (:mod:`penstock.analysis.declared`); without,
            the states of all operators are unknown.
    """
    known = declared(pipeline) if states else {}
    undeclared = Declared(None, "the functions were not opened")
    objects = {node: _objects(pipeline, node, known.get(node, undeclared)) for node in pipeline.operators}
    planned = _plan(pipeline.stream_graph, pipeline.job_graph)
    return _model(pipeline.name, pipeline.flink, pipeline.stream_graph, planned, objects)


def model_of_graph(graph: StreamGraph, flink: str = "1.11") -> ProgramModel:
    """The model of a graph without Python objects, so that states and places are unknown. O(operators + edges).

    Args:
        graph: of a program.
        flink: the Flink version to plan as.
    """
    return _model(graph.job_name, flink, graph, _plan(graph, lambda: graph.job_graph(flink=flink)), {})


def model_of_record(spec: Mapping[str, Any], flink: str = "1.11") -> ProgramModel:
    """The model of a described graph (docs/planning.md, "The description (FORMAT)"). O(operators + edges).

    Args:
        spec: the description.
        flink: the Flink version to plan as.

    Raises:
        SpecError: it is none.
        StreamGraphError: no graph can be made of it.
    """
    return model_of_graph(StreamGraph.from_json(json.dumps(spec)), flink)


def _objects(pipeline: Pipeline, node: int, known: Declared) -> _Objects:
    operator = pipeline.operators[node]
    key = key_of(operator)
    key_type = getattr(getattr(key, "key_type", None), "key_type", getattr(key, "key_type", None))
    return _Objects(
        _type(operator),
        key is not None,
        None if key_type is None else repr(key_type),
        known,
        pipeline.sites.get(node),
        pipeline.descriptions.get(node, ""),
    )


def _type(operator: Any) -> str:
    """What users call an operator; of a source or a sink that is an object, its class."""
    kind = type(operator).__name__
    if kind == "PlanOnly":
        return str(operator.call)
    function = getattr(operator, "function", None)
    if kind in ("StreamSource", "StreamSink") and not isinstance(function, FunctionType):
        return type(getattr(function, "source", function)).__name__
    both = ("CoProcess", "BroadcastProcess")
    return f"Keyed{kind}" if kind in both and key_of(operator) is not None else TYPES.get(kind, kind)


def _plan(graph: StreamGraph, compile_it: Any) -> _Planned:
    try:
        ids = graph.operator_ids()
    except PenstockError as error:
        return _Planned({}, None, None, str(error))
    try:
        jobs: JobGraph = compile_it()
    except PenstockError as error:
        return _Planned(ids, None, None, str(error))
    try:
        return _Planned(ids, jobs, jobs.execution_graph(), None)
    except PenstockError as error:
        return _Planned(ids, jobs, None, str(error))


def _model(
    name: str, flink: str, graph: StreamGraph, planned: _Planned, objects: Mapping[int, _Objects]
) -> ProgramModel:
    vertices = () if planned.jobs is None else _vertices(graph, planned.jobs, planned.executions)
    places = _places(planned.jobs)
    by_index = {vertex.index: vertex for vertex in vertices}
    edges = graph.edges
    hashed = {edge.target for edge in edges if edge.partitioner == "HASH"}
    none = _Objects()
    operators = tuple(
        _operator(node, planned.ids, places.get(node.id), by_index, objects.get(node.id, none), node.id in hashed)
        for node in graph.nodes
    )
    pairs = zip(edges, graph.verdicts(), strict=True)
    return ProgramModel(
        name,
        flink,
        operators,
        tuple(
            EdgeModel(
                edge.source,
                edge.target,
                edge.index,
                edge.partitioner,
                verdict.chained,
                verdict.rule,
                verdict.reason or "",
                edge.side_output,
                edge.type_number,
            )
            for edge, verdict in pairs
        ),
        vertices,
        () if planned.jobs is None else tuple(_job_edge(edge, by_index) for edge in planned.jobs.edges),
        planned.refused,
    )


def _operator(
    node: StreamNode,
    ids: Mapping[int, str],
    place: tuple[int, int] | None,
    vertices: Mapping[int, VertexModel],
    known: _Objects,
    hashed: bool,
) -> OperatorModel:
    vertex, index = place if place is not None else (None, None)
    configured = node.max_parallelism if node.max_parallelism > 0 else None
    alone = configured or default_max_parallelism(node.parallelism)
    states = known.states.states
    return OperatorModel(
        node=node.id,
        name=node.name,
        kind=_KINDS.get(node.kind, "operator"),
        type=known.type or _LOOPS.get(node.kind, ""),
        uid=node.uid,
        user_hash=node.user_hash,
        operator_id=ids.get(node.id, ""),
        origin="position" if node.uid is None else "uid",
        pinned=None if node.user_hash is None else node.user_hash.lower(),
        parallelism=node.parallelism,
        max_parallelism=configured,
        effective_max_parallelism=alone if vertex is None else vertices[vertex].max_parallelism,
        vertex=vertex,
        chain_index=index,
        slot_sharing_group=node.slot_sharing_group or "",
        chaining=node.chaining_strategy,
        keyed=hashed if known.keyed is None else known.keyed,
        stateful=None if states is None else bool(states),
        states=states,
        site=known.site,
        description=known.description,
        key_type=known.key_type,
        unknown=known.states.unknown,
    )


_LOOPS = {"iteration_head": "IterationHead", "iteration_tail": "IterationTail"}


def _places(jobs: JobGraph | None) -> dict[int, tuple[int, int]]:
    """The first vertex of each operator, and how deep in its chain it stands: Flink 1.11 counts from 0, 2.3 from 1."""
    places: dict[int, tuple[int, int]] = {}
    for vertex in () if jobs is None else jobs.vertices:
        chain = vertex.chain
        for operator in chain:
            places.setdefault(operator.node, (vertex.index, operator.chain_index - chain[0].chain_index))
    return places


def _vertices(graph: StreamGraph, jobs: JobGraph, executions: ExecutionGraph | None) -> tuple[VertexModel, ...]:
    groups = {node.id: node.slot_sharing_group or "" for node in graph.nodes}
    effective = {each.job_vertex: each.max_parallelism for each in executions.vertices} if executions else {}
    return tuple(_vertex(vertex, groups, effective) for vertex in jobs.vertices)


def _vertex(vertex: JobVertex, groups: Mapping[int, str], effective: Mapping[int, int]) -> VertexModel:
    configured = vertex.max_parallelism if vertex.max_parallelism > 0 else default_max_parallelism(vertex.parallelism)
    resources = vertex.min_resources
    names = ("cpu", "heap_mb", "off_heap_mb", "managed_mb")
    return VertexModel(
        vertex.index,
        vertex.id,
        vertex.name,
        tuple(operator.node for operator in vertex.chain),
        max(vertex.parallelism, 1),
        effective.get(vertex.index, configured),
        groups.get(vertex.head, ""),
        {} if resources is None else dict(zip(names, resources, strict=True)),
    )


def _job_edge(edge: JobEdge, vertices: Mapping[int, VertexModel]) -> JobEdgeModel:
    subtasks = vertices[edge.source].parallelism, vertices[edge.target].parallelism
    return JobEdgeModel(
        edge.source,
        edge.target,
        edge.ship_strategy,
        edge.distribution,
        edge.result_type,
        edge.stream_edge,
        edge.result,
        edge.input,
        subtasks[0] * subtasks[1] if edge.distribution == "ALL_TO_ALL" else max(subtasks),
    )
