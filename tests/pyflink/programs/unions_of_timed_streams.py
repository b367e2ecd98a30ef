"""Three streams with strategies of their own as one: timers and windows wait for the slowest of them."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1] * 1000


class Millis(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Timed(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1)
        yield value[0], ctx.timestamp()

    def on_timer(self, timestamp, ctx):
        yield "timer of", ctx.get_current_key(), timestamp


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    ordered, bounded = (
        WatermarkStrategy.for_monotonous_timestamps(),
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(500)),
    )
    first = env.from_collection([("a", 1), ("b", 2)], pair).assign_timestamps_and_watermarks(
        ordered.with_timestamp_assigner(Seconds())
    )
    second = env.from_collection([("a", 1700), ("c", 900)], pair).assign_timestamps_and_watermarks(
        bounded.with_timestamp_assigner(Millis())
    )
    third = env.from_collection([("b", 2100)], pair).assign_timestamps_and_watermarks(
        WatermarkStrategy.no_watermarks().with_timestamp_assigner(Millis())
    )
    keyed = first.union(second, third).key_by(lambda value: value[0], key_type=Types.STRING())
    keyed.process(Timed()).print("timed")
    windows = keyed.window(TumblingEventTimeWindows.of(Time.seconds(1)))
    windows.reduce(lambda one, other: (one[0], one[1] + other[1])).print("sum")
    env.execute()
