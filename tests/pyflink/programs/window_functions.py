"""What windows apply: reduce, aggregate, apply, process; lateness to a side output; global state."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction, StreamExecutionEnvironment, WindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp) -> int:
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


class Sizes(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, window.start, window.max_timestamp(), len(list(inputs))


class Numbered(ProcessWindowFunction):
    def process(self, key, context: "ProcessWindowFunction.Context", elements):
        count = context.global_state().get_state(ValueStateDescriptor("count", Types.INT()))
        count.update((count.value() or 0) + 1)
        yield key, count.value(), sorted(value[1] for value in elements)

    def clear(self, context):
        pass


class Named(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().end, list(elements)


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    stream = env.from_collection([("a", 1), ("b", 2), ("a", 7), ("a", 3), ("b", 12)], type_info=pair)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    keyed = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], key_type=Types.STRING())
    windows = TumblingEventTimeWindows.of(Time.milliseconds(5))
    keyed.window(windows).reduce(lambda x, y: (x[0], x[1] + y[1])).print("reduce")
    keyed.window(windows).aggregate(Mean(), output_type=Types.DOUBLE()).print("aggregate")
    keyed.window(windows).aggregate(Mean(), window_function=Named()).print("named")
    keyed.window(windows).apply(Sizes()).print("apply")
    keyed.window(windows).allowed_lateness(2).process(Numbered()).print("process")
    env.execute()
