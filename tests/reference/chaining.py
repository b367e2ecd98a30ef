"""May the two ends of an edge run in one task?"""

from __future__ import annotations

from tests.reference import errors
from tests.reference.errors import FlinkError
from tests.reference.stream_graph import Edge, Node, StreamGraph


class Chainability:
    """Answers per edge, each worked out once: a yielding target asks about the edges before it."""

    def __init__(self, graph: StreamGraph) -> None:
        self._graph = graph
        self._known: dict[int, bool] = {}
        self._asking: set[int] = set()

    def __call__(self, edge: Edge) -> bool:
        if edge.index in self._asking:
            raise FlinkError(errors.STACK_OVERFLOW, f"{edge.target.name} is upstream of itself")
        if edge.index not in self._known:
            self._asking.add(edge.index)
            self._known[edge.index] = self._decide(edge)
            self._asking.discard(edge.index)
        return self._known[edge.index]

    def _decide(self, edge: Edge) -> bool:
        return (
            len(edge.target.in_edges) == 1
            and edge.source.slot_sharing_group == edge.target.slot_sharing_group
            and self._operators_fit(edge.source, edge.target)
            and edge.partitioner == "FORWARD"
            and edge.shuffle_mode != "BATCH"
            and edge.source.parallelism == edge.target.parallelism
            and self._graph.chaining_enabled
        )

    def _operators_fit(self, upstream: Node, downstream: Node) -> bool:
        if not upstream.has_operator or not downstream.has_operator:
            return False
        if upstream.chaining_strategy == "NEVER" or downstream.chaining_strategy != "ALWAYS":
            return False
        return not (downstream.yielding and self._head_of_chain(upstream).is_stream_source)

    def _head_of_chain(self, node: Node) -> Node:
        seen = set()
        while len(node.in_edges) == 1 and self(node.in_edges[0]):
            if node.id in seen:
                raise FlinkError(errors.STACK_OVERFLOW, f"{node.name} is in a ring of chainable operators")
            seen.add(node.id)
            node = node.in_edges[0].source
        return node
