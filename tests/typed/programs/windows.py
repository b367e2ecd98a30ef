"""Windows, triggers and joins."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from typing_extensions import assert_type

from penstock.common import OutputTag, Time, Types
from penstock.datastream import (
    AggregateFunction,
    AllWindowedStream,
    FlatJoinFunction,
    JoinFunction,
    ProcessAllWindowFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
    WindowedStream,
    WindowFunction,
)
from penstock.datastream import SingleOutputStreamOperator as Operator
from penstock.datastream.evictor import CountEvictor, Evictor, TimestampedValue
from penstock.datastream.window import (
    CountTrigger,
    CountTumblingWindowAssigner,
    CountWindow,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    GlobalWindow,
    GlobalWindows,
    MergingWindowAssigner,
    SessionWindowTimeGapExtractor,
    TimeWindow,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    Window,
    WindowAssigner,
)

Sale = tuple[str, int]


class Mean(AggregateFunction[Sale, list[int], float]):
    def create_accumulator(self) -> list[int]:
        return []

    def add(self, sale: Sale, prices: list[int]) -> list[int]:
        return [*prices, sale[1]]

    def get_result(self, prices: list[int]) -> float:
        return sum(prices) / len(prices)


class Bounds(ProcessWindowFunction[Sale, tuple[str, int], str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], sales: Iterable[Sale]
    ) -> Iterable[tuple[str, int]]:
        assert_type(context.window(), TimeWindow)
        assert_type(context.window_state().get_state(ValueStateDescriptor("n", Types.INT())).value(), int | None)
        yield key, context.window().end


class Named(WindowFunction[float, str, str, TimeWindow]):
    def apply(self, key: str, window: TimeWindow, means: Iterable[float]) -> Iterable[str]:
        return [f"{key} {window.start} {mean}" for mean in means]


class All(ProcessAllWindowFunction[Sale, int, TimeWindow]):
    def process(self, context: ProcessAllWindowFunction.Context[TimeWindow], sales: Iterable[Sale]) -> Iterable[int]:
        yield len(list(sales))


class EveryOther(Trigger[Sale, TimeWindow]):
    def on_element(
        self, sale: Sale, timestamp: int | None, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        odd = ctx.get_partitioned_state(ValueStateDescriptor("odd", Types.BOOLEAN()))
        assert_type(odd.value(), bool | None)
        return TriggerResult.FIRE if odd.value() else TriggerResult.CONTINUE


class ByPrice(WindowAssigner[Sale, TimeWindow]):
    def assign_windows(
        self, sale: Sale, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        return [TimeWindow(sale[1], context.get_current_processing_time())]


class Neighbours(MergingWindowAssigner[Sale, TimeWindow]):
    def assign_windows(
        self, sale: Sale, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        return [TimeWindow(timestamp, timestamp + sale[1])]

    def merge_windows(
        self, windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]
    ) -> None:
        TimeWindow.merge_windows(windows, callback)


class Cheap(Evictor[Sale]):
    def evict_before(
        self, sales: list[TimestampedValue[Sale]], size: int, window: Window, context: Evictor.EvictorContext
    ) -> None:
        assert_type(sales[0].value, Sale)
        sales[:] = [sale for sale in sales if sale.value[1] < context.get_current_watermark()]


class Gap(SessionWindowTimeGapExtractor[Sale]):
    def extract(self, sale: Sale) -> int:
        return sale[1]


env = StreamExecutionEnvironment.get_execution_environment()
sales = env.from_collection([("apples", 1), ("pears", 2)])
keyed = sales.key_by(lambda sale: sale[0], key_type=Types.STRING())
late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.INT()]))

tumbling = keyed.window(TumblingEventTimeWindows.of(Time.seconds(5)))
assert_type(tumbling, WindowedStream[Sale, str, TimeWindow])
means = sales.map(lambda sale: sale[1] / 2).key_by(str, Types.STRING()).window(TumblingEventTimeWindows.of(5))
assert_type(tumbling.trigger(EveryOther()).allowed_lateness(3), WindowedStream[Sale, str, TimeWindow])
assert_type(tumbling.side_output_late_data(late).sum(1), Operator[Sale])
assert_type(tumbling.reduce(lambda a, b: (a[0], a[1] + b[1])), Operator[Sale])
assert_type(tumbling.reduce(lambda a, b: (a[0], a[1] + b[1]), Bounds()), Operator[tuple[str, int]])
assert_type(tumbling.aggregate(Mean()), Operator[float])
assert_type(tumbling.aggregate(Mean(), output_type=Types.DOUBLE()), Operator[float])
assert_type(tumbling.aggregate(Mean(), Named(), output_type=Types.STRING()), Operator[str])
assert_type(tumbling.process(Bounds()), Operator[tuple[str, int]])
assert_type(means.apply(Named(), Types.STRING()), Operator[str])
assert_type(means.apply(max, Named(), output_type=Types.STRING()), Operator[str])
assert_type(keyed.window(ByPrice()), WindowedStream[Sale, str, TimeWindow])
assert_type(keyed.window(EventTimeSessionWindows.with_gap(Time.seconds(1))).max_by(1), Operator[Sale])
assert_type(keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(2)), WindowedStream[Sale, str, GlobalWindow])
assert_type(keyed.window(Neighbours()).evictor(Cheap()), WindowedStream[Sale, str, TimeWindow])
assert_type(keyed.window(DynamicEventTimeSessionWindows.with_dynamic_gap(Gap())).sum(1), Operator[Sale])
assert_type(keyed.window(CountTumblingWindowAssigner.of(3)), WindowedStream[Sale, str, CountWindow])
assert_type(keyed.count_window(10, 5).evictor(CountEvictor.of(3)).sum(1), Operator[Sale])
assert_type(keyed.time_window(Time.seconds(5)).process(Bounds()), Operator[tuple[str, int]])
windows = sales.window_all(TumblingEventTimeWindows.of(Time.seconds(5)))
assert_type(windows, AllWindowedStream[Sale, TimeWindow])
assert_type(windows.process(All()), Operator[int])
assert_type(windows.aggregate(Mean()), Operator[float])


class Pair(JoinFunction[Sale, str, int]):
    def join(self, sale: Sale, name: str) -> int:
        return sale[1] + len(name)


class Pairs(FlatJoinFunction[Sale, str, int]):
    def join(self, sale: Sale, name: str) -> Iterable[int]:
        yield sale[1]


class Near(ProcessJoinFunction[Sale, str, float]):
    def process_element(self, sale: Sale, name: str, ctx: ProcessJoinFunction.Context) -> Iterable[float]:
        yield float(ctx.get_left_timestamp())


def count(sales: list[Sale], names: list[str]) -> list[int]:
    return [len(sales), len(names)]


names = env.from_collection(["apples"])
five = TumblingEventTimeWindows.of(Time.seconds(5))
joined = sales.join(names).where(lambda sale: sale[0]).equal_to(lambda name: name).window(five)
assert_type(joined.apply(Pair()), Operator[int])
assert_type(joined.apply(Pairs()), Operator[int])
assert_type(joined.with_(lambda sale, name: f"{sale[0]} {name}"), Operator[str])
grouped = sales.co_group(names).where(lambda sale: sale[0]).equal_to(lambda name: name).window(five)
assert_type(grouped.apply(count, Types.INT()), Operator[int])
assert_type(grouped.joined.method, Literal["co_group"])
named = names.key_by(lambda name: name)
assert_type(keyed.interval_join(named).between(Time.seconds(-1), Time.seconds(1)).process(Near()), Operator[float])
