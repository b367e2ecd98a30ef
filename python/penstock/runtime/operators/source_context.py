"""What the ``run`` of a source function is given, in a job that ends and in one that runs in steps.

Source of the names: ``SourceFunction.SourceContext`` (Flink 1.11).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.common import contexts
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.outputs import CountingOutput
from penstock.runtime.usercode.steps import Pause
from penstock.runtime.usercode.turns import Turns


class SourceContext(contexts.SourceContext[Any]):
    """The ``ctx`` of a source function's ``run``."""

    __slots__ = ("_breathe", "_collect", "_context", "_idle", "_output", "_pause", "_rounds", "_silent", "emitted")

    def __init__(
        self, output: CountingOutput, context: OperatorContext, backlog: Callable[[], bool], breathe: Pause
    ) -> None:
        self._output = output
        self._breathe = breathe
        self._collect = output.collect
        self._context = context
        self._pause = lambda: breathe() if backlog() else None
        self._silent = context.job.settings.batch
        self._idle = False
        self._rounds = 0
        self.emitted: int = 0

    def __repr__(self) -> str:
        return f"<SourceContext emitted={self.emitted}>"

    def collect(self, value: Any) -> None:
        """Emit a record without a timestamp."""
        self.collect_with_timestamp(value, None)

    def collect_with_timestamp(self, value: Any, timestamp: int | None) -> None:
        """Emit a record with a timestamp in milliseconds."""
        if self._idle:
            self._set_idle(False)
        self.emitted += 1
        self._collect(value, timestamp)
        self._pause()

    def emit_watermark(self, watermark: Any) -> None:
        """Promise that no record with this timestamp or a smaller one is to come. In BATCH mode nobody asks.

        Args:
            watermark: a Watermark, or its milliseconds.
        """
        if self._idle:
            self._set_idle(False)
        if not self._silent:
            self._output.watermark(getattr(watermark, "timestamp", watermark))
        self._pause()

    def mark_as_temporarily_idle(self) -> None:
        """Hold nobody's watermark back until the next record or watermark."""
        if not self._idle:
            self._set_idle(True)

    def end_round(self) -> None:
        """Everything that all sources have emitted before their n-th call of this is processed before anything they
        emit after it. (Penstock's own: what aligned barriers are to Flink, and a micro-batch to Spark.)"""
        self._rounds += 1
        self._context.begin_round(self._rounds)
        self._breathe()

    def _set_idle(self, idle: bool) -> None:
        self._idle = idle
        self._context.toggle(not idle)

    def end(self) -> None:
        """The source has ended, so it is idle no more."""
        if self._idle:
            self._set_idle(False)


class SteppedContext(SourceContext):
    """The ``ctx`` of a source function that runs in steps.

    Args:
        output, context, backlog: as for :class:`SourceContext`.
        turns: of the function.

    Attributes:
        over: whether it has done its part of the step.
    """

    __slots__ = ("_calls", "_left", "_passed", "_turns", "over")

    def __init__(
        self, output: CountingOutput, context: OperatorContext, backlog: Callable[[], bool], turns: Turns
    ) -> None:
        super().__init__(output, context, backlog, turns.pause)
        self._turns = turns
        self._calls = self._passed = 0
        self._left = 0
        self.over = False

    @property
    def position(self) -> tuple[int, int]:
        """Calls so far, and rounds ended."""
        return self._calls, self._rounds

    def skip(self, calls: int, rounds: int) -> None:
        """The first so many calls have had their effect before."""
        self._calls, self._rounds = calls, rounds
        self._passed = calls

    def begin_step(self, records: int) -> None:
        """So many records may be emitted until the step is over."""
        self._left, self.over = records, False

    def _in_turn(self, call: Callable[[], None], *, idle: bool | None = False) -> None:
        """Make a call of the function, unless it has had its effect; then only know whether the source is idle since,
        as the chain does."""
        if self._passed:
            self._passed -= 1
            self._idle = self._idle if idle is None else idle
            return
        self._turns.enter()
        try:
            self._calls += 1
            call()
        finally:
            self._turns.leave()

    def collect_with_timestamp(self, value: Any, timestamp: int | None) -> None:
        self._in_turn(lambda: self._collect_one(value, timestamp))

    def _collect_one(self, value: Any, timestamp: int | None) -> None:
        super().collect_with_timestamp(value, timestamp)
        self._left -= 1
        if self._left <= 0:
            self._end_step()

    def emit_watermark(self, watermark: Any) -> None:
        self._in_turn(lambda: super(SteppedContext, self).emit_watermark(watermark))

    def mark_as_temporarily_idle(self) -> None:
        self._in_turn(lambda: super(SteppedContext, self).mark_as_temporarily_idle(), idle=True)

    def end_round(self) -> None:
        self._in_turn(self._end_round, idle=None)

    def _end_round(self) -> None:
        self._rounds += 1
        self._end_step()

    def _end_step(self) -> None:
        self.over = True
        self._turns.pause()
