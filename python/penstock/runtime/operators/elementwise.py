"""Operators that look at one record at a time: map, flat_map, filter, process.

Sources of the semantics: ``StreamMap``, ``StreamFlatMap``, ``StreamFilter``, ``ProcessOperator``,
``KeyedProcessOperator`` (Flink 1.11); what a Python function may return is PyFlink's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.common.output_tag import OutputTag
from penstock.common.typeinfo import TypeInformation
from penstock.errors import UnsupportedError
from penstock.runtime.binding import bind
from penstock.runtime.context import OperatorContext
from penstock.runtime.operators.base import LiveOperator, StreamOperator
from penstock.runtime.outputs import Collector, Output


@dataclass(frozen=True, eq=False)
class StreamMap(StreamOperator):
    """One record in, one record out.

    Attributes:
        f: a callable, or an object with ``map``.
        output_type: declared type of the result.
    """

    f: Any
    output_type: TypeInformation | None = None

    def build(self, context: OperatorContext, output: Output) -> LiveOperator:
        return _Map(context, output, self.f, self.keyed)


class _Map(LiveOperator):
    def input(self, number: int) -> Collector:
        f, collect, fail = bind(self.function, "map"), self.output.collect, self.context.fail

        def process(value: Any, timestamp: int | None) -> None:
            try:
                result = f(value)
            except Exception as error:
                raise fail(error) from error
            collect(result, timestamp)

        return self.with_key(process)


@dataclass(frozen=True, eq=False)
class StreamFlatMap(StreamOperator):
    """One record in, any number out.

    Attributes:
        f: a callable that returns an iterable, or an object with ``flat_map``.
        output_type: declared type of the results.
    """

    f: Any
    output_type: TypeInformation | None = None

    def build(self, context: OperatorContext, output: Output) -> LiveOperator:
        return _FlatMap(context, output, self.f, self.keyed)


class _FlatMap(LiveOperator):
    def input(self, number: int) -> Collector:
        f, collect, fail = bind(self.function, "flat_map"), self.output.collect, self.context.fail
        emitted = 0

        def process(value: Any, timestamp: int | None) -> None:
            nonlocal emitted
            try:
                for result in f(value):
                    emitted += 1
                    collect(result, timestamp)
            except Exception as error:
                raise fail(error) from error

        self.main_records = lambda records_in: emitted
        return self.with_key(process)


@dataclass(frozen=True, eq=False)
class StreamFilter(StreamOperator):
    """Keeps the records for which the function is true.

    Attributes:
        f: a callable, or an object with ``filter``.
    """

    f: Any

    def build(self, context: OperatorContext, output: Output) -> LiveOperator:
        return _Filter(context, output, self.f, self.keyed)


class _Filter(LiveOperator):
    def input(self, number: int) -> Collector:
        f, collect, fail = bind(self.function, "filter"), self.output.collect, self.context.fail
        emitted = 0

        def process(value: Any, timestamp: int | None) -> None:
            nonlocal emitted
            try:
                keep = f(value)
            except Exception as error:
                raise fail(error) from error
            if keep:
                emitted += 1
                collect(value, timestamp)

        self.main_records = lambda records_in: emitted
        return self.with_key(process)


class ProcessContext:
    """The ``ctx`` of a ProcessFunction."""

    __slots__ = ("_state", "_timestamp")

    def __init__(self, state: Any = None) -> None:
        self._timestamp: int | None = None
        self._state = state

    def timestamp(self) -> int | None:
        """Timestamp of the current record in milliseconds, None if it has none."""
        return self._timestamp

    def get_current_key(self) -> Any:
        """The current record's key; None on a stream that is not keyed."""
        return self._state.current_key if self._state is not None else None

    def timer_service(self) -> Any:
        """Not supported yet."""
        raise UnsupportedError(
            "Timers are not supported yet: ctx.timer_service() has nothing to offer. See docs/limits.md."
        )


@dataclass(frozen=True, eq=False)
class ProcessOperator(StreamOperator):
    """One record in, any number out, to the main output (``yield value``) and to side outputs (``yield tag, value``).

    Attributes:
        f: an object with ``process_element(value, ctx)``, or a callable of that form; it may return None for nothing.
        output_type: declared type of the main results.
    """

    f: Any
    output_type: TypeInformation | None = None

    def build(self, context: OperatorContext, output: Output) -> LiveOperator:
        return _Process(context, output, self.f, self.keyed)


@dataclass(frozen=True, eq=False)
class KeyedProcessOperator(ProcessOperator):
    """A process function on a keyed stream: ``ctx.get_current_key()`` and keyed state."""


class _Process(LiveOperator):
    def input(self, number: int) -> Collector:
        f, fail = bind(self.function, "process_element"), self.context.fail
        collect, collect_side = self.output.collect, self.output.collect_side
        ctx = ProcessContext(self.context.state)
        emitted = 0

        def process(value: Any, timestamp: int | None) -> None:
            nonlocal emitted
            ctx._timestamp = timestamp
            try:
                results = f(value, ctx)
                if results is None:
                    return
                for result in results:
                    if type(result) is tuple and len(result) == 2 and type(result[0]) is OutputTag:
                        collect_side(result[0].tag_id, result[1], timestamp)
                    else:
                        emitted += 1
                        collect(result, timestamp)
            except Exception as error:
                raise fail(error) from error

        self.main_records = lambda records_in: emitted
        return self.with_key(process, always=True)  # ctx shows the key
