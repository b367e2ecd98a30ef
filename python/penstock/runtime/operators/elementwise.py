"""Operators that look at one record at a time (Flink 1.11: ``StreamMap``, ``StreamFlatMap``, ``StreamFilter``). What
a Python function may return is PyFlink's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, ClassVar

from penstock.common.typeinfo import TypeInformation
from penstock.runtime import native
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import Fragment, KeyedStage, LiveOperator, StreamOperator, calling
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.constants import filled_by, reads_opened
from penstock.runtime.operators.native_process import ProcessPrograms
from penstock.runtime.operators.process_stages import process_stages
from penstock.runtime.usercode.functions import bind, lifecycle, unless_iterable


@dataclass(frozen=True, eq=False)
class _OneByOne(StreamOperator):
    """Base of these. ``f`` is a callable, or an object with the operator's method; ``program`` is it, compiled, and so
    are ``programs`` where it may have state of a key."""

    f: Any
    program: str | None = field(default=None, kw_only=True)
    programs: ProcessPrograms | None = field(default=None, kw_only=True)

    @property
    def keeps_state(self) -> bool:
        return super().keeps_state and lifecycle(self.f, "open") is not None


class _LiveOneByOne(LiveOperator):
    kind: ClassVar[str]

    def __init__(self, context: OperatorContext, output: CountingOutput, spec: _OneByOne) -> None:
        super().__init__(context, output, spec.f, spec.keyed)
        self._program, self._programs = spec.program, spec.programs

    @property
    def waits_for_open(self) -> bool:
        return self._program is not None and reads_opened(self._program)

    def stage(self, functions: ModuleType) -> Any:
        text = self._program
        if text is not None and reads_opened(text):
            text = filled_by(text, self.function) if self._opened and self.keyed is None else None
        program = native.program(functions, text)
        return None if program is None else (self.kind, program)

    def keyed_stage(self, functions: ModuleType, number: int) -> KeyedStage | None:
        stages = process_stages(functions, self, self._programs, [self.keyed])
        return None if stages is None else stages[0]


@dataclass(frozen=True, eq=False)
class StreamMap(_OneByOne):
    """One record in, one record out: ``map``."""

    output_type: TypeInformation[Any] | None = None

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _Map(context, output, self)


class _Map(_LiveOneByOne):
    kind = "map"

    def input(self, number: int) -> Collector:
        f, collect, fail = bind(self.function, "map"), self.output.collect, self.context.fail

        def process(value: Any, timestamp: int | None) -> None:
            try:
                result = f(value)
            except Exception as error:
                raise fail(error) from error
            collect(result, timestamp)

        return self.with_key(process)

    def fragment(self, number: int = 0) -> Fragment:
        call, bindings, explain = calling(bind(self.function, "map"), "f", "{v}")
        return self.with_key_line(Fragment((f"{{o}} = {call}",), bindings, explain=explain))


@dataclass(frozen=True, eq=False)
class StreamFlatMap(_OneByOne):
    """One record in, any number out: ``flat_map``, or a callable that returns an iterable."""

    output_type: TypeInformation[Any] | None = None

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _FlatMap(context, output, self)


class _FlatMap(_LiveOneByOne):
    kind = "flat_map"
    emitted: int = 0

    def input(self, number: int) -> Collector:
        f, collect, fail = bind(self.function, "flat_map"), self.output.collect, self.context.fail

        def process(value: Any, timestamp: int | None) -> None:
            results: Any = ()
            try:
                results = f(value)
                for result in results:
                    self.emitted += 1
                    collect(result, timestamp)
            except Exception as error:
                raise fail(unless_iterable(results, f, error)) from error

        return self.with_key(process)

    def fragment(self, number: int = 0) -> Fragment:
        f, lines = bind(self.function, "flat_map"), ("{r} = ()", "{r} = {f}({v})", "for {o} in {r}:")

        def explain(names: Mapping[str, Any], error: Exception) -> Exception:
            return unless_iterable(names["r"], f, error)

        return self.with_key_line(Fragment(lines, {"f": f}, depth=1, counted=True, loops=1, explain=explain))


@dataclass(frozen=True, eq=False)
class StreamFilter(_OneByOne):
    """Keeps a record if the function of it is true: ``filter``."""

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _Filter(context, output, self)


class _Filter(_LiveOneByOne):
    kind = "filter"
    emitted: int = 0

    def input(self, number: int) -> Collector:
        f, collect, fail = bind(self.function, "filter"), self.output.collect, self.context.fail

        def process(value: Any, timestamp: int | None) -> None:
            try:
                keep = bool(f(value))
            except Exception as error:
                raise fail(error) from error
            if keep:
                self.emitted += 1
                collect(value, timestamp)

        return self.with_key(process)

    def fragment(self, number: int = 0) -> Fragment:
        call, bindings, explain = calling(bind(self.function, "filter"), "f", "{v}")
        fragment = Fragment((f"if {call}:",), bindings, out="{v}", depth=1, counted=True, explain=explain)
        return self.with_key_line(fragment)
