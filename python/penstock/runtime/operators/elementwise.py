"""Operators that look at one record at a time: map, flat_map, filter.

Sources of the semantics: ``StreamMap``, ``StreamFlatMap``, ``StreamFilter`` (Flink 1.11); what a Python function may
return is PyFlink's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.runtime.binding import bind, unless_iterable
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
            results: Any = ()
            try:
                results = f(value)
                for result in results:
                    emitted += 1
                    collect(result, timestamp)
            except Exception as error:
                raise fail(unless_iterable(results, f, error)) from error

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
