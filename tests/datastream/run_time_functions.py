"""The functions of the run scripts that see time, windows, keyed state and timers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.common import OutputTag, WatermarkGenerator, WatermarkStrategy
from penstock.datastream import (
    AggregateFunction,
    AggregatingStateDescriptor,
    AllWindowFunction,
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessWindowFunction,
    ReducingStateDescriptor,
    ValueStateDescriptor,
    WindowFunction,
)
from penstock.datastream.window import Trigger, TriggerResult
from tests.datastream.run_notes import IllegalStateException, Notes, Traced, rec, text

MIN, MAX = -(2**63), 2**63 - 1


def moment(time: int | None) -> str:
    """A time as the scripts' results write it."""
    return {MIN: "min", MAX: "max", None: "null"}.get(time, str(time))


def span(window: Any) -> str:
    """A window as the scripts' results write it."""
    return f"{moment(window.start)}..{moment(window.end)}" if hasattr(window, "start") else "global"


def listed(elements: Iterable[Any]) -> str:
    """Records as Java writes a list of them."""
    return f"[{', '.join(map(text, elements))}]"


def sorted_list(elements: Iterable[Any]) -> str:
    """Records as Java writes a sorted list of their texts."""
    return f"[{', '.join(sorted(map(text, elements)))}]"


# --- process functions ------------------------------------------------------------------------------------------------


class Stamp(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield stamped(value, ctx)


def stamped(value: Any, ctx: Any) -> str:
    return f"{text(value)} ts={moment(ctx.timestamp())} wm={moment(ctx.timer_service().current_watermark())}"


class Timers(KeyedProcessFunction):
    def __init__(self, d: int) -> None:
        self.d = d

    def open(self, runtime_context: Any) -> None:
        self.n = runtime_context.get_state(ValueStateDescriptor("n"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield f"E {ctx.get_current_key()} {stamped(value, ctx)}"
        timers, t, d = ctx.timer_service(), value[2], self.d
        register, delete = timers.register_event_time_timer, timers.delete_event_time_timer
        case = value[1] % 6
        if case in (0, 2, 4):
            register(t + d)
        if case == 2:
            register(t + 2 * d)
        if case in (1, 4):
            delete(t + d)
        if case == 3:
            register(t - d)
        if case == 5:
            register(MAX)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        n = (self.n.value() or 0) + 1
        self.n.update(n)
        wm = moment(ctx.timer_service().current_watermark())
        place = f"{ctx.get_current_key()} {moment(timestamp)} ts={moment(ctx.timestamp())} wm={wm}"
        yield f"T {place} n={n} {ctx.time_domain().name}"
        if n < 4 and timestamp != MAX:
            ctx.timer_service().register_event_time_timer(timestamp + self.d)


class Alarm(KeyedProcessFunction):
    """Says when a key has been silent."""

    def __init__(self, d: int) -> None:
        self.d = d

    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        last, timers = self.last.value(), ctx.timer_service()
        if last is not None:
            timers.delete_event_time_timer(last)
        self.last.update(value[2] + self.d)
        timers.register_event_time_timer(value[2] + self.d)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield f"silent {ctx.get_current_key()} at {moment(timestamp)} state={moment(self.last.value())}"
        self.last.clear()


class Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0, 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: Any) -> str:
        return f"{accumulator[0]}/{accumulator[1]}"

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class States(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.v = runtime_context.get_state(ValueStateDescriptor("v"))
        self.l = runtime_context.get_list_state(ListStateDescriptor("l"))
        self.m = runtime_context.get_map_state(MapStateDescriptor("m"))
        self.r = runtime_context.get_reducing_state(ReducingStateDescriptor("r", max))
        self.a = runtime_context.get_aggregating_state(AggregatingStateDescriptor("a", Mean()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        v = value[1]
        if v == 0:
            for state in (self.v, self.l, self.m, self.r, self.a):
                state.clear()
        elif v < 0:
            self.l.update([v])
            self.m.remove(-v)
            self.l.add_all([v, v])
        else:
            self.v.update((self.v.value() or 0) + v)
            self.l.add(v)
            self.m.put(v, (self.m.get(v) or 0) + 1)
            self.r.add(v)
            self.a.add(v)
        yield f"{ctx.get_current_key()} {self._shown()}"

    def _shown(self) -> str:
        entries = sorted(f"{key}={value}" for key, value in self.m.items())
        listing = f"[{', '.join(map(str, self.l.get()))}]"
        empty = str(self.m.is_empty()).lower()
        a, r = ("null" if state.get() is None else state.get() for state in (self.a, self.r))
        v = "null" if self.v.value() is None else self.v.value()
        return f"v={v} l={listing} m=[{', '.join(entries)}] empty={empty} r={r} a={a}"


class TraceKeyed(Traced, KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        self.trace(f"{self.name} {text(value)}")
        ctx.timer_service().register_event_time_timer(value[2] + 10)
        yield value

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        self.trace(f"{self.name} timer {timestamp} {ctx.get_current_key()}")
        yield ("timer", 0, timestamp)


class FailKeyed(KeyedProcessFunction):
    """Fails at an element or at a timer."""

    def __init__(self, where: str) -> None:
        self.where = where

    def process_element(self, value: Any, ctx: Any) -> Any:
        if self.where == "element":
            raise IllegalStateException("in element")
        ctx.timer_service().register_event_time_timer(value[2])
        yield value

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        raise IllegalStateException("in timer")


# --- window functions -------------------------------------------------------------------------------------------------


class Apply(WindowFunction):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        yield f"{key} {span(window)} {listed(inputs)}"


class Proc(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield f"{key} {span(context.window())} {listed(elements)} wm={moment(context.current_watermark())}"


class ProcState(Traced, ProcessWindowFunction):
    """Counts firings by window and by key."""

    windows, keys = "n", "g"

    def __init__(self, notes: Notes) -> None:
        Traced.__init__(self, notes, "")

    def open(self, runtime_context: Any) -> None:
        self.heading = (
            "trace",
            runtime_context.get_task_name_with_subtasks(),
            runtime_context.get_index_of_this_subtask(),
            runtime_context.get_attempt_number(),
        )

    def close(self) -> None:
        """Not traced."""

    def _states(self, context: Any) -> tuple[Any, Any]:
        of_window = context.window_state().get_state(ValueStateDescriptor(self.windows))
        return of_window, context.global_state().get_state(ValueStateDescriptor(self.keys))

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        of_window = context.window_state().get_state(ValueStateDescriptor(self.windows))
        n = (of_window.value() or 0) + 1
        of_window.update(n)
        of_key = context.global_state().get_state(ValueStateDescriptor(self.keys))
        g = (of_key.value() or 0) + 1
        of_key.update(g)
        yield f"{key} {span(context.window())} {listed(elements)} window={n} key={g}"

    def clear(self, context: Any) -> None:
        of_window = context.window_state().get_state(ValueStateDescriptor(self.windows))
        n = of_window.value()
        of_key = context.global_state().get_state(ValueStateDescriptor(self.keys))
        g = of_key.value()
        wm = moment(context.current_watermark())
        self.trace(f"clear {span(context.window())} n={moment(n)} key={moment(g)} wm={wm}")
        (of_window if self.windows == self.keys else self._states(context)[0]).clear()


class ProcAlias(ProcState):
    keys = "n"


class ProcSide(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        count = len(list(elements))
        yield OutputTag("s"), f"side {key} {count}"
        if count > 1:
            yield f"{key} {span(context.window())} {count}"


class ProcRec(ProcessWindowFunction):
    """Sum and end of the window as a record."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        elements = list(elements)
        yield rec(elements[0], str(key), sum(r[1] for r in elements), context.window().max_timestamp())


class AllApply(AllWindowFunction):
    def apply(self, window: Any, inputs: Any) -> Any:
        yield f"all {span(window)} {listed(inputs)}"


class AllProc(ProcessAllWindowFunction):
    def process(self, context: Any, elements: Any) -> Any:
        yield f"all {span(context.window())} {listed(elements)}"


# --- triggers and watermarks ------------------------------------------------------------------------------------------


class ByValue(Trigger):
    """Fires and purges as the element says."""

    def on_element(self, element: Any, timestamp: Any, window: Any, ctx: Any) -> TriggerResult:
        ctx.register_event_time_timer(window.max_timestamp())
        cases = TriggerResult.FIRE, TriggerResult.PURGE, TriggerResult.FIRE_AND_PURGE, TriggerResult.CONTINUE
        return cases[element[1] % 4]

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.FIRE

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Any, ctx: Any) -> None:
        ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: Any, ctx: Any) -> None:
        ctx.delete_event_time_timer(window.max_timestamp())


class Ascending(WatermarkGenerator):
    """After each record the largest timestamp less the bound less 1."""

    def __init__(self, bound: int = 0) -> None:
        self.bound, self.largest = bound, MIN + bound + 1

    def on_event(self, event: Any, event_timestamp: Any, output: Any) -> None:
        self.largest = max(self.largest, event_timestamp)
        output.emit_watermark(self.largest - self.bound - 1)


class Marker(WatermarkGenerator):
    """The timestamp of records of one key."""

    def __init__(self, s: str) -> None:
        self.s = s

    def on_event(self, event: Any, event_timestamp: Any, output: Any) -> None:
        if event[0] == self.s:
            output.emit_watermark(event_timestamp)


class Punctuated(WatermarkGenerator):
    def __init__(self, b: int) -> None:
        self.b = b

    def on_event(self, event: Any, event_timestamp: Any, output: Any) -> None:
        output.emit_watermark(event_timestamp - self.b)


class Silent(WatermarkGenerator):
    def on_event(self, event: Any, event_timestamp: Any, output: Any) -> None:
        return None


def watermarks(name: str, arguments: list[Any]) -> WatermarkStrategy:
    """A strategy of the scripts: the timestamp is the record's own field."""
    generators = {
        "Ascending": Ascending,
        "Bounded": Ascending,
        "Marker": Marker,
        "None": Silent,
        "Punctuated": Punctuated,
    }
    strategy = WatermarkStrategy.for_generator(lambda: generators[name](*arguments))
    return strategy.with_timestamp_assigner(lambda value, before: value[2])


FUNCTIONS: dict[str, Any] = {
    function.__name__: function
    for function in (
        *(Stamp, Timers, Alarm, States, FailKeyed, Apply, Proc, ProcSide, ProcRec, AllApply, AllProc, ByValue),
    )
}
"""Makers of functions by name."""

TRACED: dict[str, Any] = {function.__name__: function for function in (TraceKeyed, ProcState, ProcAlias)}
"""Makers that are given the notes first."""

TEXTS = frozenset(
    {"Stamp", "Timers", "Alarm", "States", "Apply", "Proc", "ProcState", "ProcAlias", "ProcSide", "AllApply", "AllProc"}
)
"""Functions that emit text."""
