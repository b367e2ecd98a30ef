"""Whoever asks for state gets that of the key: every user function that can, in every operator and mode.

Each function counts its calls per key in a state of its own and shows (key, count); a plain count says what must come
out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.common import Configuration, Time, Types, WatermarkStrategy
from penstock.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    CoFlatMapFunction,
    CoGroupFunction,
    CoMapFunction,
    FilterFunction,
    FlatMapFunction,
    JoinFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ListStateDescriptor,
    MapFunction,
    MapStateDescriptor,
    ProcessJoinFunction,
    ProcessWindowFunction,
    ReduceFunction,
    ReducingStateDescriptor,
    SinkFunction,
    StreamExecutionEnvironment,
    TimeCharacteristic,
    ValueStateDescriptor,
    WindowFunction,
)
from penstock.datastream.window import Trigger, TriggerResult, TumblingEventTimeWindows
from penstock.errors import JobExecutionError

RECORDS = [(key, time) for time, key in enumerate("abcacbbcaabcab")]
"""Keys that take turns, each record with a time of its own."""
CALLS = Counter(key for key, _ in RECORDS)
UP_TO = sorted((key, count) for key in CALLS for count in range(1, CALLS[key] + 1))
"""What is emitted where each call shows its count."""
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
CALLED = ValueStateDescriptor("calls", Types.INT())
END = TumblingEventTimeWindows.of(Time.milliseconds(100))
"""One window for all records."""
WAYS = [(mode, form, p) for mode in ("STREAMING", "BATCH") for form in ("fused", "listed") for p in (1, 3)]


class Counting:
    """Counts calls per key."""

    def open(self, runtime_context: Any) -> None:
        self.calls = runtime_context.get_state(CALLED)

    def count(self) -> int:
        self.calls.update((self.calls.value() or 0) + 1)
        return self.calls.value()


def environment(mode: str, form: str) -> StreamExecutionEnvironment:
    settings = Configuration.from_dict({"execution.runtime-mode": mode, "penstock.runtime.form": form})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    return env


def keyed(env: StreamExecutionEnvironment) -> Any:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[1])
    source = env.from_collection(RECORDS, type_info=PAIR).assign_timestamps_and_watermarks(strategy)
    return source.key_by(lambda value: value[0], key_type=Types.STRING())


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect("state") as results:
        return sorted(results)


# --- one input --------------------------------------------------------------------------------------------------------


class Mapping(Counting, MapFunction):
    def map(self, value: Any) -> Any:
        return value[0], self.count()


class FlatMapping(Counting, FlatMapFunction):
    def flat_map(self, value: Any) -> Iterator[Any]:
        yield value[0], self.count()


class Odd(Counting, FilterFunction):
    def filter(self, value: Any) -> bool:
        return self.count() % 2 == 1


class Processing(Counting, KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        assert ctx.get_current_key() == value[0]
        yield value[0], self.count()


class Timing(Counting, KeyedProcessFunction):
    """Counts its timers."""

    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), self.count()


class Reducing(KeyedProcessFunction):
    """Counts in a reducing and in a list state."""

    def open(self, runtime_context: Any) -> None:
        descriptor = ReducingStateDescriptor("sum", lambda one, other: one + other, Types.INT())
        self.sum = runtime_context.get_reducing_state(descriptor)
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.sum.add(1)
        self.seen.add(value[1])
        assert len(list(self.seen.get())) == self.sum.get()
        yield value[0], self.sum.get()


class Summing(Counting, ReduceFunction):
    """The second field of its results is how often it was called for the key."""

    def reduce(self, value1: Any, value2: Any) -> Any:
        return value1[0], self.count()


SHOWN: list[Any] = []


class Showing(Counting, SinkFunction):
    def invoke(self, value: Any, context: Any) -> None:
        SHOWN.append((value[0], self.count()))


# --- two inputs -------------------------------------------------------------------------------------------------------


class CoMapping(Counting, CoMapFunction):
    def map1(self, value: Any) -> Any:
        return value[0], self.count()

    def map2(self, value: Any) -> Any:
        return value[0], self.count()


class CoFlatMapping(Counting, CoFlatMapFunction):
    def flat_map1(self, value: Any) -> Iterator[Any]:
        yield value[0], self.count()

    def flat_map2(self, value: Any) -> Iterator[Any]:
        yield value[0], self.count()


class CoProcessing(Counting, KeyedCoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value[0], self.count()

    def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value[0], self.count()


class Joining(Counting, ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        assert left[0] == right[0]
        yield left[0], self.count()


class Broadcasting(Counting, KeyedBroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value[0], self.count()

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        """Nothing to remember."""


RULES = MapStateDescriptor("rules", Types.STRING(), Types.STRING())


def connected(env: StreamExecutionEnvironment) -> Any:
    return keyed(env).connect(keyed(env))


def intervals(env: StreamExecutionEnvironment) -> Any:
    return keyed(env).interval_join(keyed(env)).between(Time.milliseconds(-50), Time.milliseconds(50))


def ruled(env: StreamExecutionEnvironment, function: Any) -> Any:
    rules = env.from_collection(["x", "y"], type_info=Types.STRING()).broadcast(RULES)
    return keyed(env).connect(rules).process(function)


TWICE = sorted((key, count) for key in CALLS for count in range(1, 2 * CALLS[key] + 1))
SQUARED = sorted((key, count) for key in CALLS for count in range(1, CALLS[key] ** 2 + 1))

# --- windows ----------------------------------------------------------------------------------------------------------


class Windowing(Counting, ProcessWindowFunction):
    """Called once per record by :class:`Eager`; counts in the state of the key."""

    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        counted, in_window = context.global_state().get_state(CALLED), context.window_state().get_state(SEEN)
        in_window.update((in_window.value() or 0) + 1)
        yield key, self.count()
        assert counted.value() == in_window.value()


SEEN = ValueStateDescriptor("seen in the window", Types.INT())


class Applying(Counting, WindowFunction):
    def apply(self, key: Any, window: Any, inputs: Any) -> Iterator[Any]:
        yield key, self.count()


class Last(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return value2


class Number(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> Any:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Eager(Trigger):
    """Fires on each element, and counts them in a state of the key and window, which it compares with the elements."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> Any:
        state = ctx.get_partitioned_state(ReducingStateDescriptor("eager", lambda a, b: a + b, Types.INT()))
        state.add(1)
        return TriggerResult.FIRE

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> Any:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Any) -> Any:
        return TriggerResult.CONTINUE

    def on_merge(self, window: Any, ctx: Any) -> None:
        """Windows of time do not merge."""

    def clear(self, window: Any, ctx: Any) -> None:
        ctx.get_partitioned_state(ReducingStateDescriptor("eager", lambda a, b: a + b, Types.INT())).clear()


class EveryThird(Eager):
    """Fires on each third element of a key."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> Any:
        state = ctx.get_partitioned_state(ReducingStateDescriptor("eager", lambda a, b: a + b, Types.INT()))
        state.add(1)
        return TriggerResult.FIRE if state.get() % 3 == 0 else TriggerResult.CONTINUE


def windowed(env: StreamExecutionEnvironment, trigger: Trigger | None = None) -> Any:
    return keyed(env).window(END).trigger(trigger or Eager())


THIRDS = sorted((key, count) for key in CALLS for count in range(1, CALLS[key] // 3 + 1))


class Pairing(Counting, JoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        return first[0], self.count()


class Grouping(Counting, CoGroupFunction):
    def co_group(self, first: Any, second: Any) -> Iterator[Any]:
        for value in first:
            yield value[0], self.count()


def of_both(env: StreamExecutionEnvironment, call: str) -> Any:
    first, second = keyed(env), keyed(env)
    both = getattr(first, call)(second).where(lambda value: value[0]).equal_to(lambda value: value[0])
    return both.window(END)


Build = Callable[[StreamExecutionEnvironment], Any]
PROGRAMS: dict[str, tuple[Build, list[Any]]] = {
    "map": (lambda env: keyed(env).map(Mapping(), PAIR), UP_TO),
    "flat_map": (lambda env: keyed(env).flat_map(FlatMapping(), PAIR), UP_TO),
    "filter": (
        lambda env: keyed(env).filter(Odd()).map(lambda value: (value[0], 0)),
        sorted((key, 0) for key, count in UP_TO if count % 2),
    ),
    "process": (lambda env: keyed(env).process(Processing(), PAIR), UP_TO),
    "on_timer": (lambda env: keyed(env).process(Timing(), PAIR), UP_TO),
    "reducing and list state": (lambda env: keyed(env).process(Reducing(), PAIR), UP_TO),
    "co-map": (lambda env: connected(env).map(CoMapping(), PAIR), TWICE),
    "co-flat_map": (lambda env: connected(env).flat_map(CoFlatMapping(), PAIR), TWICE),
    "co-process": (lambda env: connected(env).process(CoProcessing(), PAIR), TWICE),
    "interval join": (lambda env: intervals(env).process(Joining(), PAIR), SQUARED),
    "broadcast": (lambda env: ruled(env, Broadcasting()), UP_TO),
    "process in windows": (lambda env: windowed(env).process(Windowing(), PAIR), UP_TO),
    "apply in windows": (lambda env: windowed(env).apply(Applying(), PAIR), UP_TO),
    "reduce, then a window function": (lambda env: windowed(env).reduce(Last(), Applying()), UP_TO),
    "aggregate, then a window function": (lambda env: windowed(env).aggregate(Number(), Applying()), UP_TO),
    "a trigger of its own": (lambda env: windowed(env, EveryThird()).apply(Applying(), PAIR), THIRDS),
    "join in windows": (lambda env: of_both(env, "join").apply(Pairing(), PAIR), SQUARED),
    "co_group in windows": (lambda env: of_both(env, "co_group").apply(Grouping(), PAIR), UP_TO),
}


@pytest.mark.parametrize(("mode", "form", "p"), WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_state_belongs_to_the_key(name: str, mode: str, form: str, p: int) -> None:
    build, expected = PROGRAMS[name]
    env = environment(mode, form)
    env.set_parallelism(p)
    assert collected(build(env)) == expected


@pytest.mark.parametrize(("mode", "form", "p"), WAYS)
def test_state_of_a_reduction_belongs_to_the_key(mode: str, form: str, p: int) -> None:
    env = environment(mode, form)
    env.set_parallelism(p)
    first = dict(reversed(RECORDS)).items()  # the first record of a key is reduced with nothing
    running = [(key, count) for key in CALLS for count in range(1, CALLS[key])]
    final = [(key, CALLS[key] - 1) for key in CALLS]
    assert collected(keyed(env).reduce(Summing())) == sorted(final if mode == "BATCH" else [*first, *running])


@pytest.mark.parametrize(("mode", "form", "p"), WAYS)
def test_state_of_a_sink_belongs_to_the_key(mode: str, form: str, p: int) -> None:
    env = environment(mode, form)
    env.set_parallelism(p)
    SHOWN.clear()
    keyed(env).add_sink(Showing())
    env.execute()
    assert sorted(SHOWN) == UP_TO


# --- where there is no key --------------------------------------------------------------------------------------------


class Early(Processing):
    def open(self, runtime_context: Any) -> None:
        super().open(runtime_context)
        self.count()


class OnTheOtherSide(Broadcasting):
    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        self.count()


class TimerOnTheOtherSide(Broadcasting):
    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(1)


class Asking(Counting, AsyncFunction):
    async def async_invoke(self, value: Any) -> list[Any]:
        return [(value[0], self.count())]


def asked(env: StreamExecutionEnvironment) -> Any:
    return AsyncDataStream.unordered_wait(keyed(env), Asking(), Time.seconds(1), 10, PAIR)


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda env: keyed(env).process(Early(), PAIR), "The state 'calls' was used while no key is current"),
        (lambda env: ruled(env, OnTheOtherSide()), "The state 'calls' was used while no key is current"),
        (lambda env: ruled(env, TimerOnTheOtherSide()), "A timer was used while no key is current"),
        (asked, "asked for keyed state. Async functions have none"),
    ],
)
def test_without_a_key_there_is_no_state(mode: str, build: Build, text: str) -> None:
    with pytest.raises(JobExecutionError, match=text):
        collected(build(environment(mode, "fused")))
