"""BatchReduce: the reduction of all records of a key, emitted once, when the key has ended (BATCH mode).

Source of the semantics: ``BatchGroupedReduceOperator`` (Flink 1.20): the result carries the largest timestamp there is.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from penstock.runtime.aggregators import SumAggregator
from penstock.runtime.binding import bind
from penstock.runtime.context import OperatorContext
from penstock.runtime.operators.base import LiveOperator
from penstock.runtime.outputs import Collector, CountingOutput
from penstock.runtime.partition import KeyPartition
from penstock.runtime.signals import MAX_WATERMARK

_MISSING = object()


class BatchReduce(LiveOperator):
    """A reduction in BATCH mode; its state is one value.

    Args:
        context, output: as for every operator.
        reducer: as for :class:`~.reduce.GroupedReduce`.
        keyed: how the input is keyed.
    """

    def __init__(self, context: OperatorContext, output: CountingOutput, reducer: Any, keyed: KeyPartition) -> None:
        super().__init__(context, output, reducer, keyed)
        self._reduce = bind(reducer, "reduce")
        self._fold = reducer.fold if isinstance(reducer, SumAggregator) else None
        self._value: Any = _MISSING
        self.emitted: int = 0

    def input(self, number: int) -> Collector:
        return lambda value, timestamp: self.take([value])

    def take(self, values: list[Any]) -> None:
        """Records of the current key come in.

        Args:
            values: one or more, in order.
        """
        try:
            if self._value is not _MISSING:
                values = [self._value, *values]
            self._value = reduce(self._reduce, values) if self._fold is None else self._fold(values)
        except Exception as error:
            raise self.context.fail(error) from error

    def end_key(self) -> None:
        value, self._value = self._value, _MISSING
        self.emitted += 1
        self.output.collect(value, MAX_WATERMARK)
