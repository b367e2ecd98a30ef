"""TimestampsAndWatermarks: gives records event times, and the stream watermarks.

A record goes first, then the watermark it leads to. Watermarks from above are swallowed, all but the last one, which
says that the input has ended; the operator's own never go back.

A *periodic* generator is asked after every PERIOD records and after the last one. Flink asks by the clock, every 200 ms
unless told otherwise, so that which records are late depends on the machine; here it does not. With an interval of 0
both ask after the last record only.

In BATCH mode there are timestamps and no watermarks: the generator is not even made.

Source of the semantics: ``TimestampsAndWatermarksOperator`` (Flink 1.11, and 1.20 for BATCH).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from penstock.common.watermark_generator import NoWatermarks, Watermark
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.usercode.binding import bind
from penstock.runtime.usercode.failure import failure_of

PERIOD = 20_000
"""Records between two questions to a periodic generator: about what a subtask of Flink reads in 200 ms."""

_ASSIGNER = "timestamp assigner of the watermark strategy"
_GENERATOR = "watermark generator of the strategy"


@dataclass(frozen=True, eq=False)
class TimestampsAndWatermarks(StreamOperator):
    """Applies a strategy.

    Attributes:
        strategy: where timestamps and watermarks come from.
    """

    toggles: ClassVar[bool] = True

    strategy: WatermarkStrategy[Any]

    @property
    def keeps_output(self) -> bool:
        """A generator of the user's looks at a record that has been emitted already."""
        return self.strategy.kind == "generator"

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _TimestampsAndWatermarks(context, output, self.strategy)


class _Emitter:
    """The output of a generator: watermarks that grow, and idleness."""

    def __init__(self, context: OperatorContext, output: CountingOutput) -> None:
        self._context, self._output = context, output
        self._last = MIN_WATERMARK
        self._idle = False

    def emit_watermark(self, watermark: Watermark | int) -> None:
        timestamp: int = getattr(watermark, "timestamp", watermark)  # type: ignore[assignment]
        if timestamp <= self._last:
            return
        if self._idle:
            self._idle = False
            self._context.toggle(True)
        self._last = timestamp
        self._output.watermark(timestamp)

    def mark_idle(self) -> None:
        self._idle = True
        self._context.toggle(False)


class _TimestampsAndWatermarks(LiveOperator):
    def __init__(self, context: OperatorContext, output: CountingOutput, strategy: WatermarkStrategy[Any]) -> None:
        super().__init__(context, output)
        self._assigner = None if strategy.assigner is None else bind(strategy.assigner, "extract_timestamp")
        self._generator = NoWatermarks() if context.job.settings.batch else self._asked(strategy.generator)
        self._emitter = _Emitter(context, output)

    def input(self, number: int) -> Collector:
        assign, collect, fail = self._assigner, self.output.collect, self.context.fail
        on_event, ask, emitter = self._generator.on_event, self._generator.on_periodic_emit, self._emitter
        period = PERIOD if self.context.job.settings.watermark_interval else inf
        count, no_timestamp = 0, self.context.no_timestamp

        def process(value: Any, timestamp: int | None) -> None:
            nonlocal count
            if assign is not None:
                try:
                    timestamp = assign(value, no_timestamp if timestamp is None else timestamp)
                except Exception as error:
                    raise fail(failure_of(_ASSIGNER, "in", error)) from error
            try:
                collect(value, timestamp)
                on_event(value, timestamp, emitter)
                count += 1
                if count >= period:
                    count = 0
                    ask(emitter)
            except Exception as error:
                raise fail(failure_of(_GENERATOR, "in", error)) from error

        return process

    def advance(self, watermark: int) -> None:
        """Only the end of the input passes."""
        self.context.time.watermark = watermark
        if watermark == MAX_WATERMARK:
            self._emitter.emit_watermark(watermark)

    def close(self) -> None:
        super().close()
        if self._opened:
            self._opened = False
            self._asked(self._generator.on_periodic_emit, self._emitter)

    def _asked(self, function: Callable[..., Any], *args: Any) -> Any:
        """What a function of the watermark generator returns."""
        try:
            return function(*args)
        except Exception as error:
            raise self.context.fail(failure_of(_GENERATOR, "in", error)) from error
