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

from penstock.common.watermark_strategy import NoWatermarks, Watermark, WatermarkStrategy
from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.usercode.failure import failure_of
from penstock.runtime.usercode.functions import bind

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
    in_java: ClassVar[bool] = True

    strategy: WatermarkStrategy[Any]

    @property
    def keeps_output(self) -> bool:
        """A generator of the user's looks at a record that has been emitted already."""
        return self.strategy.kind == "generator"

    @property
    def hands_over(self) -> str:
        return f"{super().hands_over} {self.strategy.told}"

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _TimestampsAndWatermarks(context, output, self.strategy)


class _Emitter:
    """The output of a generator: watermarks that grow, and idleness."""

    def __init__(self, context: OperatorContext, output: CountingOutput) -> None:
        self._context, self._output = context, output
        self.last = MIN_WATERMARK
        self._idle = False

    def emit_watermark(self, watermark: Watermark | int) -> None:
        timestamp: int = getattr(watermark, "timestamp", watermark)  # type: ignore[assignment]
        if timestamp <= self.last:
            return
        if self._idle:
            self._idle = False
            self._context.toggle(True)
        self.last = timestamp
        self._output.watermark(timestamp)

    def mark_idle(self) -> None:
        self._idle = True
        self._context.toggle(False)

    def volatile(self) -> tuple[int, bool]:
        """See :meth:`~penstock.runtime.chain.operator.LiveOperator.volatile`."""
        return self.last, self._idle

    def resume(self, volatile: tuple[int, bool]) -> None:
        """Know what another one knew."""
        self.last, self._idle = volatile


class _Least:
    """The least of the watermarks of parts that are neither idle nor at their end (Flink:
    ``WatermarkOutputMultiplexer``). O(parts) where the part that is furthest behind has moved.

    Args:
        emitter: takes it.
    """

    def __init__(self, emitter: _Emitter) -> None:
        self._emitter = emitter
        self._last: dict[int, int] = {}
        self._idle: set[int] = set()

    def begin(self, part: int) -> None:
        """There is a part more."""
        self._last[part] = MIN_WATERMARK

    def volatile(self) -> tuple[dict[int, int], set[int]]:
        """See :meth:`~penstock.runtime.chain.operator.LiveOperator.volatile`."""
        return dict(self._last), set(self._idle)

    def resume(self, volatile: tuple[dict[int, int], set[int]]) -> None:
        """Know what another one knew."""
        self._last, self._idle = dict(volatile[0]), set(volatile[1])

    def emit(self, part: int, watermark: Watermark | int) -> None:
        """A part is further; what one says that has ended does not count."""
        if part not in self._last:
            return
        timestamp: int = getattr(watermark, "timestamp", watermark)  # type: ignore[assignment]
        self._idle.discard(part)
        before = self._last[part]
        if timestamp > before:
            self._last[part] = timestamp
            if before <= min(self._last.values()) or self._idle:
                self._say()

    def mark_idle(self, part: int) -> None:
        """A part holds nobody back until its next watermark; one that has ended does so no more."""
        if part not in self._last:
            return
        self._idle.add(part)
        if self._idle >= self._last.keys():
            self._emitter.mark_idle()
        else:
            self._say()

    def end(self, part: int) -> None:
        """A part has ended."""
        self._last.pop(part, None)
        self._idle.discard(part)
        self._say()

    def _say(self) -> None:
        active = [last for part, last in self._last.items() if part not in self._idle]
        if active and min(active) > MIN_WATERMARK:
            self._emitter.emit_watermark(min(active))


class _Part:
    """The output of the generator of a part."""

    def __init__(self, least: _Least, part: int) -> None:
        self._least, self._part = least, part

    def emit_watermark(self, watermark: Watermark | int) -> None:
        self._least.emit(self._part, watermark)

    def mark_idle(self) -> None:
        self._least.mark_idle(self._part)


class _TimestampsAndWatermarks(LiveOperator):
    """Each input is a part with a generator of its own; there is one from the beginning."""

    def __init__(self, context: OperatorContext, output: CountingOutput, strategy: WatermarkStrategy[Any]) -> None:
        super().__init__(context, output)
        self._assigner = None if strategy.assigner is None else bind(strategy.assigner, "extract_timestamp")
        self._made, self._strategy = NoWatermarks if context.job.settings.batch else strategy.generator, strategy
        self._emitter = _Emitter(context, output)
        self._least = _Least(self._emitter)
        self._generators: list[Any] = []
        self._emitters: list[_Part] = []
        self._events: list[int] = []  # of each part
        self._heard: list[tuple[int, int]] = []  # events of each part when it was last heard of, and the time
        self.add_part()

    def input(self, number: int) -> Collector:
        assign, collect, fail = self._assigner, self.output.collect, self.context.fail
        generator, emitter = self._generators[number], self._emitters[number]
        on_event, ask = generator.on_event, generator.on_periodic_emit
        period = PERIOD if self.context.job.settings.watermark_interval else inf
        no_timestamp, events = self.context.no_timestamp, self._events

        def process(value: Any, timestamp: int | None) -> None:
            if assign is not None:
                try:
                    timestamp = assign(value, no_timestamp if timestamp is None else timestamp)
                except Exception as error:
                    raise fail(failure_of(_ASSIGNER, "in", error)) from error
            try:
                collect(value, timestamp)
                on_event(value, timestamp, emitter)
                count = events[number] = events[number] + 1
                if count % period == 0:
                    ask(emitter)
            except Exception as error:
                raise fail(failure_of(_GENERATOR, "in", error)) from error

        return process

    def advance(self, watermark: int) -> None:
        """Only the end of the input passes."""
        self.context.time.watermark = watermark
        if watermark == MAX_WATERMARK:
            self._emitter.emit_watermark(watermark)

    def end_part(self, part: int) -> None:
        """An input of several has ended: it holds the others back no more."""
        self._asked(self._generators[part].on_periodic_emit, self._emitters[part])
        self._least.end(part)

    def add_part(self) -> int:
        """One more input; its number."""
        part = len(self._generators)
        self._generators.append(self._asked(self._made))
        self._emitters.append(_Part(self._least, part))
        self._least.begin(part)
        self._events.append(0)
        self._heard.append((0, self.context.clock.now()))
        return part

    def end_step(self) -> None:
        """Ask the generators, and look who has been silent for too long."""
        now, idle = self.context.clock.now(), self._strategy.idle_ms
        for part, generator in enumerate(self._generators):
            heard, since = self._heard[part]
            if self._events[part] != heard:
                self._heard[part] = self._events[part], now
            elif idle is not None and now - since >= idle:
                self._emitters[part].mark_idle()
                continue
            self._asked(generator.on_periodic_emit, self._emitters[part])

    @property
    def ticks(self) -> bool:
        return self._strategy.idle_ms is not None or self._strategy.kind == "generator"

    def volatile(self) -> Any:
        parts = len(self._generators), self._generators, self._events, self._heard
        return super().volatile(), parts, self._emitter.volatile(), self._least.volatile()

    def resume(self, volatile: Any) -> None:
        own, (parts, generators, events, heard), emitter, least = volatile
        super().resume(own)
        while len(self._generators) < parts:
            self.add_part()
        self._generators[:] = generators
        self._events[:], self._heard[:] = events, heard
        self._emitter.resume(emitter)
        self._least.resume(least)

    def close(self) -> None:
        super().close()
        if self._opened:
            self._opened = False
            self._asked(self._generators[-1].on_periodic_emit, self._emitters[-1])

    def _asked(self, function: Callable[..., Any], *args: Any) -> Any:
        """What a function of the watermark generator returns."""
        try:
            return function(*args)
        except Exception as error:
            raise self.context.fail(failure_of(_GENERATOR, "in", error)) from error
