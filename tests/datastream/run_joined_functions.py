"""The functions of the run scripts with two inputs, asynchronous ones, and an operator of the script's own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from penstock.datastream import (
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoGroupFunction,
    CoMapFunction,
    CoProcessFunction,
    FlatJoinFunction,
    JoinFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ProcessJoinFunction,
    ValueStateDescriptor,
)
from penstock.runtime.chain.context import RuntimeContext
from penstock.runtime.chain.operator import LiveOperator, StreamOperator
from tests.datastream.run_notes import IOException, Notes, Traced, rec, text
from tests.datastream.run_time_functions import MAX, moment, sorted_list, stamped

RULES = MapStateDescriptor("rules")


class CoText(CoMapFunction):
    def map1(self, value: Any) -> str:
        return f"1:{text(value)}"

    def map2(self, value: Any) -> str:
        return f"2:{text(value)}"


class CoRepeat(CoFlatMapFunction):
    """Repeats records of input 1, keeps even ones of input 2."""

    def flat_map1(self, value: Any) -> Any:
        return [f"1:{i}{text(value)}" for i in range(value[1] % 3)]

    def flat_map2(self, value: Any) -> Any:
        return [f"2:{text(value)}"] if value[1] % 2 == 0 else []


class CoStamp(CoProcessFunction):
    """Says which input, with timestamp and watermark."""

    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield f"1:{stamped(value, ctx)}"

    def process_element2(self, value: Any, ctx: Any) -> Any:
        yield f"2:{stamped(value, ctx)}"


class CoTimers(KeyedCoProcessFunction):
    """Keeps the values of both sides and shows them at timers."""

    def __init__(self, d: int) -> None:
        self.d = d

    def open(self, runtime_context: Any) -> None:
        self.sides = [runtime_context.get_list_state(ListStateDescriptor(f"side{i}")) for i in (1, 2)]

    def _take(self, side: int, value: Any, ctx: Any) -> None:
        self.sides[side].add(value[1])
        ctx.timer_service().register_event_time_timer(MAX if self.d < 0 else value[2] + self.d)

    def process_element1(self, value: Any, ctx: Any) -> None:
        self._take(0, value, ctx)

    def process_element2(self, value: Any, ctx: Any) -> None:
        self._take(1, value, ctx)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        sides = "".join(f"[{', '.join(sorted(map(str, side.get())))}]" for side in self.sides)
        yield f"{ctx.get_current_key()} {moment(timestamp)} {sides}"


class Rules(BroadcastProcessFunction):
    """Looks up the rule of a key."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield f"E {text(value)} rule={text(ctx.get_broadcast_state(RULES).get(value[0]))}"

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        rules = ctx.get_broadcast_state(RULES)
        if value[1] == 0:
            rules.remove(value[0])
        else:
            rules.put(value[0], value)
        yield f"B {text(value)} n={len(list(rules.keys()))}"


class KeyedRules(KeyedBroadcastProcessFunction):
    """Rules, a count per key, and timers."""

    COUNT = ValueStateDescriptor("n")

    def open(self, runtime_context: Any) -> None:
        self.n = runtime_context.get_state(self.COUNT)

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.n.update((self.n.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(value[2] + 10)
        rule = text(ctx.get_broadcast_state(RULES).get(value[0]))
        yield f"E {ctx.get_current_key()} {text(value)} n={self.n.value()} rule={rule}"

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        rule = text(ctx.get_broadcast_state(RULES).get(ctx.get_current_key()))
        yield f"T {ctx.get_current_key()} {moment(timestamp)} rule={rule}"

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        counts = []

        def look(key: Any, state: Any) -> None:
            counts.append(f"{key}={state.value()}")
            if value[1] == 0:
                state.clear()

        ctx.apply_to_keyed_state(self.COUNT, look)
        ctx.get_broadcast_state(RULES).put(value[0], value)
        yield f"B {text(value)} keys=[{', '.join(sorted(counts))}]"


# --- joins ------------------------------------------------------------------------------------------------------------


class JoinText(JoinFunction):
    def join(self, first: Any, second: Any) -> str:
        return f"{text(first)}+{text(second)}"


class FlatJoinText(FlatJoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        return [f"{text(first)}<={text(second)}"] if first[1] <= second[1] else []


class CoGroupText(CoGroupFunction):
    def co_group(self, first: Any, second: Any) -> Any:
        yield f"{sorted_list(first)}&{sorted_list(second)}"


class Interval(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        times = f"ts={ctx.get_timestamp()} l={ctx.get_left_timestamp()} r={ctx.get_right_timestamp()}"
        yield f"{text(left)}~{text(right)} {times}"


# --- asynchronous -----------------------------------------------------------------------------------------------------


class Echo(AsyncFunction):
    def __init__(self, n: int) -> None:
        self.n = n

    async def async_invoke(self, value: Any) -> Any:
        await asyncio.sleep(7 * value[1] % self.n / 1000)
        return [rec(value, value[0], 10 * value[1] + i, value[2]) for i in range(value[1] % 3)]


class Never(AsyncFunction):
    def __init__(self, m: int) -> None:
        self.m = m

    async def async_invoke(self, value: Any) -> Any:
        if value[1] % self.m == 0:
            await asyncio.Event().wait()
        return [value]

    def timeout(self, value: Any) -> Any:
        return [rec(value, f"{value[0]}!late", value[1], value[2])]


class Lost(AsyncFunction):
    async def async_invoke(self, value: Any) -> Any:
        await asyncio.Event().wait()


class AsyncFail(AsyncFunction):
    async def async_invoke(self, value: Any) -> Any:
        raise IOException("in async")


# --- an operator of the script's own ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TraceOp(StreamOperator):
    """Traces its life, and emits when it ends and closes."""

    notes: Notes
    name: str

    def build(self, context: Any, output: Any) -> LiveOperator:
        return _TraceOp(context, output, self)


class _TraceOp(LiveOperator):
    def __init__(self, context: Any, output: Any, spec: TraceOp) -> None:
        super().__init__(context, output)
        self.traced = Traced(spec.notes, spec.name)
        self.name = spec.name
        self.emitted = 0

    def main_records(self, records_in: int) -> int:
        return self.emitted

    def input(self, number: int) -> Any:
        def process(value: Any, timestamp: int | None) -> None:
            self.traced.trace(f"{self.name} {text(value)} {{")
            self._emit(value, timestamp)
            self.traced.trace(f"{self.name} }}")

        return process

    def _emit(self, value: Any, timestamp: int | None) -> None:
        self.emitted += 1
        self.output.collect(value, timestamp)

    def advance(self, watermark: int) -> None:
        self.traced.trace(f"{self.name} wm {moment(watermark)} {{")
        super().advance(watermark)
        self.traced.trace(f"{self.name} wm }}")

    def open(self) -> None:
        context = RuntimeContext(self.context)
        task = context.get_task_name_with_subtasks()
        place = context.get_index_of_this_subtask(), context.get_attempt_number()
        self.traced.heading = "trace", task, *place
        self.traced.trace(f"initializeState {self.name} restored=false")
        self.traced.trace(f"open {self.name}")

    def end_input(self) -> None:
        self.traced.trace(f"endInput {self.name}")
        self._emit((f"end-{self.name}", 0, 0), 0)

    def close(self) -> None:
        self.traced.trace(f"close {self.name}")
        self._emit((f"close-{self.name}", 0, 0), 0)

    def dispose(self) -> None:
        self.traced.trace(f"dispose {self.name}")


def fold_text(accumulated: Any, r: Any) -> Any:
    return rec(r, accumulated[0] + r[0], accumulated[1] + r[1], r[2])


fold_text.__name__ = "FoldText"  # as operator names show it

FUNCTIONS: dict[str, Any] = {
    **{
        function.__name__: function
        for function in (
            *(CoText, CoRepeat, CoStamp, CoTimers, Rules, KeyedRules, JoinText, FlatJoinText, CoGroupText, Interval),
            *(Echo, Never, Lost, AsyncFail),
        )
    },
    "FoldText": lambda: fold_text,
}
"""Makers of functions by name."""

TRACED: dict[str, Any] = {"TraceOp": TraceOp}
"""Makers that are given the notes first."""

TEXTS = frozenset(
    {"CoText", "CoRepeat", "CoStamp", "CoTimers", "Rules", "KeyedRules"}
    | {"JoinText", "FlatJoinText", "CoGroupText", "Interval"}
)
"""Functions that emit text."""
