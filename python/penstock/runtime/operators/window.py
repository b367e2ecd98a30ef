"""WindowOperator: elements per key and window, a trigger that fires, an evictor, lateness, a function (Flink 1.11:
``WindowOperator``, ``EvictingWindowOperator``).

For each window of an element: add it, ask the trigger, apply the function if the trigger fires, purge, register the
cleanup. On a timer: ask the trigger, apply, purge, then, at the cleanup time, forget contents, trigger state and, by
the function's ``clear``, the function's state. An empty window calls nothing. Results carry the window's last
timestamp. An element is *late* when each of its windows is over (the watermark has reached its last timestamp plus the
lateness), and so is the element's own time; it goes to the side output for late data, or is counted and dropped.

At the head of a fused chain :mod:`.window_batches` takes the records, where it knows assigner and contents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, ClassVar

from penstock.common import contexts
from penstock.common.typeinfo import TypeInformation
from penstock.errors import InvalidProgramError
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.chain.context import OperatorContext, RuntimeContext
from penstock.runtime.chain.operator import KeyedStage, LiveOperator, StreamOperator, Take
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.operators.native_counts import NativeCounts, native_counts
from penstock.runtime.operators.native_triggers import TriggerPrograms, native_triggers
from penstock.runtime.operators.native_windows import NativeWindows, kind_of_windows, native_windows
from penstock.runtime.operators.process import Times, Yielding
from penstock.runtime.operators.reduce import key_of
from penstock.runtime.operators.window_batches import Parts
from penstock.runtime.operators.window_contents import STATE, contents_of, is_apart
from penstock.runtime.operators.window_takers import taker
from penstock.runtime.state.evolution import ACCUMULATORS, settle_table
from penstock.runtime.state.handles import merge_tables
from penstock.runtime.state.keyed import Table
from penstock.runtime.state.operator_time import BatchTime
from penstock.runtime.state.store import KeyedStateStore
from penstock.runtime.state.timers import Timer
from penstock.runtime.windows.assigners import AssignerContext, WindowAssigner
from penstock.runtime.windows.evictors import Evictor
from penstock.runtime.windows.functions import WindowFunction
from penstock.runtime.windows.merging_windows import merging_of
from penstock.runtime.windows.triggers import Trigger, TriggerContext, TriggerResult, check_result


@dataclass(frozen=True, eq=False)
class WindowOperator(StreamOperator):
    """Windows on a keyed stream. A window lives on for ``lateness`` milliseconds after its end; elements that come
    later go to the side output ``late_tag``, or are dropped. ``accumulator_type`` is what is declared of
    accumulators, ``programs`` are the functions of trigger and evictor, compiled."""

    keeps_output: ClassVar[bool] = True
    keeps_records: ClassVar[bool] = True

    assigner: WindowAssigner[Any, Any]
    trigger: Trigger[Any, Any]
    evictor: Evictor[Any] | None
    function: WindowFunction
    lateness: int = 0
    late_tag: str | None = None
    accumulator_type: TypeInformation[Any] | None = None
    programs: TriggerPrograms = field(default_factory=TriggerPrograms)

    def prepare(self, parallelism: int) -> WindowOperator:
        if self.assigner.constant is not None and self.trigger.needs_an_end():
            raise InvalidProgramError(
                f"{self.trigger} on {self.assigner} waits for the end of a window, and the global window has none. "
                "Use a CountTrigger, a DeltaTrigger or a ContinuousEventTimeTrigger, or windows of time.",
                flink_class="java.lang.ClassCastException",
            )
        return self

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _Window(context, output, self)


class WindowContext(Times, contexts.WindowContext[Any]):
    """The ``context`` of a ProcessWindowFunction (PyFlink: ``ProcessWindowFunction.Context``)."""

    def __init__(self, context: OperatorContext, merging: bool) -> None:
        assert context.state is not None
        self._state, self._time = context.state, context.time
        self._merging = merging
        self._window: Any = None

    def __repr__(self) -> str:
        return f"<Context window={self._window} watermark={self._time.watermark}>"

    def window(self) -> Any:
        return self._window

    def window_state(self) -> KeyedStateStore:
        if self._merging:
            raise InvalidProgramError(
                "Per-window state is not allowed when using merging windows.",
                flink_class="java.lang.UnsupportedOperationException",
            )
        return KeyedStateStore(self._state, self._window)

    def global_state(self) -> KeyedStateStore:
        return KeyedStateStore(self._state)


class _Window(Yielding):
    def __init__(self, context: OperatorContext, output: CountingOutput, spec: WindowOperator) -> None:
        keyed = key_of(spec)
        super().__init__(context, output, spec.function.function, keyed)
        self._spec = spec
        self._event_time = spec.assigner.is_event_time()
        self._state = context.keyed_state(keyed)
        self._trigger_context = TriggerContext(self._state, context.time, context.metrics, self._stays)
        self._window_context = WindowContext(context, spec.assigner.merging)
        self._contents = contents_of(spec.function, spec.evictor, context, self._window_context.window)
        self._merging = merging_of(spec.assigner, self._state)
        self._apply = spec.function.bind()
        self._clearer = spec.function.clearer()
        self.shares = self._watches = False
        time, trigger = context.time, spec.trigger
        self._register, self._delete = time.register_processing_time, time.delete_processing_time
        if self._event_time:
            self._register, self._delete = time.register_event_time, time.delete_event_time
        self._on_timers = self._timer(trigger.on_event_time, True), self._timer(trigger.on_processing_time, False)
        time.use_timers(self._state, *self._on_timers)

    def input(self, number: int) -> Collector:
        assigner = self._spec.assigner
        if assigner.constant is not None:
            return self._in_one_window(next(iter(assigner.constant)))
        return self._in_windows()

    def taker(self, number: int) -> Take | None:
        spec, state = self._spec, self._state
        if spec.evictor is not None or self.keyed is None:
            return None
        parts = Parts(
            self,
            self._tag,
            spec.assigner,
            spec.trigger,
            spec.lateness,
            self.keyed,
            state,
            self._contents,
            spec.function.kept(),
            self.input(number),
            self._on_timers,
            self._emit_contents,
            self._trigger_context,
            self._window_context,
            self._apply,
            self._clearer,
            self._merging,
        )
        return taker(parts)

    def keyed_stage(self, functions: ModuleType, number: int) -> KeyedStage | None:
        spec, context, state, keyed = self._spec, self.context, self._state, self.keyed
        assert keyed is not None
        if isinstance(context.time, BatchTime) or not state.has_native_keys:
            return None
        kind = kind_of_windows(spec.assigner, spec.trigger, spec.evictor)
        if kind == "counted":
            counts = native_counts(functions, keyed, spec.trigger, spec.evictor, spec.function)
            if counts is None:
                return None
            self._watches = counts.has_objects()
            return NativeCounts(functions, counts, self, spec.function)
        stage: NativeWindows | None = None
        if kind == "triggered":
            stage = native_triggers(functions, spec, self)
        else:
            parts = spec.assigner, spec.trigger, spec.function, spec.lateness, spec.late_tag
            windows = native_windows(functions, keyed, *parts)
            if windows is not None:
                stage = NativeWindows(functions, windows, self, spec.function, spec.late_tag, self._event_time)
        context.time.ahead = stage
        self._watches = stage is not None and stage.in_place and (kind != "usual" or spec.lateness > 0)
        return stage

    def open(self) -> None:
        kind, context = self._contents.kind, self.context
        declared = self._spec.accumulator_type if kind == ACCUMULATORS else context.config.input_type
        windows = self._spec.assigner.sort()
        context.call(settle_table, self._state, STATE, kind, declared, self._spec.field_defaults, windows)
        super().open()

    def end_key(self) -> None:
        super().end_key()
        self._trigger_context.enter(self._trigger_context.window)  # its tables are gone

    def _in_one_window(self, window: Any) -> Collector:
        """Elements of a window that is always the same and never over: counting windows, which should be fast."""
        assert self.keyed is not None
        state, fail, emit_contents = self._state, self.context.fail, self._emit_contents
        enter, select, failure = state.enter, self.keyed.selector(), self.keyed.failure
        on_element, ask_context = self._spec.trigger.on_element, self._trigger_context
        add, table = self._contents.add, state.table(STATE, window)
        ask_context.enter(window)

        def process(value: Any, timestamp: int | None) -> None:
            nonlocal table
            try:
                key = select(value)
                if type(key) is str:  # what enter() does for the usual key, without the call
                    slot = state.current_key = state.slot = key
                else:
                    slot = enter(key)
            except Exception as error:
                raise fail(failure(error)) from error
            try:
                if not table:
                    table = state.table(STATE, window)
                add(table, slot, value, timestamp)
                result = on_element(value, timestamp, window, ask_context)
                try:
                    if result.fire:
                        emit_contents(window, window)
                    if result.purge:
                        table.pop(slot, None)
                except AttributeError:
                    check_result(result, on_element)
                    raise
            except Exception as error:
                raise fail(error) from error

        return process

    def _in_windows(self) -> Collector:
        assert self.keyed is not None
        state, time, fail = self._state, self.context.time, self.context.fail
        enter, select, failure = state.enter, self.keyed.selector(), self.keyed.failure
        assign = self._spec.assigner.bind(AssignerContext(self.context.clock.now, RuntimeContext(self.context)))
        take, merged, merging = self._take, self._merged, self._merging
        event_time, cleanup_time = self._event_time, self._cleanup_time

        def process(value: Any, timestamp: int | None) -> None:
            try:
                slot = enter(select(value))
            except Exception as error:
                raise fail(failure(error)) from error
            try:
                skipped = True
                for window in assign(value, timestamp):
                    live = window if merging is None else merging.add(window, merged)
                    cleanup = cleanup_time(live)
                    if event_time and cleanup <= time.watermark:
                        if merging is not None:
                            merging.retire(live)
                        continue
                    skipped = False
                    take(live, slot, value, timestamp, cleanup)
                if skipped:
                    self._skip(value, timestamp)
            except Exception as error:
                raise fail(error) from error

        return process

    def _take(self, window: Any, slot: Any, value: Any, timestamp: int | None, cleanup: int) -> None:
        kept = window if self._merging is None else self._merging.state_window(window)
        self._contents.add(self._state.table(STATE, kept), slot, value, timestamp)
        context = self._trigger_context
        context.enter(window)
        ask = self._spec.trigger.on_element
        self._follow(ask, ask(value, timestamp, window, context), window, kept)
        if cleanup < MAX_WATERMARK:
            self._register(cleanup, window)

    def _follow(self, ask: Callable[..., TriggerResult], result: TriggerResult, window: Any, kept: Any) -> None:
        """Do what a method of the trigger has said."""
        try:
            if result.fire:
                self._emit_contents(window, kept)
            if result.purge:
                self._state.drop(STATE, kept)
        except AttributeError:
            check_result(result, ask)
            raise

    def _emit_contents(self, window: Any, kept: Any) -> None:
        state, context = self._state, self._window_context
        table: Table | None = state.find(STATE, kept)
        if not table:
            return
        context._window = window
        key, end = state.current_key, window.max_timestamp()

        def see(shown: list[Any]) -> None:
            if self._watches and not all(map(is_apart, shown)):
                self.shares = True
            self.emit(self._apply(key, window, shown, context), end)

        self._contents.show(table, state.slot, see)

    def show(self, key: Any, window: Any, shown: list[Any]) -> None:
        """Show a window to the function, and emit what it returns."""
        self._state.resume(key, key)
        self._window_context._window = window
        self.emit(self._apply(key, window, shown, self._window_context), window.max_timestamp())

    def forget(self, key: Any, window: Any) -> None:
        """Call the function's ``clear`` for a window that is over."""
        assert self._clearer is not None
        self._state.resume(key, key)
        self._window_context._window = window
        self._clearer(self._window_context)

    def _skip(self, value: Any, timestamp: int | None) -> None:
        if not self._event_time or timestamp is None:
            return
        if timestamp + self._spec.lateness <= self.context.time.watermark:
            if self._spec.late_tag is not None:
                self.output.collect_side(self._spec.late_tag, value, timestamp)
            else:
                self.late_dropped += 1

    def _cleanup_time(self, window: Any) -> int:
        """When a window is over for good; MAX_WATERMARK: never."""
        end = window.max_timestamp()
        return min(end + self._spec.lateness, MAX_WATERMARK) if self._event_time else end

    def _stays(self, window: Any) -> bool:
        """Whether a window is still there when event time has come to its end."""
        return not self._event_time or self._cleanup_time(window) == MAX_WATERMARK

    def _timer(self, ask: Callable[[int, Any, TriggerContext], TriggerResult], event: bool) -> Callable[[Timer], None]:
        cleans, fail = event is self._event_time, self.context.fail

        def on_timer(timer: Timer) -> None:
            window = kept = timer.namespace
            if not hasattr(window, "max_timestamp"):
                return  # of another operator, that had this ID in an earlier program
            if self._merging is not None and (kept := self._merging.state_window(window)) is None:
                return  # it has become another window, and the trigger has left a timer behind
            try:
                self._trigger_context.enter(window)
                self._follow(ask, ask(timer.time, window, self._trigger_context), window, kept)
                if cleans and timer.time == self._cleanup_time(window):
                    self._clear(window, kept)
            except Exception as error:
                raise fail(error) from error

        return on_timer

    def _clear(self, window: Any, kept: Any) -> None:
        self._state.drop(STATE, kept)
        self._spec.trigger.clear(window, self._trigger_context)
        if self._clearer is not None:
            self._window_context._window = window
            self._clearer(self._window_context)
        if self._merging is not None:
            self._merging.retire(window)

    def _merged(self, result: Any, parts: list[Any], kept: Any, others: list[Any]) -> None:
        """Live windows have become another one: so do their contents and what the trigger knows."""
        trigger, context, event = self._spec.trigger, self._trigger_context, self._event_time
        now = self.context.time.watermark if event else self.context.clock.now()
        if self._cleanup_time(result) <= now:
            kind, clock = ("an event-time", "watermark") if event else ("a processing-time", "processing time")
            raise InvalidProgramError(
                f"The end timestamp of {kind} window cannot become earlier than the current {clock} by merging. "
                f"Current {clock}: {now} window: {result}",
                flink_class="java.lang.UnsupportedOperationException",
            )
        context.enter(result)
        context.merged = parts
        trigger.on_merge(result, context)
        context.merged = ()
        for part in parts:
            context.enter(part)
            trigger.clear(part, context)
            self._delete(self._cleanup_time(part), part)
        merge_tables(self._state, STATE, kept, others, self._contents.merge)
