"""What the ``run`` of a source function is given.

Source of the names: ``SourceFunction.SourceContext`` (Flink 1.11).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.common import contexts
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.outputs import CountingOutput
from penstock.runtime.usercode.turns import Turns


class SourceContext(contexts.SourceContext[Any]):
    """The ``ctx`` of a source function's ``run``.

    Where the step ends only with the function, as in a bounded job, calls go straight into the chain. Elsewhere the
    step may end while the function sleeps, so each call waits for the function's turn.

    Args:
        output: takes the records.
        context: of the operator.
        backlog: whether rows wait that should leave the task.
        turns: of the function.

    Attributes:
        emitted: number of records so far.
        over: whether the function has done its part of the step.
    """

    __slots__ = (
        "_backlog",
        "_calls",
        "_collect",
        "_context",
        "_idle",
        "_left",
        "_output",
        "_passed",
        "_rounds",
        "_send",
        "_silent",
        "_stamps",
        "_turns",
        "_waits",
        "emitted",
        "over",
    )

    def __init__(
        self, output: CountingOutput, context: OperatorContext, backlog: Callable[[], bool], turns: Turns
    ) -> None:
        self._output, self._collect = output, output.collect
        self._context, self._backlog, self._turns = context, backlog, turns
        self._silent = context.job.settings.batch
        self._idle = self._stamps = self._waits = self.over = False
        self._send = self._emit_in_turn
        self._calls = self._passed = self._rounds = self._left = 0
        self.emitted: int = 0

    def __repr__(self) -> str:
        return f"<SourceContext emitted={self.emitted}>"

    @property
    def position(self) -> tuple[int, int]:
        """Calls so far, and rounds ended. Calls are not counted where the step waits for the function."""
        return self._calls, self._rounds

    def skip(self, calls: int, rounds: int) -> None:
        """The first so many calls have had their effect before."""
        self._calls, self._rounds = calls, rounds
        self._passed = calls

    def begin_step(self, records: int, *, waits: bool, stamps: bool) -> None:
        """A step begins.

        Args:
            records: so many may be emitted until the step is over.
            waits: whether the step waits for the function, however many records it emits.
            stamps: whether the step goes on where the function ends a round.
        """
        self._left, self._waits, self._stamps, self.over = records, waits, stamps, False
        self._send = self._emit if waits else self._emit_in_turn

    def end(self) -> None:
        """The source has ended, so it is idle no more."""
        if self._idle:
            self._set_idle(False)

    def collect(self, value: Any) -> None:
        """Emit a record without a timestamp."""
        self._send(value, None)

    def collect_with_timestamp(self, value: Any, timestamp: int | None) -> None:
        """Emit a record with a timestamp in milliseconds."""
        self._send(value, timestamp)

    def emit_watermark(self, watermark: Any) -> None:
        """Promise that no record with this timestamp or a smaller one is to come. In BATCH mode nobody asks.

        Args:
            watermark: a Watermark, or its milliseconds.
        """
        self._in_turn(lambda: self._emit_watermark(getattr(watermark, "timestamp", watermark)))

    def mark_as_temporarily_idle(self) -> None:
        """Hold nobody's watermark back until the next record or watermark."""
        self._in_turn(lambda: self._idle or self._set_idle(True), idle=True)

    def end_round(self) -> None:
        """Everything that all sources have emitted before their n-th call of this is processed before anything they
        emit after it. (Penstock's own: what aligned barriers are to Flink, and a micro-batch to Spark.)"""
        self._in_turn(self._end_round, idle=None)

    def _in_turn(self, call: Callable[[], object], *, idle: bool | None = False) -> None:
        """Make a call of the function, unless it has had its effect; then only know whether the source is idle since,
        as the chain does."""
        if self._waits:
            call()
            return
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

    def _emit(self, value: Any, timestamp: int | None) -> None:
        if self._idle:
            self._set_idle(False)
        self.emitted += 1
        self._collect(value, timestamp)
        if self._backlog():
            self._turns.pause()

    def _emit_in_turn(self, value: Any, timestamp: int | None) -> None:
        self._in_turn(lambda: self._emit_one_of_step(value, timestamp))

    def _emit_one_of_step(self, value: Any, timestamp: int | None) -> None:
        self._emit(value, timestamp)
        self._left -= 1
        if self._left <= 0:
            self._end_step()

    def _emit_watermark(self, millis: int) -> None:
        if self._idle:
            self._set_idle(False)
        if not self._silent:
            self._output.watermark(millis)
        if self._backlog():
            self._turns.pause()

    def _end_round(self) -> None:
        self._rounds += 1
        if self._stamps:
            self._context.begin_round(self._rounds)
            self._turns.pause()
        else:
            self._end_step()

    def _end_step(self) -> None:
        self.over = True
        self._turns.pause()

    def _set_idle(self, idle: bool) -> None:
        self._idle = idle
        self._context.toggle(not idle)
