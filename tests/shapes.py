"""Named graph shapes of any size, for scale tests and benches.

A shape is a function that calls ``add_node`` and ``add_edge`` of whatever it is given: a ``StreamGraphBuilder``, or the
``SpecWriter`` of this module, which writes the same graph down as a SPEC for the reference planner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

LAYER_WIDTH = 100
PARALLELISM = 4


class Target(Protocol):
    """The part of ``StreamGraphBuilder`` that shapes use."""

    def add_node(self, id: int, name: str, kind: str, **options: Any) -> None: ...
    def add_edge(self, source: int, target: int, input: int = 0, *, partitioner: str | None = None) -> None: ...


Shape = Callable[[Target, int], None]


class SpecWriter:
    """Writes the calls of a shape down as a SPEC."""

    def __init__(self, name: str = "shape") -> None:
        self.spec: dict[str, Any] = {
            "name": name, "chaining_enabled": True, "settings": {}, "nodes": [], "edges": []
        }  # fmt: skip

    def add_node(self, id: int, name: str, kind: str, **options: Any) -> None:
        defaults = {
            "uid": None,
            "user_hash": None,
            "slot_sharing_group": "default",
            "co_location_group": None,
            "parallelism": -1,
            "max_parallelism": -1,
            "chaining_strategy": "ALWAYS",
            "yielding": False,
            "managed_memory_weight": None,
        }
        self.spec["nodes"].append({"id": id, "name": name, "kind": kind, **defaults, **options})

    def add_edge(self, source: int, target: int, input: int = 0, *, partitioner: str | None = None) -> None:
        edge = {"source": source, "target": target, "partitioner": partitioner, "shuffle_mode": "UNDEFINED"}
        self.spec["edges"].append({**edge, "input": input})


def write_spec(shape: Shape, size: int) -> dict[str, Any]:
    """The SPEC of a shape."""
    writer = SpecWriter(f"{shape.__name__}_{size}")
    shape(writer, size)
    return writer.spec


def forward_chain(graph: Target, size: int) -> None:
    """One source and ``size - 1`` operators behind it, all of one chain: a single vertex."""
    graph.add_node(1, "Source: Numbers", "source", parallelism=PARALLELISM, chaining_strategy="HEAD")
    for id_ in range(2, size + 1):
        graph.add_node(id_, "Map", "operator", parallelism=PARALLELISM)
        graph.add_edge(id_ - 1, id_)


def layered_dag(graph: Target, size: int) -> None:
    """Layers of 100 operators, each reading two of the layer before: as many vertices as operators."""
    for index in range(size):
        layer, column = divmod(index, LAYER_WIDTH)
        if layer == 0:
            graph.add_node(index + 1, "Source: Events", "source", parallelism=PARALLELISM, chaining_strategy="HEAD")
            continue
        graph.add_node(index + 1, "Join", "two_input", parallelism=PARALLELISM)
        above = (layer - 1) * LAYER_WIDTH + 1
        graph.add_edge(above + column, index + 1, 1)
        graph.add_edge(above + (column * 7 + layer) % LAYER_WIDTH, index + 1, 2, partitioner="HASH")


def keyed_pipelines(graph: Target, size: int) -> None:
    """Independent pipelines of five operators (source and map, then a keyed chain of three): two vertices each."""
    for first in range(1, size + 1, 5):
        graph.add_node(first, "Source: Events", "source", parallelism=PARALLELISM, chaining_strategy="HEAD")
        graph.add_node(first + 1, "Map", "operator", parallelism=PARALLELISM)
        graph.add_node(first + 2, "Keyed Aggregation", "operator", parallelism=PARALLELISM)
        graph.add_node(first + 3, "Filter", "operator", parallelism=PARALLELISM)
        graph.add_node(first + 4, "Sink: Print to Std. Out", "sink", parallelism=PARALLELISM)
        graph.add_edge(first, first + 1)
        graph.add_edge(first + 1, first + 2, partitioner="HASH")
        graph.add_edge(first + 2, first + 3)
        graph.add_edge(first + 3, first + 4)


def uid_table(graph: Target, size: int) -> None:
    """One source and ``size - 1`` sinks, every one with a uid of its own and none of them chained."""
    graph.add_node(0, "Source: Events", "source", uid="uid-0", parallelism=PARALLELISM, chaining_strategy="HEAD")
    for id_ in range(1, size):
        graph.add_node(id_, "Sink: Out", "sink", uid=f"uid-{id_}", parallelism=PARALLELISM)
        graph.add_edge(0, id_, partitioner="REBALANCE")


def yielding_chain(graph: Target, size: int) -> None:
    """Consecutive yielding operators behind an exchange: the walk to the head of the chain, once per operator."""
    graph.add_node(1, "Source: Events", "source", parallelism=PARALLELISM, chaining_strategy="HEAD")
    for id_ in range(2, size + 1):
        graph.add_node(id_, "async wait operator", "operator", parallelism=PARALLELISM, yielding=True)
        graph.add_edge(id_ - 1, id_, partitioner="REBALANCE" if id_ == 2 else None)


def yielding_diamonds(graph: Target, size: int) -> None:
    """Diamonds one after the other: a yielding operator, two yielding branches, and a join, which is chained to the
    next diamond: a vertex per diamond, one for the source and one for the last join."""
    graph.add_node(0, "Source: Events", "source", parallelism=PARALLELISM, chaining_strategy="HEAD")
    for first in range(1, size, 4):
        graph.add_node(first, "async wait operator", "operator", parallelism=PARALLELISM, yielding=True)
        graph.add_edge(first - 1, first)
        for branch in (first + 1, first + 2):
            graph.add_node(branch, "async branch", "operator", parallelism=PARALLELISM, yielding=True)
            graph.add_edge(first, branch)
        graph.add_node(first + 3, "Join", "two_input", parallelism=PARALLELISM)
        graph.add_edge(first + 1, first + 3, 1)
        graph.add_edge(first + 2, first + 3, 2)


def all_to_all(graph: Target, size: int) -> None:
    """One keyed exchange between ``size`` and ``size`` subtasks: ``size`` squared execution edges."""
    graph.add_node(1, "Source: Events", "source", parallelism=size, chaining_strategy="HEAD")
    graph.add_node(2, "Keyed Aggregation", "operator", parallelism=size)
    graph.add_edge(1, 2, partitioner="HASH")


SHAPES = (layered_dag, forward_chain, keyed_pipelines, uid_table, yielding_chain, yielding_diamonds)
"""Those whose size is a number of operators."""


def vertex_count(shape: Shape, size: int) -> int:
    """How many vertices the JobGraph of a shape has; what a plan of it is checked with."""
    diamonds = len(range(1, size, 4))
    return {
        "forward_chain": 1,
        "layered_dag": size,
        "keyed_pipelines": 2 * len(range(0, size, 5)),
        "uid_table": size,
        "yielding_chain": min(size, 2),
        "yielding_diamonds": 2 + diamonds if diamonds else 1,
        "all_to_all": 2,
    }[shape.__name__]
