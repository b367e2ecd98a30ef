"""What a generated operator ID is made of, and in which order IDs are made.

Without uid an ID is a hash of three things: how many IDs were made before it, how many of its outputs are chained, and
the IDs of its inputs. So these three say why an ID is another one. Nothing is hashed here.

Source of the semantics: ``StreamGraphHasherV2`` (Flink 1.11 and 2.3). Cost: O(operators + edges).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from penstock.analysis.identity import hashing_order
from penstock.analysis.model import EdgeModel, ProgramModel


@dataclass(frozen=True)
class Graph:
    """A model with what comparisons ask of it.

    Attributes:
        model: of a program, or of what is known of one.
    """

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
        for edge in sorted(self.model.edges, key=lambda each: each.index):
            found[edge.target if by_target else edge.source].append(edge)
        return {node: tuple(edges) for node, edges in found.items()}

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The nodes in the order in which their IDs are made; those that no source reaches are missing."""
        nodes = self.model.by_node
        return hashing_order(
            filter(self._begins, nodes),
            lambda node: nodes[node].uid is not None,
            self.inputs,
            lambda node: (edge.target for edge in self.out[node]),
        )

    def _begins(self, node: int) -> bool:
        operator = self.model.by_node[node]
        return operator.kind == "source" or operator.type == "IterationHead" or not self.model.edges

    @cached_property
    def before(self) -> Mapping[int, int]:
        """How many IDs are made before that of each node."""
        return {node: count for count, node in enumerate(self.order)}

    def chained(self, node: int) -> tuple[EdgeModel, ...]:
        """The edges out of a node that are chained: how many there are enters its ID."""
        return tuple(edge for edge in self.out[node] if edge.chained)

    def inputs(self, node: int) -> tuple[int, ...]:
        """The nodes whose IDs enter that of a node, in order, repeats included."""
        return tuple(edge.source for edge in self.into[node])
