"""SPEC -> StreamGraph: nodes, iteration heads and tails, edges with their partitioners."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.reference import errors
from tests.reference.errors import FlinkError
from tests.reference.java import hash_order
from tests.reference.profile import Profile

DEFAULT_SLOT_SHARING_GROUP = "default"

SETTINGS: dict[str, Any] = {
    "job_name": "job",
    "exchange_mode": "ALL_EDGES_PIPELINED",
    "schedule_mode": "EAGER",
    "checkpointing_enabled": False,
    "checkpoint_interval": 1000,
    "checkpointing_mode": "EXACTLY_ONCE",
    "force_checkpointing": False,
    "all_vertices_in_same_slot_sharing_group": True,
}


@dataclass(eq=False)
class Node:
    """One operator of the program; ``has_operator`` is false for iteration heads and tails."""

    id: int
    name: str
    invokable: str
    is_source: bool
    is_sink: bool
    has_operator: bool
    is_stream_source: bool
    yielding: bool
    chaining_strategy: str
    uid: str | None
    user_hash: str | None
    slot_sharing_group: str | None
    co_location_group: str | None
    parallelism: int
    max_parallelism: int
    managed_memory_weight: int
    buffer_timeout: int
    min_resources: dict | None
    preferred_resources: dict | None
    in_edges: list[Edge] = field(default_factory=list)
    out_edges: list[Edge] = field(default_factory=list)


@dataclass(eq=False)
class Edge:
    """One connection; ``buffer_timeout`` may still be changed when the JobGraph is made."""

    index: int
    source: Node
    target: Node
    partitioner: str
    shuffle_mode: str
    type_number: int
    buffer_timeout: int
    side_output: str | None
    unique: int  # how many edges its source had to its target before

    def text(self) -> str:
        ends = f"{self.source.name}-{self.source.id}_{self.target.name}-{self.target.id}"
        return f"{ends}_{self.type_number}_{self.partitioner}_{self.unique}"


@dataclass(eq=False)
class StreamGraph:
    """All nodes by id in order of addition, all edges in order of addition."""

    chaining_enabled: bool
    settings: dict[str, Any]
    nodes: dict[int, Node]
    edges: list[Edge]
    iterative: bool
    profile: Profile

    @property
    def checkpoints(self) -> bool:
        """Switched on, and with an interval: one of 0 or less is the same as off."""
        return self.settings["checkpointing_enabled"] and self.settings["checkpoint_interval"] > 0

    def source_ids(self) -> list[int]:
        """Sources and iteration heads in the order of a ``HashSet<Integer>``."""
        return hash_order(node.id for node in self.nodes.values() if node.is_source)


def build(spec: dict[str, Any], profile: Profile) -> StreamGraph:
    """All nodes, then all iterations, then all edges, each in the order given."""
    settings = {**SETTINGS, **spec.get("settings", {})}
    chaining, iterative = spec.get("chaining_enabled", True), bool(spec.get("iterations"))
    graph = StreamGraph(chaining, settings, {}, [], iterative=iterative, profile=profile)
    for node in spec["nodes"]:
        _add(graph, _node(node, profile))
    for iteration in spec.get("iterations") or []:
        _add(graph, _iteration_end(iteration, head=True))
        _add(graph, _iteration_end(iteration, head=False))
    for edge in spec["edges"]:
        _connect(graph, edge)
    return graph


def _add(graph: StreamGraph, node: Node) -> None:
    if node.id in graph.nodes:
        raise FlinkError(errors.RUNTIME, f"Duplicate vertexID {node.id}")
    graph.nodes[node.id] = node


def _node(node: dict[str, Any], profile: Profile) -> Node:
    kind, yielding = node["kind"], node.get("yielding", False)
    task = node.get("task") or _invokable(kind, yielding)
    weight = node.get("managed_memory_weight")
    return Node(
        id=node["id"],
        name=node["name"],
        invokable=task,
        is_source=kind == "source",
        is_sink=kind == "sink",
        has_operator=True,
        is_stream_source=kind == "source"
        and task == "SourceStreamTask"
        and not yielding,  # not the newer kind of source
        yielding=yielding,
        chaining_strategy=node.get("chaining_strategy", "ALWAYS"),
        uid=node.get("uid"),
        user_hash=node.get("user_hash"),
        slot_sharing_group=node.get("slot_sharing_group", DEFAULT_SLOT_SHARING_GROUP),
        co_location_group=node.get("co_location_group"),
        parallelism=node.get("parallelism", -1),
        max_parallelism=node.get("max_parallelism", -1),
        managed_memory_weight=profile.unset_memory_weight if weight is None else weight,
        buffer_timeout=node.get("buffer_timeout", -1),
        min_resources=node.get("min_resources"),
        preferred_resources=node.get("preferred_resources"),
    )


def _invokable(kind: str, yielding: bool) -> str:
    if kind == "two_input":
        return "TwoInputStreamTask"
    return "SourceStreamTask" if kind == "source" and not yielding else "OneInputStreamTask"


def _iteration_end(iteration: dict[str, Any], *, head: bool) -> Node:
    """The tail's max parallelism is the parallelism; only the head keeps the one that was asked for."""
    loop, parallelism = iteration["loop_id"], iteration["parallelism"]
    return Node(
        id=iteration["source_id" if head else "sink_id"],
        name=f"IterationSource-{loop}" if head else f"IterationSink-{loop}",
        invokable="StreamIterationHead" if head else "StreamIterationTail",
        is_source=head,
        is_sink=not head,
        has_operator=False,
        is_stream_source=False,
        yielding=False,
        chaining_strategy="ALWAYS",
        uid=None,
        user_hash=None,
        slot_sharing_group=iteration.get("slot_sharing_group"),
        co_location_group=f"IterationCoLocationGroup-{loop}",
        parallelism=parallelism,
        max_parallelism=iteration.get("max_parallelism", -1) if head else parallelism,
        managed_memory_weight=1,
        buffer_timeout=0,
        min_resources=iteration.get("min_resources"),
        preferred_resources=iteration.get("preferred_resources"),
    )


def _connect(graph: StreamGraph, spec: dict[str, Any]) -> None:
    source, target = graph.nodes.get(spec["source"]), graph.nodes.get(spec["target"])
    if source is None or target is None:
        raise FlinkError(errors.NULL_POINTER, f"edge {spec['source']} -> {spec['target']} names an unknown node")
    same_parallelism = source.parallelism == target.parallelism
    partitioner = spec.get("partitioner") or ("FORWARD" if same_parallelism else "REBALANCE")
    if partitioner == "FORWARD" and not same_parallelism:
        raise FlinkError(errors.UNSUPPORTED_OPERATION, f"FORWARD from {source.name} to {target.name}")
    edge = Edge(
        index=len(graph.edges),
        source=source,
        target=target,
        partitioner=partitioner,
        shuffle_mode=spec.get("shuffle_mode", "UNDEFINED"),
        type_number=spec.get("input", 0),
        buffer_timeout=source.buffer_timeout,
        side_output=spec.get("side_output"),
        unique=sum(other.target is target for other in source.out_edges),
    )
    graph.edges.append(edge)
    source.out_edges.append(edge)
    target.in_edges.append(edge)
