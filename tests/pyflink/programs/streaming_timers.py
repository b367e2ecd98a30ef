"""Timers by event time: set, set twice, deleted, set anew when one fires."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment, TimeDomain


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Timers(KeyedProcessFunction):
    def process_element(self, value, ctx):
        service = ctx.timer_service()
        service.register_event_time_timer(10)
        service.register_event_time_timer(10)
        service.register_event_time_timer(20)
        service.delete_event_time_timer(20)
        yield "element", value[0], ctx.timestamp(), service.current_watermark()

    def on_timer(self, timestamp, ctx):
        event_time = ctx.time_domain() == TimeDomain.EVENT_TIME
        if timestamp < 12:
            ctx.timer_service().register_event_time_timer(timestamp + 1)
        yield "timer", ctx.get_current_key(), timestamp, ctx.timestamp(), event_time


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    stream = env.from_collection([("a", 1), ("b", 2), ("a", 3)], type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    keyed = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], key_type=Types.STRING())
    keyed.process(Timers()).print()
    env.execute()
