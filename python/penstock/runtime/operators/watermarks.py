"""TimestampsAndWatermarks: gives records event times, and the stream watermarks.

A record goes first, then the watermark it leads to. Watermarks from above are swallowed, all but the last one, which
says that the input has ended; the operator's own never go back. In BATCH mode there are timestamps and no watermarks.

A *periodic* generator is asked after every PERIOD records and after the last one. Flink asks by the clock, every 200 ms
unless told otherwise, so that which records are late depends on the machine; here it does not. With an interval of 0
both ask after the last record only. Source of the semantics: ``TimestampsAndWatermarksOperator`` (Flink 1.11, and 1.20
for BATCH)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any, ClassVar

from penstock.common.watermark_strategy import NoWatermarks, Watermark, WatermarkStrategy
from penstock.runtime import native
from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import FLUSH, Around, Explain, Fragment, LiveOperator, StreamOperator, calling
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.chain.segments import Columnar
from penstock.runtime.usercode.failure import failure_of
from penstock.runtime.usercode.functions import bind

PERIOD = 20_000  # records between two questions to a periodic generator: about what a subtask of Flink reads in 200 ms

_ASSIGNER = "timestamp assigner of the watermark strategy"
_GENERATOR = "watermark generator of the strategy"


@dataclass(frozen=True, eq=False)
class TimestampsAndWatermarks(StreamOperator):
    """Applies a strategy."""

    in_java: ClassVar[bool] = True

    strategy: WatermarkStrategy[Any]
    program: str | None = field(default=None, kw_only=True)  # the timestamp assigner, compiled

    @property
    def toggles(self) -> bool:  # type: ignore[override]
        """A generator of the user's may say so at any record, Penstock's when they are asked."""
        return self.strategy.kind == "generator"

    @property
    def keeps_output(self) -> bool:
        """A generator of the user's looks at a record that has been emitted already."""
        return self.strategy.kind == "generator"

    @property
    def hands_over(self) -> str:
        return f"{super().hands_over} {self.strategy.signature}"

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _TimestampsAndWatermarks(context, output, self.strategy, self.program)


class _Watermarks:
    """The watermark and idleness of the operator: watermarks grow, and are the least of the parts that are neither idle
    nor at their end (Flink: ``WatermarkOutputMultiplexer``). O(parts) where the part that is furthest behind has moved.
    """

    def __init__(self, context: OperatorContext, output: CountingOutput) -> None:
        self._context, self._output = context, output
        self._last, self._idle = MIN_WATERMARK, False
        self._parts: dict[int, int] = {}
        self._idle_parts: set[int] = set()

    def volatile(self) -> tuple[Any, Any]:
        return (self._last, self._idle), (dict(self._parts), set(self._idle_parts))

    def resume(self, whole: tuple[int, bool], parts: tuple[dict[int, int], set[int]]) -> None:
        self._last, self._idle = whole
        self._parts, self._idle_parts = dict(parts[0]), set(parts[1])

    def emit(self, timestamp: int) -> None:
        if timestamp <= self._last:
            return
        if self._idle:
            self._idle = False
            self._context.toggle(True)
        self._last = timestamp
        self._output.watermark(timestamp)

    def begin(self, part: int) -> None:
        self._parts[part] = MIN_WATERMARK

    def advance(self, part: int, timestamp: int) -> None:
        """A part is further; what one says that has ended does not count."""
        if part not in self._parts:
            return
        self._idle_parts.discard(part)
        before = self._parts[part]
        if timestamp > before:
            self._parts[part] = timestamp
            if before <= min(self._parts.values()) or self._idle_parts:
                self._emit_least()

    def mark_idle(self, part: int) -> None:
        """A part holds nobody back until its next watermark; one that has ended does so no more."""
        if part not in self._parts:
            return
        self._idle_parts.add(part)
        if self._idle_parts >= self._parts.keys():
            self._idle = True
            self._context.toggle(False)
        else:
            self._emit_least()

    def end(self, part: int) -> None:
        self._parts.pop(part, None)
        self._idle_parts.discard(part)
        self._emit_least()

    def _emit_least(self) -> None:
        active = [last for part, last in self._parts.items() if part not in self._idle_parts]
        if active and min(active) > MIN_WATERMARK:
            self.emit(min(active))


class _Part:
    """The output of the generator of a part."""

    def __init__(self, watermarks: _Watermarks, part: int) -> None:
        self._watermarks, self._part = watermarks, part

    def emit_watermark(self, watermark: Watermark | int) -> None:
        timestamp: int = getattr(watermark, "timestamp", watermark)  # type: ignore[assignment]
        self._watermarks.advance(self._part, timestamp)

    def mark_idle(self) -> None:
        self._watermarks.mark_idle(self._part)


class _TimestampsAndWatermarks(LiveOperator):
    """Each input is a part with a generator of its own; there is one from the beginning."""

    def __init__(
        self,
        context: OperatorContext,
        output: CountingOutput,
        strategy: WatermarkStrategy[Any],
        program: str | None = None,
    ) -> None:
        super().__init__(context, output)
        self._program = program
        self.toggling = strategy.kind == "generator" or strategy.idle_ms is not None
        self._assigner = None if strategy.assigner is None else bind(strategy.assigner, "extract_timestamp")
        self._new_generator = NoWatermarks if context.job.settings.batch else strategy.generator
        self._strategy = strategy
        self._watermarks = _Watermarks(context, output)
        self._generators: list[Any] = []
        self._emitters: list[_Part] = []
        self._events: list[int] = []  # of each part
        self._heard: list[tuple[int, int]] = []  # events of each part when it was last heard of, and the time
        self.add_part()

    def input(self, number: int) -> Collector:
        assign, collect, fail = self._assigner, self.output.collect, self.context.fail
        generators, emitter = self._generators, self._emitters[number]  # resume() brings others
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
                generators[number].on_event(value, timestamp, emitter)
                count = events[number] = events[number] + 1
                if count % period == 0:
                    generators[number].on_periodic_emit(emitter)
            except Exception as error:
                raise fail(failure_of(_GENERATOR, "in", error)) from error

        return process

    def fragment(self, number: int = 0) -> Fragment | None:
        if self._strategy.kind == "generator":
            return None
        emitter, period = self._emitters[number], PERIOD if self.context.job.settings.watermark_interval else None
        bindings = {"generators": self._generators, "emitter": emitter, "events": self._events, "part": number}
        bindings |= {"none": self.context.no_timestamp}
        lines: tuple[str, ...] = ()
        explain: Explain = lambda _, error: error  # noqa: E731
        if self._assigner is not None:
            call, bound, explain = calling(self._assigner, "assign", "{v}", "{none} if {t} is None else {t}")
            lines, bindings = (f"{{s}} = {call}",), {**bindings, **bound}
        return Fragment(
            lines,
            bindings,
            out="{v}",
            before=len(lines),
            of_key=lambda names, error: failure_of(_ASSIGNER, "in", explain(names, error)),
            stamps=self._assigner is not None,
            around=_around(self._generators[number], period, lambda names, error: failure_of(_GENERATOR, "in", error)),
        )

    def columns(self, number: int) -> Columnar | None:
        """Takes records of an input as columns; None where only objects can go, or it would save nothing."""
        segment, functions = self.output.columns, native.functions()
        if segment is None or functions is None or self._strategy.kind == "generator":
            return None
        program = native.program(functions, self._program)
        if program is None:
            return None
        run = functions.TimestampAssigner(program, self.context.no_timestamp).run
        process, on_event = self.input(number), self._generators[number].on_event
        ask, emitter = self._generators[number].on_periodic_emit, self._emitters[number]
        period = PERIOD if self.context.job.settings.watermark_interval else sys.maxsize
        events = self._events

        def take(batch: Any, start: int, end: int) -> None:
            while start < end:
                stop = min(end, start + period - events[number] % period)
                stamped, latest, done = run(batch, start, stop)
                if latest is not None:
                    segment.take_all(stamped)
                    on_event(None, latest, emitter)
                    events[number] += done - start
                    if events[number] % period == 0:
                        ask(emitter)
                if done < stop:
                    times = batch.times
                    process(batch[done], None if times is None else times[done])
                    done += 1
                start = done

        return Columnar(segment, take)

    def advance(self, watermark: int) -> None:
        """Only the end of the input passes."""
        self.context.time.watermark = watermark
        if watermark == MAX_WATERMARK:
            self._watermarks.emit(watermark)

    def end_part(self, part: int) -> None:
        """An input of several has ended: it holds the others back no more."""
        self._asked(self._generators[part].on_periodic_emit, self._emitters[part])
        self._watermarks.end(part)

    def add_part(self) -> int:
        part = len(self._generators)
        self._generators.append(self._asked(self._new_generator))
        self._emitters.append(_Part(self._watermarks, part))
        self._watermarks.begin(part)
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
        return super().volatile(), parts, *self._watermarks.volatile()

    def resume(self, volatile: Any) -> None:
        operator, (parts, generators, events, heard), whole, least = volatile
        super().resume(operator)
        while len(self._generators) < parts:
            self.add_part()
        self._generators[:] = generators
        self._events[:], self._heard[:] = events, heard
        self._watermarks.resume(whole, least)

    def close(self) -> None:
        super().close()
        if self._opened:
            self._opened = False
            self._asked(self._generators[-1].on_periodic_emit, self._emitters[-1])

    def _asked(self, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return function(*args)
        except Exception as error:
            raise self.context.fail(failure_of(_GENERATOR, "in", error)) from error


def _around(generator: Any, period: int | None, explain: Explain) -> Around:
    """The work of a generator of Penstock's around records, without a call for each."""
    begin, after, end = ["{count} = {events}[{part}]"], ["{count} += 1"], ["{events}[{part}] = {count}"]
    if not isinstance(generator, NoWatermarks):
        begin += ["{generator} = {generators}[{part}]", "{largest} = {generator}._largest"]
        after = ["if {s} is not None and ({largest} is None or {s} > {largest}):", " {largest} = {s}", *after]
        end.append("{generator}._largest = {largest}")
        if period is not None:
            begin.append(f"{{due}} = {{count}} - {{count}} % {period} + {period}")
            asks = [f"{{due}} += {period}", FLUSH, *end, "{generator}.on_periodic_emit({emitter})"]
            after += ["if {count} == {due}:", *(f" {line}" for line in asks)]
    return Around(("count", "due", "generator", "largest"), tuple(begin), tuple(after), tuple(end), explain)
