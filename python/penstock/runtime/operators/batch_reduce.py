"""BatchReduce: the reduction of all records of a key, emitted once, when the key has ended (BATCH mode).

Source of the semantics: ``BatchGroupedReduceOperator`` (Flink 1.20): the result carries the largest timestamp there is.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

from penstock.runtime.aggregators import SumAggregator
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import LiveOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.usercode.functions import bind, lifecycle

_MISSING = object()
_FEW = 8
"""Values that are reduced one by one."""
_TOGETHER = 512
"""Results that are emitted together."""


class BatchReduce(LiveOperator):
    """A reduction in BATCH mode; its state is one value."""

    emitted: int = 0

    def __init__(self, context: OperatorContext, output: CountingOutput, reducer: Any, keyed: KeyPartition) -> None:
        super().__init__(context, output, reducer, keyed)
        self._reduce = bind(reducer, "reduce")
        self._fold = reducer.fold if isinstance(reducer, SumAggregator) else partial(reduce, self._reduce)
        self._value: Any = _MISSING
        self._results: list[Any] = []
        rich = lifecycle(reducer, "open") is not None  # through which alone it can have got hold of state
        self._enter = self.keyed_input(lambda value, timestamp: None, keyed) if rich else None

    def input(self, number: int) -> Collector:
        return lambda value, timestamp: self.take([value])

    def take(self, values: list[Any]) -> None:
        """Records of the current key come in, one or more, in order."""
        if self._value is not _MISSING:
            values = [self._value, *values]
        elif self._enter is not None:
            self._enter(values[0], None)
        if len(values) == 1:
            self._value = values[0]
            return
        try:
            self._value = self._fold(values) if len(values) > _FEW else reduce(self._reduce, values)
        except Exception as error:
            raise self.context.fail(error) from error

    def end_key(self) -> None:
        if self._enter is not None:
            super().end_key()
        self._results.append(self._value)
        self._value = _MISSING
        if len(self._results) >= _TOGETHER:
            self._emit()

    def advance(self, watermark: int) -> None:
        self._emit()
        super().advance(watermark)

    def _emit(self) -> None:
        results, self._results = self._results, []
        self.emitted += len(results)
        self.output.feed(results, MAX_WATERMARK)
