# pyright: basic
"""A program as PyFlink's users write them, with few types: an editor has nothing against it."""

from collections.abc import Iterable

from typing_extensions import assert_type

from penstock.common import Types, WatermarkStrategy
from penstock.common.time import Duration, Time
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import OutputTag, RuntimeExecutionMode, StreamExecutionEnvironment
from penstock.datastream import SingleOutputStreamOperator as Operator
from penstock.datastream.functions import (
    AggregateFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
    RuntimeContext,
)
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import TimeWindow, Trigger, TriggerResult, TumblingEventTimeWindows

tag = OutputTag("side", Types.STRING())


class Assigner(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Double(MapFunction):
    def __init__(self):
        self.factor = 2

    def open(self, runtime_context: RuntimeContext):
        print(runtime_context.get_index_of_this_subtask())

    def map(self, value):
        return value[0], value[1] * self.factor


class Process(KeyedProcessFunction):
    def __init__(self):
        self.state = None

    def open(self, runtime_context: RuntimeContext):
        self.state = runtime_context.get_state(ValueStateDescriptor("state", Types.FLOAT()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.INT()))

    def process_element(self, value, ctx: "KeyedProcessFunction.Context"):
        assert self.state is not None
        current = self.state.value()
        self.state.update(1 if current is None else current + 1)
        ctx.timer_service().register_event_time_timer((ctx.timestamp() or 0) + 60_000)
        yield tag, "side"
        yield ctx.get_current_key(), value

    def on_timer(self, timestamp: int, ctx: "KeyedProcessFunction.OnTimerContext"):
        yield ctx.get_current_key(), timestamp


class Count(ProcessWindowFunction[tuple, tuple, str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[tuple]
    ) -> Iterable[tuple]:
        return [(key, context.window().start, context.window().end, sum(1 for _ in elements))]

    def clear(self, context: ProcessWindowFunction.Context) -> None:
        pass


class Average(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: tuple[str, int], accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        return a[0] + b[0], a[1] + b[1]


class Always(Trigger[tuple, TimeWindow]):
    def on_element(self, element: tuple, timestamp: int, window: TimeWindow, ctx: "Trigger.TriggerContext"):
        return TriggerResult.FIRE


def run():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)
    ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, timestamp: value[1])
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(
        Assigner()
    )
    ds = env.from_collection([("hi", 1), ("hi", 2)], type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    ds = ds.assign_timestamps_and_watermarks(strategy).assign_timestamps_and_watermarks(ascending)
    ds.map(Double(), output_type=Types.TUPLE([Types.STRING(), Types.INT()])).print()
    keyed = ds.key_by(lambda x: x[0], key_type=Types.STRING())
    result = keyed.process(Process(), Types.TUPLE([Types.STRING(), Types.LONG()]))
    result.get_side_output(tag).print()
    windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
    windows.process(Count(), Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG(), Types.INT()])).print()
    assert_type(windows.aggregate(Average(), output_type=Types.DOUBLE()), Operator[float])
    env.execute("job")


if __name__ == "__main__":
    run()
