"""Watermarks as process functions see them at timers, by each strategy."""

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 1000


class Marks(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp())
        return []

    def on_timer(self, timestamp, ctx):
        yield timestamp, ctx.timer_service().current_watermark(), ctx.get_current_key()


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([3, 1, 2], type_info=Types.INT())
    strategies = {
        "monotonous": WatermarkStrategy.for_monotonous_timestamps(),
        "bounded": WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5)),
        "none": WatermarkStrategy.no_watermarks(),
        "idle": WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_seconds(1)),
    }
    for name, strategy in strategies.items():
        timed = numbers.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Times()))
        timed.key_by(lambda value: value, key_type=Types.INT()).process(Marks()).print(name)
    env.execute()
