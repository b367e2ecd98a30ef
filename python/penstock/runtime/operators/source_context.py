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
    """The ``ctx`` of a source function's ``run``. ``over`` says whether the function has done its part of the step.

    Where the step ends only with the function, as in a bounded job, calls go straight into the chain. Elsewhere the
    step may end while the function sleeps, so each call waits for the function's turn.
    """

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
        """A step begins, of so many records. If it ``waits`` for the function, it may emit more; with ``stamps`` the
        step goes on where the function ends a round."""
        self._left, self._waits, self._stamps, self.over = records, waits, stamps, False
        self._send = self._emit if waits else self._emit_in_turn

    def end(self) -> None:
        """The source has ended, so it is idle no more."""
        if self._idle:
            self._set_idle(False)

    def collect(self, value: Any) -> None:
        self._send(value, None)

    def collect_with_timestamp(self, value: Any, timestamp: int | None) -> None:
        self._send(value, timestamp)

    def emit_watermark(self, watermark: Any) -> None:
        self._in_turn(lambda: self._emit_watermark(getattr(watermark, "timestamp", watermark)))

    def mark_as_temporarily_idle(self) -> None:
        self._in_turn(lambda: self._idle or self._set_idle(True), idle=True)

    def end_round(self) -> None:
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
        def emit() -> None:
            self._emit(value, timestamp)
            self._left -= 1
            if self._left <= 0:
                self._end_step()

        self._in_turn(emit)

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
