"""Builds the model of a program, or of a bare graph. Everything is the planner's; nothing is decided here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple

from penstock._native import ExecutionGraph, JobGraph, JobVertex, StreamGraph, StreamNode, default_max_parallelism
from penstock.analysis.facts import facts_of
from penstock.analysis.model import EdgeModel, JobEdgeModel, OperatorModel, ProgramModel, Site, VertexModel
from penstock.analysis.program import Program
from penstock.analysis.states import Declared, declared, key_of
from penstock.errors import PenstockError

TYPES = {
    "StreamMap": "Map",
    "StreamFlatMap": "FlatMap",
    "StreamFilter": "Filter",
    "StreamMapBatches": "Map",
    "StreamFlatMapBatches": "FlatMap",
    "StreamFilterBatches": "Filter",
    "ProcessOperator": "Process",
    "KeyedProcessOperator": "KeyedProcess",
    "GroupedReduce": "Reduce",
    "GroupedFold": "Fold",
    "WindowOperator": "Window",
    "StreamSource": "Source",
    "StreamSink": "Sink",
}
"""The names that users have for operators, by class; others have the name of their class."""
_LOOPS = {"iteration_head": "IterationHead", "iteration_tail": "IterationTail"}


class _Objects(NamedTuple):
    """The facts of an operator that are not in the graph."""

    type: str = ""
    keyed: bool | None = None
    key_type: str | None = None
    states: Declared = Declared(None, "only the graph of the operator is known")
    site: Site | None = None
    description: str = ""
    facts: Mapping[str, str] = MappingProxyType({})


class _Planned(NamedTuple):
    """The graphs that the planner makes, and why it refuses the next one."""

    ids: Mapping[int, str] = MappingProxyType({})
    jobs: JobGraph | None = None
    executions: ExecutionGraph | None = None
    refused: str | None = None


def model_of(program: Program, *, states: bool = True) -> ProgramModel:
    """The model of a program; with ``states`` its functions are opened to see them. O(operators + edges)."""
    known = declared(program) if states else {}
    unopened = Declared(None, "the functions were not opened")
    objects = {node: _objects(program, node, known.get(node, unopened)) for node in program.operators}
    graph = program.stream_graph
    return _model(program.name, program.flink, graph, _plan(graph, program.job_graph), objects)


def model_of_graph(graph: StreamGraph, flink: str = "1.11") -> ProgramModel:
    """The model of a graph without Python objects, whose states and sites are unknown. O(operators + edges)."""
    return _model(graph.job_name, flink, graph, _plan(graph, lambda: graph.job_graph(flink=flink)), {})


def model_of_record(spec: Mapping[str, Any], flink: str = "1.11") -> ProgramModel:
    """The model of a described graph (docs/planning.md, "The description (FORMAT)"). O(operators + edges)."""
    return model_of_graph(StreamGraph.from_json(json.dumps(spec)), flink)


def model_of_planned(graph: StreamGraph | JobGraph | ExecutionGraph) -> ProgramModel:
    """The model of a graph as far as it is planned already: without the graphs that follow."""
    if isinstance(graph, StreamGraph):
        try:
            planned = _Planned(graph.operator_ids())
        except PenstockError as error:
            planned = _Planned(refused=str(error))
        return _model(graph.job_name, "1.11", graph, planned, {})
    executions = graph if isinstance(graph, ExecutionGraph) else None
    jobs = graph if isinstance(graph, JobGraph) else graph.job_graph
    planned = _Planned(jobs.stream_graph.operator_ids(), jobs, executions)
    return _model(jobs.name, jobs.flink, jobs.stream_graph, planned, {})


def _objects(program: Program, node: int, known: Declared) -> _Objects:
    operator = program.operators[node]
    key = key_of(operator)
    key_type = getattr(key, "key_type", None)
    shown = None if key_type is None else repr(key_type)
    about = (program.sites.get(node), program.descriptions.get(node, ""), facts_of(program, node))
    return _Objects(type_of(operator), key is not None, shown, known, *about)


def type_of(operator: Any) -> str:
    """The name that users have for an operator; for a source or a sink that is an object, its class."""
    kind = type(operator).__name__
    if kind == "PlanOnly":
        return str(operator.call)
    function = getattr(operator, "function", None)
    if kind in ("StreamSource", "StreamSink") and not isinstance(function, FunctionType):
        return type(getattr(function, "source", function)).__name__
    both = ("CoProcess", "BroadcastProcess")
    return f"Keyed{kind}" if kind in both and key_of(operator) is not None else TYPES.get(kind, kind)


def _plan(graph: StreamGraph, compile_it: Callable[[], JobGraph]) -> _Planned:
    planned = _Planned()
    try:
        planned = planned._replace(ids=graph.operator_ids())
        planned = planned._replace(jobs=compile_it())
        return planned._replace(executions=planned.jobs.execution_graph())  # type: ignore[union-attr]
    except PenstockError as error:
        return planned._replace(refused=str(error))


def _model(
    name: str, flink: str, graph: StreamGraph, planned: _Planned, objects: Mapping[int, _Objects]
) -> ProgramModel:
    jobs, executions = planned.jobs, planned.executions
    vertices: tuple[VertexModel, ...] = ()
    job_edges: tuple[JobEdgeModel, ...] = ()
    order: tuple[int, ...] = ()
    places: dict[int, tuple[int, int]] = {}  # the first vertex of an operator, and its depth in the chain
    if jobs is not None:
        groups = {node.id: node.slot_sharing_group or "" for node in graph.nodes}
        effective = {vertex.job_vertex: vertex.max_parallelism for vertex in executions.vertices} if executions else {}
        vertices = tuple(_vertex(vertex, groups, effective) for vertex in jobs.vertices)
        counts = [0] * len(jobs.edges) if executions is None else executions.edge_counts
        job_edges = tuple(
            JobEdgeModel(
                *(edge.source, edge.target, edge.ship_strategy, edge.distribution, edge.result_type),
                *(edge.stream_edge, edge.result, edge.input, count),
            )
            for edge, count in zip(jobs.edges, counts, strict=True)
        )
        order = tuple(jobs.topological_order)
        for vertex in jobs.vertices:
            first = vertex.chain[0].chain_index  # Flink 1.11 counts from 0, 2.3 from 1
            for operator in vertex.chain:
                places.setdefault(operator.node, (vertex.index, operator.chain_index - first))
    by_index = {vertex.index: vertex for vertex in vertices}
    edges = graph.edges
    hashed = {edge.target for edge in edges if edge.partitioner == "HASH"}
    none = _Objects()
    operators = tuple(
        _operator(node, planned.ids, places.get(node.id), by_index, objects.get(node.id, none), node.id in hashed)
        for node in graph.nodes
    )
    connections = tuple(
        EdgeModel(
            *(edge.source, edge.target, edge.index, edge.partitioner),
            *(verdict.chained, verdict.rule, verdict.reason or "", edge.side_output, edge.type_number),
        )
        for edge, verdict in zip(edges, graph.verdicts(), strict=True)
    )
    return ProgramModel(name, flink, operators, connections, vertices, job_edges, planned.refused, order=order)


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
    effective = configured or default_max_parallelism(node.parallelism)
    states = known.states.states
    return OperatorModel(
        node=node.id,
        name=node.name,
        kind=node.kind if node.kind in ("source", "sink") else "operator",
        type=known.type or _LOOPS.get(node.kind, ""),
        uid=node.uid,
        user_hash=node.user_hash,
        operator_id=ids.get(node.id, ""),
        origin="position" if node.uid is None else "uid",
        pinned=None if node.user_hash is None else node.user_hash.lower(),
        parallelism=node.parallelism,
        max_parallelism=configured,
        effective_max_parallelism=effective if vertex is None else vertices[vertex].max_parallelism,
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
        facts=dict(known.facts),
    )


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
        vertex.invokable,
    )
