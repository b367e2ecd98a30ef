"""Process functions: any number of records out, side outputs, and on a keyed stream state and timers (Flink 1.11:
``ProcessOperator``, ``KeyedProcessOperator``). What a Python function may return is PyFlink's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar

from penstock.common import contexts
from penstock.common.checks import moment
from penstock.common.functions.output_tag import OutputTag
from penstock.common.functions.state import TimeDomain
from penstock.common.typeinfo import TypeInformation
from penstock.errors import InvalidProgramError
from penstock.runtime import native
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import Fragment, KeyedStage, LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.chain.segments import Taker
from penstock.runtime.operators.native_function import function_taker
from penstock.runtime.operators.native_process import ProcessPrograms
from penstock.runtime.operators.process_stages import process_stages
from penstock.runtime.state.handles import no_key
from penstock.runtime.state.native_handles import with_native_timers
from penstock.runtime.state.operator_time import Firing, OperatorTime
from penstock.runtime.state.timers import TimerQueue
from penstock.runtime.usercode.functions import bind, lifecycle, unless_iterable


class Times:
    """The time of contexts; their ``_time`` is the operator's."""

    __slots__ = ("_time",)

    _time: OperatorTime

    def current_watermark(self) -> int:
        return self._time.watermark

    def current_processing_time(self) -> int:
        return self._time.clock.now()


class TimerService(Times, contexts.TimerService):
    """The ``timer_service()`` of a context (PyFlink: ``TimerService``)."""

    __slots__ = ("_context",)

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self._time = context.time

    def __repr__(self) -> str:
        return f"<TimerService watermark={self._time.watermark}>"

    def register_event_time_timer(self, timestamp: int) -> None:
        self._timers("register").register_event_time(moment(timestamp, "register_event_time_timer"))

    def register_processing_time_timer(self, timestamp: int) -> None:
        self._timers("register").register_processing_time(moment(timestamp, "register_processing_time_timer"))

    def delete_event_time_timer(self, timestamp: int) -> None:
        self._timers("delete").delete_event_time(moment(timestamp, "delete_event_time_timer"))

    def delete_processing_time_timer(self, timestamp: int) -> None:
        self._timers("delete").delete_processing_time(moment(timestamp, "delete_processing_time_timer"))

    def _timers(self, what: str) -> OperatorTime:
        if self._context.state is None:
            raise InvalidProgramError(
                f"Operator {self._context.config.name!r} wants to {what} a timer, but its input is not keyed: timers "
                "belong to a key. Call key_by before it.",
                flink_class="java.lang.UnsupportedOperationException",
            )
        if self._context.state.slot is None:
            raise no_key("A timer")
        return self._time


class ProcessContext(Times, contexts.OnTimerContext[Any]):
    """The ``ctx`` of a process function, for elements and timers."""

    __slots__ = ("_domain", "_no_timestamp", "_state", "_timers", "_timestamp")

    def __init__(self, context: OperatorContext) -> None:
        self._timestamp: int | None = None
        self._no_timestamp = context.no_timestamp
        self._domain: TimeDomain | None = None
        self._state = context.state
        self._time = context.time
        self._timers: contexts.TimerService = TimerService(context)

    def __repr__(self) -> str:
        return f"<Context timestamp={self._timestamp} watermark={self._time.watermark}>"

    def timestamp(self) -> int | None:
        return self._no_timestamp if self._timestamp is None else self._timestamp

    def get_current_key(self) -> Any:
        return self._state.current_key if self._state is not None else None

    def timer_service(self) -> contexts.TimerService:
        return self._timers

    def time_domain(self) -> TimeDomain | None:
        return self._domain


class _NoTag: ...


class Yielding(LiveOperator):
    """A live operator whose functions yield records, and (tag, record) for side outputs."""

    emitted: int = 0

    @cached_property
    def _tag(self) -> type:
        """The class of the tags of side outputs. PyFlink looks for tags only where the program calls
        ``get_side_output``; elsewhere tag and value are a record, and this is a class that no tag has."""
        return OutputTag if self.context.config.side_outputs or not self.context.job.settings.pyflink else _NoTag

    def emit(self, results: Any, timestamp: int | None) -> None:
        """Emit what a function has returned: an iterable, such as a generator, which runs meanwhile; None is
        nothing."""
        if results is None:
            return
        output, tag = self.output, self._tag
        collect = output.collect
        try:
            for result in results:
                if type(result) is tuple and len(result) == 2 and type(result[0]) is tag:
                    output.collect_side(result[0].tag_id, result[1], timestamp)
                else:
                    self.emitted += 1
                    collect(result, timestamp)
        except TypeError as error:
            better = unless_iterable(results, self.function, error)
            if better is error:
                raise
            raise better from error

    def processing(self, f: Callable[[Any, Any], Any], ctx: Any) -> Collector:
        """The collector that calls ``f(value, ctx)`` and emits the results."""
        emit, fail = self.emit, self.context.fail

        def process(value: Any, timestamp: int | None) -> None:
            ctx._timestamp = timestamp
            ctx._domain = None
            try:
                emit(f(value, ctx), timestamp)
            except Exception as error:
                raise fail(error) from error

        return process

    def calling(self, f: Callable[[Any, Any], Any], ctx: Any) -> Fragment:
        """The same as statements."""
        return self._fragment(_LINES, {"f": f, "ctx": ctx})

    def _fragment(self, lines: tuple[str, ...], bindings: Mapping[str, Any]) -> Fragment:
        bindings = {**bindings, "side": self.output.collect_side, "tag": self._tag}

        def explain(names: Mapping[str, Any], error: Exception) -> Exception:
            return unless_iterable(names["r"], self.function, error)

        return Fragment(lines, bindings, depth=3, counted=True, loops=1, explain=explain)

    def use_timers(self, ctx: ProcessContext) -> None:
        """On a keyed stream: lead timers to the function's ``on_timer``, if it has one. What it emits carries the
        timer's time."""
        state, on_timer = self.context.state, lifecycle(self.function, "on_timer")

        def firing(domain: TimeDomain) -> Firing:
            emit, fail, event_time = self.emit, self.context.fail, domain is TimeDomain.EVENT_TIME
            run: Any = None

            def fire(queue: TimerQueue, limit: int | None) -> None:
                nonlocal run
                if run is None:
                    fragment = self._fragment(_TIMER_LINES, {"f": on_timer, "ctx": ctx, "domain": domain})
                    run = (on_timer and self.output.timers(fragment, event_time=event_time)) or one_by_one
                run(queue.enter_due, limit, state)  # those of windows are of another operator, that had this ID before

            def one_by_one(next_due: Callable[[int | None, Any], int | None], limit: int | None, state: Any) -> None:
                while (time := next_due(limit, state)) is not None:
                    if on_timer is None:
                        continue
                    ctx._timestamp, ctx._domain = time, domain
                    try:
                        results = on_timer(time, ctx)
                        if results is not None:
                            emit(results, time if event_time else None)
                    except Exception as error:
                        raise fail(error) from error

            return fire

        if state is not None:
            if type(self.context.time) is OperatorTime:  # in BATCH mode some timers are ignored
                ctx._timers = with_native_timers(state, ctx._timers)
            self.context.time.use_firing(state, firing(TimeDomain.EVENT_TIME), firing(TimeDomain.PROCESSING_TIME))


@dataclass(frozen=True, eq=False)
class ProcessOperator(StreamOperator):
    """One record in, any number out, to the main output (``yield value``) and to side outputs (``yield tag, value``).
    ``f`` has ``process_element(value, ctx)``, or is a callable of that form; it may return None for nothing."""

    f: Any
    output_type: TypeInformation[Any] | None = None
    programs: ProcessPrograms | None = field(default=None, kw_only=True)

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _Process(context, output, self.f, self.keyed, self.programs)


@dataclass(frozen=True, eq=False)
class KeyedProcessOperator(ProcessOperator):
    """A process function on a keyed stream: ``ctx.get_current_key()``, keyed state, timers."""

    keeps_output: ClassVar[bool] = True


class _Process(Yielding):
    def __init__(
        self,
        context: OperatorContext,
        output: CountingOutput,
        function: Any,
        keyed: Any,
        programs: ProcessPrograms | None,
    ) -> None:
        super().__init__(context, output, function, keyed)
        self._programs = programs
        self._ctx = ProcessContext(context)
        self.use_timers(self._ctx)

    def stage(self, functions: ModuleType) -> Any:
        if self.keyed is not None or self._programs is None or self._programs.asks:
            return None
        program = native.program(functions, self._programs.methods["process_element"])
        return None if program is None else ("flat_map", program)

    def columns(self, number: int) -> Taker | None:
        return function_taker(self, self._programs, number) if self.keyed is None else None

    def keyed_stage(self, functions: ModuleType, number: int) -> KeyedStage | None:
        stages = process_stages(functions, self, self._programs, [self.keyed])
        return None if stages is None else stages[0]

    def input(self, number: int) -> Collector:
        return self.with_key(self.processing(bind(self.function, "process_element"), self._ctx), always=True)

    def fragment(self, number: int = 0) -> Fragment:
        return self.with_key_line(self.calling(bind(self.function, "process_element"), self._ctx), always=True)


_LINES = (
    "{r} = ()",
    "{ctx}._timestamp = {t}",
    "{ctx}._domain = None",
    "{r} = {f}({v}, {ctx})",
    "if {r} is not None:",
    " for {o} in {r}:",
    "  if type({o}) is tuple and len({o}) == 2 and type({o}[0]) is {tag}:",
    "   {side}({o}[0].tag_id, {o}[1], {t})",
    "  else:",
)
"""``Yielding.processing`` as statements."""
_TIMER_LINES = (_LINES[0], "{ctx}._timestamp = {v}", "{ctx}._domain = {domain}", *_LINES[3:])
"""The same for a timer."""
