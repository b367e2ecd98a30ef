"""The operators of a program with their functions compiled, as far as they can be, and a verdict about each.

Which operators have a native form is known here; a chain is cut into native segments where it runs
(:mod:`penstock.runtime.chain.segments`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled, Refusal
from penstock.compiler.trees import Trees
from penstock.runtime import native
from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.constants import filled
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.reduce import GroupedReduce
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from penstock.runtime.usercode.functions import simple_name

S = TypeVar("S", bound=StreamOperator)

_ONE_BY_ONE: dict[type, str] = {StreamMap: "map", StreamFlatMap: "flat_map", StreamFilter: "filter"}


@dataclass(frozen=True)
class Verdict:
    """How a function of an operator runs: ``native`` without one of the program, ``compiled``, or in ``Python``."""

    how: str
    function: str = ""  # its name, where it is of the program
    refusal: Refusal | None = None


@dataclass
class Compilation:
    """Compiles the functions of a program, each once."""

    trees: Trees = field(default_factory=Trees)
    _known: dict[tuple[int, str], tuple[Any, Compiled | Refusal]] = field(default_factory=dict[Any, Any])

    def function(self, function: Any, kind: str) -> Compiled | Refusal:
        """A user function as a program, or why it stays in Python (:func:`compile_function`)."""
        known = self._known.get((id(function), kind))
        if known is None:  # with the function, which keeps its id
            known = self._known[id(function), kind] = function, _known(compile_function(function, kind, self.trees))
        return known[1]

    def operator(self, operator: S) -> S:
        """An operator with its functions compiled."""
        if operator.keyed is not None:
            operator = operator.keyed_by(self.partition(operator.keyed))
        kind = _ONE_BY_ONE.get(type(operator))
        if kind is not None:
            return replace(operator, program=self._program(operator.f, kind))  # type: ignore[call-arg, attr-defined]
        if isinstance(operator, GroupedReduce) and not isinstance(operator.reducer, _NATIVE_REDUCERS):
            return replace(operator, program=self._program(operator.reducer, "reduce"))
        strategy = _strategy(operator)
        if strategy is not None and strategy.assigner is not None:
            return replace(operator, program=self._program(strategy.assigner, "time"))  # type: ignore[call-arg]
        return operator

    def partition(self, partition: Any) -> Any:
        """A partition with its key selector compiled."""
        if not isinstance(partition, KeyPartition) or partition.program is not None:
            return partition
        return replace(partition, program=self._program(partition.key_selector, "key"))

    def verdicts(self, operator: StreamOperator) -> list[Verdict]:
        """How the functions of an operator run; none for an operator that has none, and no native form."""
        verdicts = [self._verdict(operator.keyed.key_selector, "key")] if operator.keyed is not None else []
        kind = _ONE_BY_ONE.get(type(operator))
        if kind is not None:
            return [*verdicts, self._verdict(operator.f, kind)]  # type: ignore[attr-defined]
        if isinstance(operator, GroupedReduce):
            native = isinstance(operator.reducer, _NATIVE_REDUCERS)
            return [*verdicts, Verdict("native") if native else self._verdict(operator.reducer, "reduce")]
        strategy = _strategy(operator)
        if strategy is not None and strategy.assigner is not None:
            return [*verdicts, self._verdict(strategy.assigner, "time")]
        return verdicts

    def _verdict(self, function: Any, kind: str) -> Verdict:
        result = self.function(function, kind)
        if isinstance(result, Refusal):
            return Verdict("Python", simple_name(function), result)
        return Verdict("compiled", simple_name(function))

    def _program(self, function: Any, kind: str) -> str | None:
        result = self.function(function, kind)
        return result.program if isinstance(result, Compiled) else None


def _known(result: Compiled | Refusal) -> Compiled | Refusal:
    """The same, but that the native module must know all that a program uses."""
    functions = native.functions()
    try:
        if isinstance(result, Compiled) and functions is not None:
            functions.Program(filled(result.program, lambda *_: None))
    except ValueError as error:
        return Refusal(str(error))
    return result


_NATIVE_REDUCERS = SumAggregator, ComparableAggregator


def _strategy(operator: StreamOperator) -> WatermarkStrategy[Any] | None:
    if isinstance(operator, StreamSource):
        return operator.watermarks
    return operator.strategy if isinstance(operator, TimestampsAndWatermarks) else None
