"""Process functions on keyed streams as users write them, one of each kind of state: what a record costs in this
process, without Spark, on its way from a collection to a sink."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from penstock.common import Configuration, Time, Types, WatermarkStrategy
from penstock.datastream import (
    AggregateFunction,
    AggregatingStateDescriptor,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    RuntimeContext,
    StateTtlConfig,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)

Record = tuple[str, int, int]  # key, number, milliseconds
Context = KeyedProcessFunction.Context[str]
RECORD = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
RESULT = Types.TUPLE([Types.STRING(), Types.LONG()])
FORMS = ("with native functions", "without them")
KEYS = 5_000
WAIT = 200
"""Milliseconds until a timer; a record comes in each."""


class Nothing(KeyedProcessFunction[str, Record, Record]):
    """Has no state: the way there and back."""

    def process_element(self, value: Record, ctx: Context) -> Iterator[Record]:
        yield value[:2]


class Counting(KeyedProcessFunction[str, Record, Record]):
    """A running sum in a value."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value: Record, ctx: Context) -> Iterator[Any]:
        total = (self.total.value() or 0) + value[1]
        self.total.update(total)
        yield value[0], total


class Living(Counting):
    """The same, of keys that are in use."""

    def open(self, runtime_context: RuntimeContext) -> None:
        descriptor = ValueStateDescriptor("total", Types.LONG())
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
        self.total = runtime_context.get_state(descriptor)


class Quiet(KeyedProcessFunction[str, Record, Any]):
    """A sum that is emitted when a key has been quiet for a while: a timer per key, put off by each record."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))
        self.due = runtime_context.get_state(ValueStateDescriptor("due", Types.LONG()))

    def process_element(self, value: Record, ctx: Context) -> None:
        self.total.update((self.total.value() or 0) + value[1])
        timers, due = ctx.timer_service(), self.due.value()
        if due is not None:
            timers.delete_event_time_timer(due)
        due = ctx.timestamp() + WAIT
        timers.register_event_time_timer(due)
        self.due.update(due)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), self.total.value()
        self.total.clear()
        self.due.clear()


class Seen(KeyedProcessFunction[str, Record, Any]):
    """How often each number has come, in a map."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.LONG(), Types.LONG()))

    def process_element(self, value: Record, ctx: Context) -> Iterator[Any]:
        number = value[1]
        if self.seen.contains(number):
            times = self.seen.get(number) + 1
        else:
            times = 1
        self.seen.put(number, times)
        yield value[0], times


class Gathering(KeyedProcessFunction[str, Record, Any]):
    """What comes within a while, gathered in a list and emitted by a timer."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.numbers = runtime_context.get_list_state(ListStateDescriptor("numbers", Types.LONG()))

    def process_element(self, value: Record, ctx: Context) -> None:
        self.numbers.add(value[1])
        ctx.timer_service().register_event_time_timer(ctx.timestamp() // WAIT * WAIT + WAIT)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), sum(self.numbers.get())
        self.numbers.clear()


class Joining(KeyedCoProcessFunction):
    """Each record of the first stream with the last one of the second."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

    def process_element1(self, value: Record, ctx: Any) -> Iterator[Any]:
        yield value[0], self.last.value() or 0

    def process_element2(self, value: Record, ctx: Any) -> None:
        self.last.update(value[1])


class Average(AggregateFunction):
    """Count and sum."""

    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + 1, accumulator[1] + value

    def get_result(self, accumulator: tuple[int, int]) -> int:
        return accumulator[1] // accumulator[0]

    def merge(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        return a[0] + b[0], a[1] + b[1]


class Reducing(KeyedProcessFunction[str, Record, Any]):
    """The largest number and the average, by states that reduce and aggregate."""

    def open(self, runtime_context: RuntimeContext) -> None:
        kind = Types.LONG()
        self.most = runtime_context.get_reducing_state(ReducingStateDescriptor("most", larger, kind))
        of = Types.TUPLE([kind, kind])
        self.average = runtime_context.get_aggregating_state(AggregatingStateDescriptor("average", Average(), of))

    def process_element(self, value: Record, ctx: Context) -> Iterator[Any]:
        self.most.add(value[1])
        self.average.add(value[1])
        yield value[0], self.most.get() - self.average.get()


def larger(a: int, b: int) -> int:
    return a if a > b else b


KINDS: dict[str, tuple[Callable[[], Any] | None, bool]] = {
    "way": (None, False),
    "way with event time": (None, True),
    "nothing": (Nothing, False),
    "value": (Counting, False),
    "value and timer": (Quiet, True),
    "map": (Seen, False),
    "list and timer": (Gathering, True),
    "value with a time to live": (Living, False),
    "two streams": (Joining, False),
    "reduction and aggregation": (Reducing, False),
}
"""Name, function, and whether there is event time."""


@cache
def records(count: int) -> list[Record]:
    """Some keys more often than others, always the same."""
    draw = random.Random(7).random
    return [(f"key{int(KEYS * draw() ** 2)}", int(100 * draw()), at) for at in range(count)]


def measure(name: str, form: str, count: int, rounds: int) -> list[float]:
    """CPU seconds of each run."""
    return [_spent(name, form, records(count)) for _ in range(rounds)]


def results(name: str, form: str, count: int) -> list[Any]:
    """What comes out."""
    with _stream(name, form, records(count)).execute_and_collect(name) as taken:
        return list(taken)


def _spent(name: str, form: str, values: list[Record]) -> float:
    stream = _stream(name, form, values)
    stream.add_sink(ignore)
    gc.collect()
    before = time.process_time()
    stream.get_execution_environment().execute(name)
    return time.process_time() - before


def ignore(value: Any) -> None:
    """A sink that does nothing."""


def _stream(name: str, form: str, values: list[Record]) -> Any:
    function, timed = KINDS[name]
    settings = Configuration().set_string("penstock.runtime.native", "auto" if form == FORMS[0] else "off")
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
    stream = env.from_collection(values, RECORD)
    if timed:
        in_order = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(_time_of)
        stream = stream.assign_timestamps_and_watermarks(in_order)
    keyed = stream.key_by(_key_of, Types.STRING())
    if name == "two streams":
        keyed = keyed.connect(env.from_collection(values, RECORD).key_by(_key_of, Types.STRING()))
    return keyed if function is None else keyed.process(function(), RESULT)


def _key_of(value: Record) -> str:
    return value[0]


def _time_of(value: Record, _: Any) -> int:
    return value[2]
