"""Operators of two inputs (Flink 1.11: ``CoStreamMap``, ``CoStreamFlatMap``, ``CoProcessOperator``,
``KeyedCoProcessOperator``). Each input has its own watermark; the operator's is the smaller one. On two keyed
streams both records' keys address one keyed state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from penstock.runtime.buffers.signals import MIN_WATERMARK, Advance
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import Fragment, KeyedStage, LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.chain.segments import Taker
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.native_function import function_taker
from penstock.runtime.operators.native_process import ProcessPrograms
from penstock.runtime.operators.process import ProcessContext, Yielding
from penstock.runtime.operators.process_stages import ProcessStage, process_stages
from penstock.runtime.usercode.functions import bind

S = TypeVar("S", bound="TwoInputOperator")


@dataclass(frozen=True, eq=False)
class TwoInputOperator(StreamOperator):
    """Base of the operators of two inputs; ``keyed`` is of the first. In a subtask it is a ``live`` operator, which
    calls the user's function ``f``."""

    live: ClassVar[type[LiveTwoInputs]]

    f: Any
    second_keyed: KeyPartition | None = field(default=None, kw_only=True)
    programs: ProcessPrograms | None = field(default=None, kw_only=True)

    def keyed_by_both(self: S, first: KeyPartition | None, second: KeyPartition | None) -> S:
        return replace(self, keyed=first, second_keyed=second)

    def key_of_input(self, number: int) -> KeyPartition | None:
        return self.second_keyed if number == 2 else self.keyed

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return self.live(context, output, self)


class LiveTwoInputs(Yielding):
    """An operator of two inputs in one subtask."""

    def __init__(self, context: OperatorContext, output: CountingOutput, spec: TwoInputOperator) -> None:
        super().__init__(context, output, spec.f, spec.keyed)
        self._keys = spec.keyed, spec.second_keyed
        self.beside.add(spec.second_keyed, "before")
        self._watermarks = [MIN_WATERMARK, MIN_WATERMARK]
        self._programs = spec.programs
        self._stages: list[ProcessStage] | None = None

    def keyed_stage(self, functions: ModuleType, number: int) -> KeyedStage | None:
        if self._stages is None:
            self._stages = process_stages(functions, self, self._programs, self._keys) or []
        return self._stages[number - 1] if self._stages else None

    def columns(self, number: int) -> Taker | None:
        return function_taker(self, self._programs, number) if self._keys == (None, None) else None

    def watermark(self, number: int) -> Advance:
        watermarks = self._watermarks

        def advance(watermark: int) -> None:
            before = min(watermarks)
            watermarks[number - 1] = watermark
            if min(watermarks) > before:
                self.advance(min(watermarks))

        return advance

    def volatile(self) -> Any:
        return super().volatile(), tuple(self._watermarks)

    def resume(self, volatile: Any) -> None:
        operator, self._watermarks[:] = volatile
        super().resume(operator)

    def with_key_of(self, number: int, process: Collector) -> Collector:
        keyed = self._keys[number - 1]
        return process if keyed is None else self.keyed_input(process, keyed)


class _CoMap(LiveTwoInputs):
    def input(self, number: int) -> Collector:
        f = bind(self.function, f"map{number}")
        return self.with_key_of(number, self.processing(lambda value, ctx: (f(value),), ProcessContext(self.context)))


class CoMap(TwoInputOperator):
    """One record out for each record of either input. ``f`` is an object with ``map1`` and ``map2``."""

    live = _CoMap


class _CoFlatMap(LiveTwoInputs):
    def input(self, number: int) -> Collector:
        f = bind(self.function, f"flat_map{number}")
        return self.with_key_of(number, self.processing(lambda value, ctx: f(value), ProcessContext(self.context)))


class CoFlatMap(TwoInputOperator):
    """Any number of records out for each record of either input. ``f`` is an object with ``flat_map1`` and
    ``flat_map2``."""

    live = _CoFlatMap


class _CoProcess(LiveTwoInputs):
    def __init__(self, context: OperatorContext, output: CountingOutput, spec: TwoInputOperator) -> None:
        super().__init__(context, output, spec)
        self._ctx = ProcessContext(context)
        self.use_timers(self._ctx)

    def input(self, number: int) -> Collector:
        return self.with_key_of(number, self.processing(self._element(number), self._ctx))

    def fragment(self, number: int = 0) -> Fragment:
        number = number or 1
        fragment, keyed = self.calling(self._element(number), self._ctx), self._keys[number - 1]
        return fragment if keyed is None else self.after_key(fragment, keyed)

    def _element(self, number: int) -> Callable[..., Any]:
        return bind(self.function, f"process_element{number}")


@dataclass(frozen=True, eq=False)
class CoProcess(TwoInputOperator):
    """A process function of two inputs, with keys also state and timers. ``f`` is an object with
    ``process_element1`` and ``process_element2``, and perhaps ``on_timer``."""

    keeps_output: ClassVar[bool] = True
    live: ClassVar[type[LiveTwoInputs]] = _CoProcess
