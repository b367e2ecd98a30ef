"""The parts of a JobGraph, linked by object references."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal

from tests.reference.java import string_hash
from tests.reference.stream_graph import DEFAULT_SLOT_SHARING_GROUP, Edge, Node

Resources = dict | None  # {"cpu", "heap_mb", "off_heap_mb", "managed_mb"}; None: unknown


@dataclass(eq=False)
class Config:
    """Flink's StreamConfig: one operator at one place in one chain."""

    node: Node
    operator_id: bytes
    chain_index: int
    chain_start: bool
    chained_outputs: list[Edge]
    non_chained_outputs: list[Edge]
    managed_memory_fraction: float | None = 0.0


@dataclass(eq=False)
class DataSet:
    """What one vertex produces for one edge, or for several that share it; ``edge`` is the first of them."""

    producer: JobVertex
    result_type: str
    edge: Edge
    consumers: list[JobEdge] = field(default_factory=list)

    @property
    def pipelined(self) -> bool:
        return self.result_type == "PIPELINED_BOUNDED"

    @property
    def id(self) -> bytes:
        """The producer's halves, swapped, each moved on by the hash of the first edge."""
        lower, upper = struct.unpack(">QQ", self.producer.id)
        step = string_hash(self.edge.text())
        return struct.pack(">QQ", (upper + step) % 2**64, (lower + step) % 2**64)


@dataclass(eq=False)
class JobEdge:
    data_set: DataSet
    target: JobVertex
    distribution: str
    edge: Edge

    @property
    def ship_strategy(self) -> str:
        return self.edge.partitioner


@dataclass(eq=False)
class SlotSharingGroup:
    name: str = DEFAULT_SLOT_SHARING_GROUP
    members: list[JobVertex] = field(default_factory=list)
    resources: Resources = None


@dataclass(eq=False)
class JobVertex:
    id: bytes
    name: str
    head: Config
    parallelism: int
    max_parallelism: int
    operators: list[tuple[int, bytes, bytes | None]]
    chained: dict[int, Config]
    min_resources: Resources
    preferred_resources: Resources
    inputs: list[JobEdge] = field(default_factory=list)
    results: list[DataSet] = field(default_factory=list)
    out_edges: list[Edge] = field(default_factory=list)
    in_edges: list[Edge] = field(default_factory=list)
    slot_sharing_group: SlotSharingGroup | None = None
    co_location_group: list[JobVertex] | None = None
    fractions: dict[int, float | None] = field(default_factory=dict)

    def node_ids(self) -> list[int]:
        """The stream nodes of the chain, head first."""
        return [self.head.node.id, *self.chained]

    def walk(self) -> Iterator[Config]:
        """The chain in pre-order from the head."""
        stack = [self.head]
        while stack:
            config = stack.pop()
            yield config
            stack += [self.chained[edge.target.id] for edge in reversed(config.chained_outputs)]


@dataclass(eq=False)
class JobGraph:
    """Vertices by head node, in order of creation, and the buffer timeouts that the edges have now."""

    vertices: dict[int, JobVertex] = field(default_factory=dict)
    slot_sharing_groups: list[SlotSharingGroup] = field(default_factory=list)
    co_location_groups: list[list[JobVertex]] = field(default_factory=list)


def merge_resources(one: Resources, other: Resources) -> Resources:
    """The sum; unknown when either is unknown. Cores are decimals (0.1 and 0.2 are 0.3), rounded only when shown."""
    if one is None or other is None:
        return None
    total = {key: one[key] + other[key] for key in ("heap_mb", "off_heap_mb", "managed_mb")}
    return {"cpu": _decimal(one["cpu"]) + _decimal(other["cpu"]), **total}


def _decimal(cores: float | Decimal) -> Decimal:
    return cores if isinstance(cores, Decimal) else Decimal(repr(cores))


def cut_cpu(resources: Resources, digits: int | None) -> Resources:
    """With CPU shares of so many decimals, the rest cut off."""
    if resources is None or digits is None:
        return resources
    return {**resources, "cpu": _decimal(resources["cpu"]).quantize(Decimal(1).scaleb(-digits), ROUND_DOWN)}


def shown(resources: Resources) -> Resources:
    """The resources as a RESULT has them."""
    return None if resources is None else {**resources, "cpu": float(resources["cpu"])}
