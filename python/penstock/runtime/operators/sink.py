"""StreamSink: hands every record to a sink function (Flink 1.11: ``StreamSink``)."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from penstock.common import contexts
from penstock.runtime import native
from penstock.runtime.buffers.codec import freezer
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import Fragment, Leaf, LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.chain.segments import Segment, Taker
from penstock.runtime.io.sinks import BuiltinSink
from penstock.runtime.operators.native_accumulator import KeepingProgram, NativeAccumulator
from penstock.runtime.usercode.functions import bind, lifecycle


@dataclass(frozen=True, eq=False)
class StreamSink(StreamOperator):
    """The tail of a chain. ``function`` is a sink of :mod:`penstock.runtime.io.sinks`, a user object with
    ``invoke(value)`` or ``invoke(value, context)``, or a callable of that form."""

    function: Any
    program: KeepingProgram | None = field(default=None, kw_only=True)

    @property
    def hands_over(self) -> str:
        kind = type(self.function).__name__ if isinstance(self.function, BuiltinSink) else ""
        return f"{super().hands_over} {kind}"

    @property
    def keeps_state(self) -> bool:
        return super().keeps_state and lifecycle(self.function, "open") is not None

    def prepare(self, parallelism: int) -> StreamSink:
        if isinstance(self.function, BuiltinSink):
            return replace(self, function=self.function.prepare(parallelism))
        return self

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        if isinstance(self.function, BuiltinSink):
            return _BuiltinSink(context, output, self.function)
        return _UserSink(context, output, self)


class SinkContext(contexts.SinkContext):
    """The ``context`` of a sink function's ``invoke``."""

    __slots__ = ("_timestamp",)

    def __init__(self) -> None:
        self._timestamp: int | None = None

    def __repr__(self) -> str:
        return f"<SinkContext timestamp={self._timestamp}>"

    def timestamp(self) -> int | None:
        return self._timestamp


class _UserSink(LiveOperator):
    emitted: int = 0

    def __init__(self, context: OperatorContext, output: CountingOutput, sink: StreamSink) -> None:
        super().__init__(context, output, sink.function, sink.keyed)
        self._program = sink.program

    def columns(self, number: int) -> Taker | None:
        functions = native.functions(self.context.job.settings.native)
        if functions is None or self._program is None or self.keyed is not None:
            return None
        accumulator = NativeAccumulator.of(functions, self.function, self._program)
        if accumulator is None:
            return None
        collect = self.input(number)
        segment = Segment(functions, accumulator.run, [], _ignore, collect, leave=accumulator.leave)
        return Taker(segment.take_all, closed=True, shows=True)

    def input(self, number: int) -> Collector:
        invoke, fail = bind(self.function, "invoke"), self.context.fail
        context = SinkContext() if takes_context(invoke) else None

        def process(value: Any, timestamp: int | None) -> None:
            try:
                if context is None:
                    invoke(value)
                else:
                    context._timestamp = timestamp
                    invoke(value, context)
            except Exception as error:
                raise fail(error) from error

        return self.with_key(process)

    def end_step(self) -> None:
        flush = lifecycle(self.function, "flush")
        if flush is not None:
            self.context.call(flush)

    def end_input(self) -> None:
        """Also in a job that is one step: what is gathered is handed over there, too."""
        self.end_step()

    def fragment(self, number: int = 0) -> Fragment:
        invoke = bind(self.function, "invoke")
        if not takes_context(invoke):
            return self.with_key_line(Fragment(("{f}({v})",), {"f": invoke}))
        lines = "{ctx}._timestamp = {t}", "{f}({v}, {ctx})"
        return self.with_key_line(Fragment(lines, {"f": invoke, "ctx": SinkContext()}))


def _ignore(results: object) -> None:
    """Nothing comes out of a sink."""


def takes_context(invoke: Callable[..., Any]) -> bool:
    """Whether the second argument is meant for the context: it must be given, or is called so. ``print`` and
    functions with a default of their own take the record alone."""
    try:
        parameters = list(inspect.signature(invoke).parameters.values())
    except (TypeError, ValueError):  # a builtin without a signature
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 2:
        return False
    second = positional[1]
    return second.default is second.empty or second.name in ("context", "ctx")


class _BuiltinSink(LiveOperator):
    """The writer opens with the operator and finishes in ``close``; a failure discards what it wrote."""

    emitted: int = 0

    def __init__(self, context: OperatorContext, output: CountingOutput, sink: BuiltinSink) -> None:
        super().__init__(context, output)
        self._sink, self._writer = sink, sink.writer(context)

    def fragment(self, number: int = 0) -> Leaf:
        writer, immutable = self._writer, freezer(self.context.config.input_type) is None
        call = self.context.call

        def timed(values: Sequence[Any], timestamp: int | None) -> None:
            writer.timestamp = timestamp
            call(writer.write_all, values)

        batch = timed if writer.timed else lambda values, timestamp: call(writer.write_all, values)
        return Leaf(self.input(0), batch, immutable, writer)

    def columns(self, number: int) -> Taker | None:
        settings = self.context.job.settings
        functions = native.functions(settings.native)
        if functions is None or self._sink.why_objects(functions, self.context.config.input_type, settings):
            return None
        take = self._writer.columns(functions)
        return None if take is None else Taker(partial(self.context.call, take), closed=True, shows=self._writer.shows)

    def input(self, number: int) -> Collector:
        writer, write, timed, fail = self._writer, self._writer.write, self._writer.timed, self.context.fail

        def process(value: Any, timestamp: int | None) -> None:
            try:
                if timed:
                    writer.timestamp = timestamp
                write(value)
            except Exception as error:
                raise fail(error) from error

        return process

    def open(self) -> None:
        self._opened = True
        self.context.call(self._writer.open)

    def end_step(self) -> None:
        context, writer = self.context, self._writer
        context.call(writer.end_step if context.commits else writer.pass_on if context.saves else writer.flush)

    def volatile(self) -> Any:
        return super().volatile(), self._writer.volatile()

    def resume(self, volatile: Any) -> None:
        operator, writer = volatile
        super().resume(operator)
        self._writer.resume(writer)

    def close(self) -> None:
        if self._opened:
            self.context.call(self._writer.finish)
            self._opened = False

    def dispose(self) -> None:
        if self._opened:
            self._opened = False
            with contextlib.suppress(Exception):  # the failure before it counts
                self._writer.discard()
