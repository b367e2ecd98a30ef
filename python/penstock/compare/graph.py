"""A model as a graph: edges by operator, and the order in which operators get their IDs.

Without a uid an ID is a hash of three things: the number of IDs made before it, the number of its chained outputs, and
the IDs of its inputs. These three explain why an ID changes. Nothing is hashed here. Cost: O(operators + edges).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from penstock._native import StreamGraph
from penstock.analysis.model import EdgeModel, OperatorModel, ProgramModel


@dataclass(frozen=True)
class Graph:
    """A model of a program, or of what is known of one, as a graph."""

    model: ProgramModel

    @cached_property
    def into(self) -> Mapping[int, tuple[EdgeModel, ...]]:
        """The edges into each operator, in order of addition."""
        return self._edges(by_target=True)

    @cached_property
    def out(self) -> Mapping[int, tuple[EdgeModel, ...]]:
        """The edges out of each operator, in order of addition."""
        return self._edges(by_target=False)

    def _edges(self, *, by_target: bool) -> Mapping[int, tuple[EdgeModel, ...]]:
        found: dict[int, list[EdgeModel]] = {operator.node: [] for operator in self.model.operators}
        for edge in sorted(self.model.edges, key=lambda edge: edge.index):
            found[edge.target if by_target else edge.source].append(edge)
        return {node: tuple(edges) for node, edges in found.items()}

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The nodes in the order in which their IDs are made; nodes that no source reaches are missing. The planner
        decides it, by a graph that has what the order depends on: sources, uids and edges."""
        model = self.model
        nodes = [
            {
                "id": operator.node,
                "name": "",
                "kind": "source" if _begins(operator, model) else "operator",
                **({} if operator.uid is None else {"uid": operator.uid}),
            }
            for operator in model.operators
        ]
        edges = [
            {"source": edge.source, "target": edge.target} for edge in sorted(model.edges, key=lambda edge: edge.index)
        ]
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


def _begins(operator: OperatorModel, model: ProgramModel) -> bool:
    return operator.kind == "source" or operator.type == "IterationHead" or not model.edges
