"""The two ends of an iteration: what the tail takes in, the head emits in the next round. A loop has no watermarks
of its own: the tail keeps them back, and the head emits MAX_WATERMARK at once, so that the body's watermark is that
of the loop's input. Sources of the semantics: ``StreamIterationHead``, ``StreamIterationTail`` (Flink 1.11)."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput


@dataclass(frozen=True, eq=False)
class IterationHead(StreamOperator):
    """Where a loop's records come back."""

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return LiveHead(context, output)


@dataclass(frozen=True, eq=False)
class IterationTail(StreamOperator):
    """Where a loop's records go back."""

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _Tail(context, output)


class _Tail(LiveOperator):
    def input(self, number: int) -> Collector:
        return self.output.collect

    def advance(self, watermark: int) -> None:
        """Time does not go round."""


class LiveHead(_Tail):
    """The head of a loop in one subtask."""

    def open(self) -> None:
        super().open()
        self.output.watermark(MAX_WATERMARK)
