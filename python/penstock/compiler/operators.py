"""The operators of a program with their functions compiled, as far as they can be, and a verdict about each.

Which operators have a native form is known here; a chain is cut into native segments where it runs
(:mod:`penstock.runtime.chain.segments`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.compiler.functions import compile_function
from penstock.compiler.joins import name_of, stand_in
from penstock.compiler.kinds import AGGREGATE
from penstock.compiler.process_states import KeyedStates
from penstock.compiler.program import Compiled, Refusal
from penstock.compiler.trigger_states import trigger_states
from penstock.runtime import native
from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.constants import filled
from penstock.runtime.io.sinks import BuiltinSink
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.interval_join import IntervalJoin
from penstock.runtime.operators.native_accumulator import KeepingProgram
from penstock.runtime.operators.native_process import ProcessPrograms
from penstock.runtime.operators.native_triggers import (
    TriggerPrograms,
    inner_trigger,
    own_methods,
    why_uncompiled,
    why_untriggered,
)
from penstock.runtime.operators.native_windows import kind_of_windows, spans_of, why_unknown
from penstock.runtime.operators.process import ProcessOperator
from penstock.runtime.operators.reduce import GroupedReduce
from penstock.runtime.operators.sink import StreamSink, takes_context
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.two_inputs import CoFlatMap, CoMap, CoProcess, TwoInputOperator
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.usercode.functions import bind, lifecycle, simple_name
from penstock.runtime.windows.evictors import DeltaEvictor
from penstock.runtime.windows.functions import (
    AggregateWindow,
    ApplyWindow,
    CoGroupWindow,
    ProcessWindow,
    ReduceWindow,
    Tagged,
    TaggedKey,
    WindowFunction,
)
from penstock.runtime.windows.triggers import DeltaTrigger

S = TypeVar("S", bound=StreamOperator)
F = TypeVar("F", bound="WindowFunction | None")

_Processing = StreamMap | StreamFlatMap | StreamFilter | ProcessOperator | CoMap | CoFlatMap | CoProcess | IntervalJoin
"""Operators that call a function with a context, or one that may have state of a key."""
_ONE_BY_ONE: dict[type, str] = {StreamMap: "map", StreamFlatMap: "flat_map", StreamFilter: "filter"}
_OF_TWO: dict[type, tuple[str, str]] = {
    CoMap: ("map1", "map2"),
    CoFlatMap: ("flat_map1", "flat_map2"),
    CoProcess: ("process_element1", "process_element2"),
}
"""The methods of functions of two inputs."""


@dataclass(frozen=True)
class Verdict:
    """How a function of an operator runs: ``native`` without one of the program, ``compiled``, or in ``Python``."""

    how: str
    function: str = ""  # its name, where it is of the program
    refusal: Refusal | None = None


@dataclass
class Compilation:
    """Compiles the functions of a program, each once."""

    _known: dict[tuple[int, str], tuple[Any, Compiled | Refusal]] = field(default_factory=dict[Any, Any])

    def function(self, function: Any, kind: str) -> Compiled | Refusal:
        """A user function as a program, or why it stays in Python (:func:`compile_function`)."""
        known = self._known.get((id(function), kind))
        if known is None:  # with the function, which keeps its id
            known = self._known[id(function), kind] = function, self._compiled(function, kind)
        return known[1]

    def _compiled(self, function: Any, kind: str) -> Compiled | Refusal:
        if type(function) is TaggedKey:
            for selector in (function.first, function.second):
                result = self.function(selector, kind)
                if isinstance(result, Refusal):
                    return result
        return _known(compile_function(stand_in(function), kind))

    def operator(self, operator: S) -> S:
        """An operator with its functions compiled."""
        if operator.keyed is not None:
            operator = operator.keyed_by(self.partition(operator.keyed))
        kind = _ONE_BY_ONE.get(type(operator))
        if _has_state(operator):
            return self._process_function(operator)  # type: ignore[return-value, type-var]
        if kind is not None:
            return replace(operator, program=self._program(operator.f, kind))  # type: ignore[call-arg, attr-defined]
        if isinstance(operator, GroupedReduce) and not isinstance(operator.reducer, _NATIVE_REDUCERS):
            return replace(operator, program=self._program(operator.reducer, "reduce"))
        if isinstance(operator, WindowOperator):
            return replace(
                operator, function=self._window_function(operator), programs=self._trigger_programs(operator)
            )
        if isinstance(operator, (ProcessOperator, CoMap, CoFlatMap, CoProcess, IntervalJoin)):
            return self._process_function(operator)  # type: ignore[return-value]
        if isinstance(operator, StreamSink) and not isinstance(operator.function, BuiltinSink):
            return replace(operator, program=self._keeping(operator))
        strategy = _strategy(operator)
        if strategy is not None and strategy.assigner is not None:
            return replace(operator, program=self._program(strategy.assigner, "time"))  # type: ignore[call-arg]
        return operator

    def _sink(self, operator: StreamSink) -> Compiled | Refusal:
        """A sink of the program, compiled."""
        if operator.keyed is not None:
            return Refusal("native code has no sinks with keyed state")
        if takes_context(bind(operator.function, "invoke")):
            return Refusal("it takes a context")
        return self.function(operator.function, "invoke")

    def _keeping(self, operator: StreamSink) -> KeepingProgram | None:
        result = self._sink(operator)
        return None if isinstance(result, Refusal) else KeepingProgram(result.program, result.kept, result.assigned)

    def _process_function(self, operator: _Processing) -> _Processing:
        """A process function, compiled if all its methods can be."""
        if isinstance(operator, TwoInputOperator):
            operator = replace(operator, second_keyed=self.partition(operator.second_keyed))
        results = {method: self.function(operator.f, kind) for method, kind in _process_methods(operator)}
        compiled = {method: result for method, result in results.items() if isinstance(result, Compiled)}
        if len(compiled) < len(results) or any(_needs_key(operator, result) for result in compiled.values()):
            return operator
        states = next(iter(compiled.values())).states
        texts = {method: result.program for method, result in compiled.items()}
        tags = {method: result.tags for method, result in compiled.items()}
        return replace(operator, programs=ProcessPrograms(texts, states, tags, any(map(_asks, texts.values()))))

    def _process_verdicts(self, operator: _Processing) -> list[Verdict]:
        """Of the methods of a process function: one that stays in Python keeps the others there."""
        results = [(method, self.function(operator.f, kind)) for method, kind in _process_methods(operator)]
        name, verdicts = simple_name(operator.f), list[Verdict]()
        kept = [method for method, result in results if isinstance(result, Refusal)]
        for method, result in results:
            refusal = result if isinstance(result, Refusal) else None
            if refusal is None and kept:
                refusal = Refusal(f"{kept[0]} of the same function stays in Python, and they share state")
            elif refusal is None and _needs_key(operator, result):
                refusal = Refusal("it asks for a key, state or timers, and its stream has no keys")
            verdict = Verdict("compiled", f"{name}.{method}")
            verdicts.append(verdict if refusal is None else Verdict("Python", f"{name}.{method}", refusal))
        if isinstance(operator, IntervalJoin):
            verdicts.append(Verdict("native"))
        return verdicts

    def partition(self, partition: Any) -> Any:
        """A partition with its key selector compiled."""
        if not isinstance(partition, KeyPartition) or partition.program is not None:
            return partition
        return replace(partition, program=self._program(partition.key_selector, "key"))

    def verdicts(self, operator: StreamOperator) -> list[Verdict]:
        """How the functions of an operator run; none for an operator that has none, and no native form."""
        verdicts = [self._verdict(partition.key_selector, "key") for partition in keys_of(operator)]
        kind = _ONE_BY_ONE.get(type(operator))
        if _has_state(operator):
            return [*verdicts, *self._process_verdicts(operator)]  # type: ignore[type-var]
        if kind is not None:
            return [*verdicts, self._verdict(operator.f, kind)]  # type: ignore[attr-defined]
        if isinstance(operator, GroupedReduce):
            native = isinstance(operator.reducer, _NATIVE_REDUCERS)
            return [*verdicts, Verdict("native") if native else self._verdict(operator.reducer, "reduce")]
        if isinstance(operator, WindowOperator):
            return [*verdicts, *self._window_verdicts(operator)]
        if isinstance(operator, (ProcessOperator, CoMap, CoFlatMap, CoProcess, IntervalJoin)):
            return [*verdicts, *self._process_verdicts(operator)]
        if isinstance(operator, StreamSink) and not isinstance(operator.function, BuiltinSink):
            result, name = self._sink(operator), simple_name(operator.function)
            return [Verdict("Python", name, result) if isinstance(result, Refusal) else Verdict("compiled", name)]
        strategy = _strategy(operator)
        if strategy is not None and strategy.assigner is not None:
            return [*verdicts, self._verdict(strategy.assigner, "time")]
        return verdicts

    def _window_function(self, operator: WindowOperator) -> WindowFunction:
        function = operator.function
        if isinstance(function, AggregateWindow):
            programs = [self._program(function.aggregator, kind) for kind in _methods(operator, function.aggregator)]
            whole = tuple(program for program in programs if program is not None)
            programs = whole if len(whole) == len(programs) else None
            return replace(function, programs=programs, then=self._seeing(function.then))
        if isinstance(function, ReduceWindow):
            is_native = isinstance(function.reducer, _NATIVE_REDUCERS)
            program = None if is_native else self._program(function.reducer, "reduce")
            return replace(function, program=program, then=self._seeing(function.then))
        return self._seeing(function)

    def _seeing(self, function: F) -> F:
        """A function that sees windows, compiled, if it is one."""
        kind = _kind_of_seeing(function)
        return function if kind is None else replace(function, program=self._program(_seen_by(function), kind))  # type: ignore[return-value, type-var]

    def _trigger_programs(self, operator: WindowOperator) -> TriggerPrograms:
        """The functions of the trigger and the evictor, compiled."""
        programs = {
            method: program
            for function, method, kind in _trigger_functions(operator)
            if (program := self._program(function, kind)) is not None
        }
        of_evictor = programs.pop(_OF_EVICTOR, None)
        states = trigger_states(inner_trigger(operator.trigger)[0]) if "on_element" in programs else KeyedStates()
        return TriggerPrograms(programs, of_evictor, tuple(states.native))

    def _window_verdicts(self, operator: WindowOperator) -> list[Verdict]:
        """Of the methods or the function that reduce windows, and of the windows."""
        function, verdicts = operator.function, list[Verdict]()
        if isinstance(function, AggregateWindow):
            user = function.aggregator
            verdicts = [self._verdict(user, kind, f".{kind}") for kind in _methods(operator, user)]
        elif isinstance(function, ReduceWindow) and not isinstance(function.reducer, _NATIVE_REDUCERS):
            verdicts = [self._verdict(function.reducer, "reduce")]
        reducing = any(verdict.refusal is not None for verdict in verdicts)
        seeing = function.then if isinstance(function, (AggregateWindow, ReduceWindow)) else function
        kind = _kind_of_seeing(seeing)
        if seeing is not None and kind is not None:
            verdicts.append(self._verdict(_seen_by(seeing), kind))
        for function, method, kind in _trigger_functions(operator):
            verdicts.append(self._verdict(function, kind, f".{method}" if method == kind else ""))
        compiled = replace(
            operator, function=self._window_function(operator), programs=self._trigger_programs(operator)
        )
        reason = _why_python(compiled)
        if reason is None and reducing:
            reason = "native code needs the function that reduces windows compiled"
        return [*verdicts, Verdict("native") if reason is None else Verdict("Python", refusal=Refusal(reason))]

    def _verdict(self, function: Any, kind: str, method: str = "") -> Verdict:
        result, name = self.function(function, kind), name_of(function) + method
        if type(function) is Tagged and isinstance(result, Compiled):
            return Verdict("native")
        return Verdict("Python", name, result) if isinstance(result, Refusal) else Verdict("compiled", name)

    def _program(self, function: Any, kind: str) -> str | None:
        result = self.function(function, kind)
        return result.program if isinstance(result, Compiled) else None


def keys_of(operator: StreamOperator) -> list[KeyPartition]:
    """How the inputs of an operator are keyed, those that are."""
    partitions = [operator.keyed, operator.second_keyed if isinstance(operator, TwoInputOperator) else None]
    return [partition for partition in partitions if partition is not None]


def _has_state(operator: StreamOperator) -> bool:
    """Whether it is one of :data:`_ONE_BY_ONE` on a keyed stream, and its function has an ``open`` to get state."""
    if type(operator) not in _ONE_BY_ONE or operator.keyed is None:
        return False
    opening = lifecycle(operator.f, "open")  # type: ignore[attr-defined]
    return opening is not None and not hasattr(opening, "_penstock_hook")


def _process_methods(operator: _Processing) -> list[tuple[str, str]]:
    """The methods of a process function that are called, and their kinds."""
    if isinstance(operator, IntervalJoin):
        return [("process_element", "join")]
    method = _ONE_BY_ONE.get(type(operator))
    if method is not None:
        return [(method, f"{method}_of_key")]
    methods = [(method, method.replace("_element", "")) for method in _OF_TWO.get(type(operator), ("process_element",))]
    if isinstance(operator, (CoMap, CoFlatMap)):
        return methods
    on_timer = None if operator.keyed is None else lifecycle(operator.f, "on_timer")
    timed = on_timer is not None and getattr(on_timer, "__module__", "") != "penstock.datastream.functions"
    return [*methods, ("on_timer", "on_timer")] if timed else methods


_OF_A_KEY = ('["around","key"', '["register', '["delete')
"""The parts of programs that need a key, apart from state."""
_ASKED = (*_OF_A_KEY, '["around",', '["side",', '["opened",')


def _asks(program: str) -> bool:
    """Whether a program asks its context, or has what only an open function knows."""
    return any(word in program for word in _ASKED)


def _needs_key(operator: _Processing, result: Compiled | Refusal) -> bool:
    """Whether a function asks for what its operator has not, as its stream is not keyed."""
    keys = [operator.keyed, operator.second_keyed] if isinstance(operator, TwoInputOperator) else [operator.keyed]
    if None not in keys or isinstance(result, Refusal):
        return False
    return bool(result.states) or any(word in result.program for word in _OF_A_KEY)


def _known(result: Compiled | Refusal) -> Compiled | Refusal:
    """The same, but that the native module must know all that a program uses."""
    functions = native.functions()
    if functions is None or isinstance(result, Refusal):
        return result
    known = native.program(functions, filled(result.program, lambda *_: None)) is not None
    return result if known else Refusal("native code has no form of an expression in it")


_NATIVE_REDUCERS = SumAggregator, ComparableAggregator


def _kind_of_seeing(function: WindowFunction | None) -> str | None:
    """The kind of a function that sees windows; None for others, and for one that does something when they are over."""
    if isinstance(function, CoGroupWindow):
        return "apply_window"
    if not isinstance(function, (ProcessWindow, ApplyWindow)) or function.clearer() is not None:
        return None
    return ("process" if isinstance(function, ProcessWindow) else "apply") + ("_window" if function.keyed else "_all")


def _seen_by(function: Any) -> Any:
    """The function of the program that sees windows; that of a join with what shows it its two groups."""
    return function if isinstance(function, CoGroupWindow) else function.function


def _methods(operator: WindowOperator, aggregator: Any) -> tuple[str, ...]:
    """The methods of an aggregator that windows need: ``merge`` only where they merge."""
    merges = operator.assigner.merging and hasattr(aggregator, "merge")
    return AGGREGATE if merges else tuple(kind for kind in AGGREGATE if kind != "merge")


_OF_EVICTOR = "evictor"


def _trigger_functions(operator: WindowOperator) -> list[tuple[Any, str, str]]:
    """The functions of the trigger and the evictor that native code needs: object, method and kind."""
    if kind_of_windows(operator.assigner, operator.trigger, operator.evictor) != "triggered":
        return []
    trigger, evictor = inner_trigger(operator.trigger)[0], operator.evictor
    methods = own_methods(trigger, merging=operator.assigner.merging)
    functions: list[tuple[Any, str, str]] = [(trigger, method, method) for method in methods]
    if isinstance(trigger, DeltaTrigger):
        functions = [(trigger.delta, "get_delta", "delta")]
    if type(evictor) is DeltaEvictor:
        functions.append((evictor.delta, _OF_EVICTOR, "delta"))
    return functions


def _why_python(operator: WindowOperator) -> str | None:
    """Why compiled windows stay in Python; None for those that do not."""
    how = operator.assigner, operator.trigger, operator.evictor
    if kind_of_windows(*how) == "triggered" or spans_of(operator.assigner) is None:
        reason = why_untriggered(operator) or why_uncompiled(operator)
        if reason is not None:
            return reason
    return why_unknown(operator.function)


def _strategy(operator: StreamOperator) -> WatermarkStrategy[Any] | None:
    if isinstance(operator, StreamSource):
        return operator.watermarks
    return operator.strategy if isinstance(operator, TimestampsAndWatermarks) else None
