"""Records that come too late: to a side output, by watermarks that a generator of one's own emits per record."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, OutputTag, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp) -> int:
        return value[1]


class Count(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, len(list(elements))


class Watermarks(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1])
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), ctx.timestamp(), ctx.timer_service().current_watermark()


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.INT()]))
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    stream = env.from_collection([("a", 1), ("a", 12), ("a", 3), ("b", 25), ("a", 14)], type_info=pair)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    keyed = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], key_type=Types.STRING())
    counted = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).side_output_late_data(late)
    result = counted.process(Count())
    result.print("window")
    result.get_side_output(late).print("late")
    keyed.process(Watermarks()).print("timer")
    env.execute()
