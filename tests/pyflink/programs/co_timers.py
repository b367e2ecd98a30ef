"""Two keyed streams with timers by event time, which fire when both have passed them."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Join(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.left = runtime_context.get_state(ValueStateDescriptor("left", Types.INT()))
        self.right = runtime_context.get_state(ValueStateDescriptor("right", Types.INT()))

    def process_element1(self, value, ctx):
        self.left.update(value[1])
        ctx.timer_service().register_event_time_timer(50)
        yield "left", value, ctx.timestamp(), ctx.timer_service().current_watermark()

    def process_element2(self, value, ctx):
        self.right.update(value[1])
        ctx.timer_service().register_event_time_timer(50)
        yield "right", value, ctx.timestamp(), ctx.timer_service().current_watermark()

    def on_timer(self, timestamp, ctx):
        yield "timer", ctx.get_current_key(), timestamp, self.left.value(), self.right.value()


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    left = env.from_collection([("a", 1), ("b", 2)], type_info=pair).assign_timestamps_and_watermarks(strategy)
    right = env.from_collection([("a", 5), ("c", 6)], type_info=pair).assign_timestamps_and_watermarks(strategy)
    text = Types.STRING()
    both = left.key_by(lambda v: v[0], key_type=text).connect(right.key_by(lambda v: v[0], key_type=text))
    both.process(Join()).print()
    env.execute()
