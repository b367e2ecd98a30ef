"""Which edges of a plan carry records sorted by key, and what may be combined on them (BATCH mode).

An input is sorted if its operator is keyed. The inputs beside a sorted one, and the broadcast side of an operator, are
read to their end before the others.

Sources of the semantics: ``OneInputTransformationTranslator`` and its like, ``MultiInputSortingDataInput``,
``BatchCoBroadcastWith(Non)KeyedOperator`` (Flink 1.20).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from penstock.common.typeinfo import TypeInformation
from penstock.errors import UnsupportedError
from penstock.runtime.aggregators import Aggregator
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.exchange.combiner import combinable
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.broadcast import BroadcastProcess
from penstock.runtime.operators.reduce import GroupedReduce

if TYPE_CHECKING:
    from penstock.plan import ChainedOperator, StreamEdge

_KEPT = frozenset({"FORWARD", "GLOBAL", "HASH"})
"""Partitioners that keep the records of a key together."""


class BatchEdges:
    """What BATCH mode says of the edges of a program; in STREAMING mode nothing is sorted, early or combined."""

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
        return broadcast or any(self.key(each) is not None for each in beside)

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
