"""Windows that combine first and process then: reduce and aggregate with window functions, of all records too."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from pyflink.datastream.window import TumblingEventTimeWindows


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Named(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, list(elements)


class Applied(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, window.end, list(inputs)


class All(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().start, list(elements)


class AllApplied(AllWindowFunction):
    def apply(self, window, inputs):
        yield window.end, list(inputs)


def larger(x, y):
    return x if x[1] > y[1] else y


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    stream = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("b", 7), ("a", 8)], type_info=pair)
    stream = stream.assign_timestamps_and_watermarks(strategy)
    windows = TumblingEventTimeWindows.of(Time.milliseconds(5))
    keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING()).window(windows)
    every = stream.window_all(windows)
    state = Types.TUPLE([Types.INT(), Types.INT()])
    keyed.reduce(larger, window_function=Named()).print("reduce process")
    keyed.reduce(larger, window_function=Applied()).print("reduce apply")
    keyed.aggregate(Mean(), window_function=Named(), accumulator_type=state).print("aggregate process")
    keyed.aggregate(Mean(), window_function=Applied(), accumulator_type=state).print("aggregate apply")
    every.reduce(larger).print("all reduce")
    every.reduce(larger, window_function=All()).print("all reduce process")
    every.aggregate(Mean(), accumulator_type=state, output_type=Types.DOUBLE()).print("all aggregate")
    every.aggregate(Mean(), window_function=All(), accumulator_type=state).print("all aggregate process")
    every.apply(AllApplied()).print("all apply")
    every.process(All()).print("all process")
    env.execute()
