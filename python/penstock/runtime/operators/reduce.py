"""GroupedReduce: a running reduction per key (``reduce``, ``sum``, ``min``, ``max``, ``min_by``, ``max_by``).

Source of the semantics: ``StreamGroupedReduce`` (Flink 1.11): the first record of a key is emitted as it is, every
later one as the reduction so far, with its own timestamp. ``BatchGroupedReduceOperator`` (Flink 1.20) for BATCH mode:
the reduction of all records of a key, when the key has ended, with the largest timestamp there is.

Reducing has eight forms with equal results. The first that fits runs:

- STREAMING: ``KeyedFold.add_columns`` at the head of a fused chain, for a buffer of columns, a text as key and an
  integer (``_GroupedReduce.batch``), and not with state beyond memory, whose tables are not dicts; ``KeyedFold.add``
  for other records; ``_LINES`` in a fused chain for any reducer and key; ``_GroupedReduce.input`` in a listed chain.
- BATCH, at the sender, where records may be combined (``combinable``): ``NativeSums.add`` for plain tuples without
  timestamps and sums of integers; ``combiner`` for others.
- BATCH, at the receiver: ``SumAggregator.fold`` for sums of more than eight records of a key (``BatchReduce.take``);
  ``functools.reduce`` for any reducer."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial, reduce
from types import ModuleType
from typing import Any, ClassVar

from penstock.errors import InvalidProgramError
from penstock.runtime import native
from penstock.runtime.aggregators import Aggregator, ComparableAggregator, SumAggregator
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import Batch, Fragment, KeyedStage, LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.keys.field_selectors import quick
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.state.disk.cached import CachedTable
from penstock.runtime.state.evolution import ACCUMULATORS, REDUCTIONS, settle_table
from penstock.runtime.state.keyed import Table
from penstock.runtime.state.native_table import NativeTable
from penstock.runtime.state.tracked_tables import TrackedTable
from penstock.runtime.usercode.functions import bind, lifecycle

_MISSING = object()
STATE = "_op_state"  # flink's name of this operator's only state


@dataclass(frozen=True, eq=False)
class GroupedReduce(StreamOperator):
    """A running reduction per key. ``reducer`` is a callable of two records, or an object with ``reduce``; ``program``
    is the same, compiled."""

    keeps_output: ClassVar[bool] = True
    keeps_records: ClassVar[bool] = True

    reducer: Any
    program: str | None = field(default=None, kw_only=True)

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        if context.job.settings.batch:
            return BatchReduce(context, output, self.reducer, key_of(self))
        return _GroupedReduce(context, output, self)


def key_of(operator: StreamOperator) -> KeyPartition:
    """How a keyed operator's input is keyed; InvalidProgramError if it is not."""
    if operator.keyed is None:
        raise InvalidProgramError(f"{type(operator).__name__} needs a keyed stream. Call key_by before it.")
    return operator.keyed


_FEW = 8  # values that are reduced one by one
_TOGETHER = 512  # results that are emitted together


class BatchReduce(LiveOperator):
    """A reduction in BATCH mode; its state is one value."""

    emitted: int = 0

    def __init__(self, context: OperatorContext, output: CountingOutput, reducer: Any, keyed: KeyPartition) -> None:
        super().__init__(context, output, reducer, keyed)
        self._reduce = bind(reducer, "reduce")
        self._fold = reducer.fold if isinstance(reducer, SumAggregator) else partial(reduce, self._reduce)
        self._value: Any = _MISSING
        self._results: list[Any] = []
        rich = lifecycle(reducer, "open") is not None  # through which alone it can have got hold of state
        self._enter = self.keyed_input(lambda value, timestamp: None, keyed) if rich else None

    def input(self, number: int) -> Collector:
        return lambda value, timestamp: self.take([value])

    def take(self, values: list[Any]) -> None:
        """Records of the current key come in, one or more, in order."""
        if self._value is not _MISSING:
            values = [self._value, *values]
        elif self._enter is not None:
            self._enter(values[0], None)
        if len(values) == 1:
            self._value = values[0]
            return
        try:
            self._value = self._fold(values) if len(values) > _FEW else reduce(self._reduce, values)
        except Exception as error:
            raise self.context.fail(error) from error

    def end_key(self) -> None:
        if self._enter is not None:
            super().end_key()
        self._results.append(self._value)
        self._value = _MISSING
        if len(self._results) >= _TOGETHER:
            self._emit()

    def advance(self, watermark: int) -> None:
        self._emit()
        super().advance(watermark)

    def _emit(self) -> None:
        results, self._results = self._results, []
        self.emitted += len(results)
        self.output.feed(results, MAX_WATERMARK)


class _GroupedReduce(LiveOperator):
    def __init__(self, context: OperatorContext, output: CountingOutput, spec: GroupedReduce) -> None:
        super().__init__(context, output, spec.reducer, key_of(spec))
        self._defaults, self._program = spec.field_defaults, spec.program

    def open(self) -> None:
        declared = self.context.config.input_type
        self.context.call(settle_table, self.context.state, STATE, REDUCTIONS, declared, self._defaults)
        super().open()

    def input(self, number: int) -> Collector:
        assert self.keyed is not None
        state = self.context.keyed_state(self.keyed)
        enter, select, table = state.enter, self.keyed.selector(), state.table(STATE)
        combine, collect, fail = bind(self.function, "reduce"), self.output.collect, self.context.fail
        failure = self.keyed.failure

        def process(value: Any, timestamp: int | None) -> None:
            try:
                key = select(value)
                if type(key) is str:  # what enter() does for the usual key, without the call
                    slot = state.current_key = state.slot = key
                else:
                    slot = enter(key)
            except Exception as error:
                raise fail(failure(error)) from error
            try:
                current = table.get(slot, _MISSING)
                result = table[slot] = value if current is _MISSING else combine(current, value)
            except Exception as error:
                raise fail(error) from error
            collect(result, timestamp)

        return process

    def batch(self, functions: ModuleType) -> Batch | None:
        reducer, keyed = self.function, self.keyed
        assert keyed is not None
        if not isinstance(reducer, (SumAggregator, ComparableAggregator)):
            return None
        state, position, kind = self.context.keyed_state(keyed), reducer.position, reducer.field_fold
        if kind is None or type(position) is not int or position < 0 or not (state.has_own_forms and state.holds_dicts):
            return None
        select, table = quick(keyed.selector()), state.table(STATE)
        fold, settle = _fold(functions, table, kind, reducer)
        state.caches.append(settle)

        def run(values: list[Any], keys: list[Any] | None, results: list[Any]) -> bool:
            if keys is None:
                with contextlib.suppress(Exception):  # whose record it was comes out one by one
                    keys = list(map(select, values))
            if keys is None or not functions.are_own_forms(keys):
                fold.flush()
                return False
            fold.add(keys, values, results)
            return True

        return Batch(run, fold.add_columns)

    def keyed_stage(self, functions: ModuleType, number: int) -> KeyedStage | None:
        keyed, reducer = self.keyed, self.function
        assert keyed is not None
        state, key = self.context.keyed_state(keyed), keyed.key_program(functions)
        if key is None or not state.has_native_keys:
            return None
        if isinstance(reducer, (SumAggregator, ComparableAggregator)):
            position = reducer.position
            combine = None if type(position) is not int or position < 0 else (reducer.native_fold, position)
        else:
            combine = native.program(functions, self._program)
        if combine is None:
            return None
        table = state.native_table(functions, STATE)
        return _NativeReduce(functions.KeyedReduce(key, combine, table.table), table, self.context.fail)

    def fragment(self, number: int = 0) -> Fragment:
        keyed = self.keyed
        assert keyed is not None
        state = self.context.keyed_state(keyed)
        bindings = {
            "key": keyed.selector(),
            "state": state,
            "enter": state.enter,
            "get": state.table(STATE).get,
            "table": state.table(STATE),
            "missing": _MISSING,
            "reduce": bind(self.function, "reduce"),
        }
        return Fragment(_LINES, bindings).after(_KEY_LINES, {}, lambda _, error: keyed.failure(error), _KNOWN_LINES)


class _NativeReduce:
    """The reduction in native code, on columns."""

    def __init__(self, reductions: Any, table: NativeTable | CachedTable, fail: Callable[..., BaseException]) -> None:
        self._reductions, self._table, self._fail = reductions, table, fail
        self.flush, self.leave = table.flush, table.leave

    def run(self, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        try:
            return self._table.run(self._reductions, batch, start, end)
        except Exception as error:  # of a disk
            raise self._fail(error) from error


def _fold(functions: ModuleType, table: Table, kind: str, reducer: Aggregator) -> tuple[Any, Callable[[], None]]:
    arguments = table, kind, reducer.position, reducer.reduce
    if not isinstance(table, TrackedTable):
        fold = functions.KeyedFold(*arguments)
        return fold, fold.settle
    touched: set[Any] = set()
    fold = functions.KeyedFold(*arguments, touched)

    def settle() -> None:
        fold.settle()
        if touched:
            table.mark(touched)
            touched.clear()

    return fold, settle


_KEY_LINES = (
    "{r} = {key}({v})",
    "if type({r}) is str:",
    " {state}.current_key = {state}.slot = {r}",
    "else:",
    " {r} = {enter}({r})",
)
_KNOWN_LINES = ("{r} = {k}", *_KEY_LINES[1:])
_LINES = ("{o} = {get}({r}, {missing})", "{o} = {table}[{r}] = {v} if {o} is {missing} else {reduce}({o}, {v})")
"""After those, what ``_GroupedReduce.input`` does, as statements."""


@dataclass(frozen=True, eq=False)
class GroupedFold(StreamOperator):
    """A running fold per key (Flink: ``StreamGroupedFold``), which begins with a copy of ``initial``. ``folder`` is
    a callable of (value so far, record), or an object with ``fold``."""

    keeps_output: ClassVar[bool] = True

    initial: Any
    folder: Any

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _GroupedFold(context, output, self)


class _GroupedFold(LiveOperator):
    def __init__(self, context: OperatorContext, output: CountingOutput, spec: GroupedFold) -> None:
        super().__init__(context, output, spec.folder, key_of(spec))
        self._initial = spec.initial

    def open(self) -> None:
        self.context.call(settle_table, self.context.state, STATE, ACCUMULATORS, None)
        super().open()

    def input(self, number: int) -> Collector:
        assert self.keyed is not None
        state = self.context.keyed_state(self.keyed)
        table = state.table(STATE)
        fold, collect, fail = bind(self.function, "fold"), self.output.collect, self.context.fail

        def process(value: Any, timestamp: int | None) -> None:
            try:
                current = table.get(state.slot, _MISSING)
                start = copy.deepcopy(self._initial) if current is _MISSING else current
                result = table[state.slot] = fold(start, value)
            except Exception as error:
                raise fail(error) from error
            collect(result, timestamp)

        return self.keyed_input(process, self.keyed)
