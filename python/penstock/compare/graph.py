"""A model as a graph: edges by operator, and the order in which operators get their IDs.

Without a uid an ID is a hash of three things: the number of IDs made before it, the number of its chained outputs, and
the IDs of its inputs. These three explain why an ID changes. Nothing is hashed here. Cost: O(operators + edges).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from penstock._native import StreamGraph
from penstock.analysis.model import EdgeModel, ProgramModel


@dataclass(frozen=True)
class Graph:
    """A model of a program, or of what is known of one, as a graph."""

    model: ProgramModel

    @cached_property
    def into(self) -> Mapping[int, tuple[EdgeModel, ...]]:
        """The edges into each operator, in order of addition."""
        return self._edges("target")

    @cached_property
    def out(self) -> Mapping[int, tuple[EdgeModel, ...]]:
        """The edges out of each operator, in order of addition."""
        return self._edges("source")

    def _edges(self, end: str) -> Mapping[int, tuple[EdgeModel, ...]]:
        by_node: dict[int, list[EdgeModel]] = {operator.node: [] for operator in self.model.operators}
        for edge in sorted(self.model.edges, key=lambda edge: edge.index):
            by_node[getattr(edge, end)].append(edge)
        return {node: tuple(edges) for node, edges in by_node.items()}

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The nodes in the order in which their IDs are made; nodes that no source reaches are missing. The planner
        decides it, by a graph that has what the order depends on: sources, uids and edges."""
        nodes: list[dict[str, Any]] = []
        for operator in self.model.operators:
            begins = operator.kind == "source" or operator.type == "IterationHead" or not self.model.edges
            uid = {} if operator.uid is None else {"uid": operator.uid}
            nodes.append({"id": operator.node, "name": "", "kind": "source" if begins else "operator", **uid})
        in_order = sorted(self.model.edges, key=lambda edge: edge.index)
        edges = [{"source": edge.source, "target": edge.target} for edge in in_order]
        return tuple(StreamGraph.from_dict({"nodes": nodes, "edges": edges}).operator_id_order())

    @cached_property
    def before(self) -> Mapping[int, int]:
        """The number of IDs that are made before that of each node."""
        return {node: count for count, node in enumerate(self.order)}

    def chained(self, node: int) -> tuple[EdgeModel, ...]:
        """The chained edges out of a node: their number is an ingredient of its ID."""
        return tuple(edge for edge in self.out[node] if edge.chained)

    def inputs(self, node: int) -> tuple[int, ...]:
        """The nodes whose IDs are ingredients of the ID of a node, in order, with repetitions."""
        return tuple(edge.source for edge in self.into[node])
