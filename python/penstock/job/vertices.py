"""From one vertex of a plan to the descriptor its tasks run from: its chain, pickled, and its way to other vertices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.common.typeinfo import TypeInformation
from penstock.compiler.operators import Compilation
from penstock.errors import InvalidProgramError, UnsupportedError
from penstock.job.pickled_code import pickle_operator
from penstock.runtime.aggregators import Aggregator
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.config.tasks import (
    POINTWISE,
    ChainedOutput,
    InputEdge,
    NetworkOutput,
    OperatorConfig,
    VertexConfig,
)
from penstock.runtime.exchange.combiner import combinable
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.broadcast import BroadcastProcess
from penstock.runtime.operators.record_types import input_type, record_type
from penstock.runtime.operators.reduce import GroupedReduce

if TYPE_CHECKING:
    from penstock.plan import ChainedOperator, JobGraph, JobVertex, Pipeline, StreamEdge

_SHARED = frozenset({"FORWARD", "GLOBAL", "BROADCAST", "HASH"})
"""Partitioners that choose the same channels for a record on every edge with the same attributes."""


class Vertices:
    """Makes the descriptors of vertices. With a ``compilation`` key selectors are compiled."""

    def __init__(
        self,
        pipeline: Pipeline,
        operators: Mapping[int, StreamOperator],
        job_graph: JobGraph,
        places: Sequence[VertexConfig],
        sorting: BatchEdges,
        compilation: Compilation | None,
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
        self._compilation = compilation
        self._vertex_of = {link.node: v.index for v in job_graph.vertices for link in v.chain}
        heads = [v.chain[0].node for v in job_graph.vertices if v.invokable == "StreamIterationHead"]
        self._way_back = {head: len(self._edges) + i for i, head in enumerate(heads)}

    def config(self, vertex: JobVertex) -> VertexConfig:
        place = self._places[vertex.index]
        position = {link.node: i for i, link in enumerate(vertex.chain)}
        operators = tuple(self._operator(link, place, position) for link in vertex.chain)
        self._sorting.check_chain(vertex.chain)
        edges = [self._edges[e] for e in vertex.in_edges]
        inputs = tuple(self._input(edge, edges) for edge in edges)
        back = self._way_back.get(vertex.chain[0].node)
        if back is not None:
            inputs = (InputEdge(back, 0, place.parallelism, pointwise=True),)
        return replace(place, operators=operators, inputs=inputs)

    def _operator(self, link: ChainedOperator, place: VertexConfig, position: Mapping[int, int]) -> OperatorConfig:
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
            input_type=input_type(self._pipeline, node, self._edges),
            pinned=node.user_hash.lower() if node.user_hash else None,
            hands_over=self._operators[link.node].hands_over,
            keyed=any(self._operators[link.node].key_of_input(number) is not None for number in range(3)),
            keeps_state=self._operators[link.node].keeps_state,
            side_outputs=link.node in self._pipeline.side_outputs,
        )

    def _record_type(self, edge: StreamEdge) -> TypeInformation[Any] | None:
        return record_type(self._pipeline, edge)

    def _network(self, link: ChainedOperator) -> Iterator[NetworkOutput]:
        """Outputs over the exchange; edges that choose the same channels for every record are one output."""
        if link.node + 1 in self._way_back:
            head = self._places[self._vertex_of[link.node + 1]]  # of the loop; no plan shows the edge to it
            way = head.reached_by(self._way_back[link.node + 1])
            yield NetworkOutput(None, "FORWARD", None, head.parallelism, head.max_parallelism, "", (way,), None)
        groups: dict[tuple[object, ...], list[StreamEdge]] = {}
        for ordinal, index in enumerate(link.non_chained_outputs):
            edge = self._edges[index]
            target = self._places[self._vertex_of[edge.target]]
            same = (edge.side_output, edge.partitioner, edge.partition_node, target.parallelism, target.max_parallelism)
            by, combined = self._sorted(edge)
            key = (*same, id(by), combined) if edge.partitioner in _SHARED else (ordinal,)
            groups.setdefault(key, []).append(edge)
        for edges in groups.values():
            yield self._network_output(link, edges)

    def _network_output(self, link: ChainedOperator, edges: list[StreamEdge]) -> NetworkOutput:
        edge = edges[0]
        targets = [self._places[self._vertex_of[e.target]] for e in edges]
        ordinal = link.non_chained_outputs.index(edge.index)
        key, combined = self._sorted(edge)
        return NetworkOutput(
            side_tag=edge.side_output,
            partitioner=edge.partitioner,
            partition=self._partition(edge, link.name, key),
            parallelism=targets[0].parallelism,
            max_parallelism=targets[0].max_parallelism,
            seed=f"{self._ids[edge.source]}/{ordinal}/{self._ids[edge.target]}",
            destinations=tuple(t.reached_by(e.index) for e, t in zip(edges, targets, strict=True)),
            record_type=self._record_type(edge),
            exact_shares=self._exact_shares,
            sorted=key is not None,
            combined=combined,
        )

    def _sorted(self, edge: StreamEdge) -> tuple[KeyPartition | None, Aggregator | None]:
        return self._sorting.key(edge), self._sorting.combined(edge, self._record_type(edge))

    def _partition(self, edge: StreamEdge, name: str, key: KeyPartition | None) -> bytes | None:
        if key is None and edge.partitioner not in ("HASH", "CUSTOM"):
            return None
        node = edge.partition_node
        spec = key or (None if node is None else self._pipeline.partitioners.get(node))
        if spec is None:
            raise InvalidProgramError(
                f"The {edge.partitioner} edge behind operator {name!r} has no partitioner: the pipeline has none for "
                f"the virtual node {node}. Add a KeyPartition or CustomPartition there."
            )
        if self._compilation is not None:
            spec = self._compilation.partition(spec)
        return pickle_operator(spec, f"{name} ({edge.partitioner} partitioner)")

    def _input(self, edge: StreamEdge, beside: list[StreamEdge]) -> InputEdge:
        return InputEdge(
            edge.index,
            edge.type_number,
            self._places[self._vertex_of[edge.source]].parallelism,
            edge.partitioner in POINTWISE,
            self._exact_shares,
            self._sorting.key(edge) is not None,
            self._sorting.early(edge, beside),
        )


_KEPT = frozenset({"FORWARD", "GLOBAL", "HASH"})  # partitioners that keep the records of a key together


class BatchEdges:
    """The edges of a program in BATCH mode; in STREAMING mode nothing is sorted, early or combined.

    An input is sorted if its operator is keyed. The inputs beside a sorted one, and the broadcast side of an operator,
    are read to their end before the others. Sources of the semantics: ``OneInputTransformationTranslator`` and its
    like, ``MultiInputSortingDataInput``, ``BatchCoBroadcastWith(Non)KeyedOperator`` (Flink 1.20).
    """

    def __init__(self, operators: Mapping[int, StreamOperator], *, batch: bool, combine: bool) -> None:
        self._operators = operators
        self._batch = batch
        self._combine = combine

    def key(self, edge: StreamEdge) -> KeyPartition | None:
        """The key by which the records of an edge are sorted, None where they are not."""
        if not self._batch:
            return None
        key = self._operators[edge.target].key_of_input(edge.type_number)
        if key is not None and edge.partitioner not in _KEPT:
            raise UnsupportedError(
                f"An operator with a key reads from a {edge.partitioner} edge, which BATCH mode cannot sort by key. "
                "Call key_by right before the operator, or run the program in STREAMING mode."
            )
        return key

    def early(self, edge: StreamEdge, beside: Sequence[StreamEdge]) -> bool:
        """Whether an edge is read before others of its vertex."""
        if not self._batch or self.key(edge) is not None:
            return False
        broadcast = isinstance(self._operators[edge.target], BroadcastProcess) and edge.type_number == 2
        return broadcast or any(self.key(other) is not None for other in beside)

    def combined(self, edge: StreamEdge, record_type: TypeInformation[Any] | None) -> Aggregator | None:
        """The reduction by which the sender may combine the records of an edge."""
        operator = self._operators[edge.target]
        if not self._combine or not isinstance(operator, GroupedReduce) or self.key(edge) is None:
            return None
        return operator.reducer if combinable(operator.reducer, record_type) else None

    def check_chain(self, links: Sequence[ChainedOperator]) -> None:
        """Refuse a chain with a keyed operator behind its head, whose input crosses no exchange that could sort it."""
        for link in links[1:] if self._batch else ():
            if self._operators[link.node].keyed is not None:
                raise UnsupportedError(
                    f"Operator {link.name!r} has a key and is chained to the operator before it, so BATCH mode cannot "
                    "sort its input. Call start_new_chain() on it, or run the program in STREAMING mode."
                )
