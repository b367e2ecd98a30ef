"""Windows that begin beside the full hour, and times before 1970."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import SlidingEventTimeWindows, TimeWindow, TumblingEventTimeWindows


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Spans(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, window.max_timestamp(), sorted(elements)


class AllSpans(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().start, context.window().end, sorted(elements)


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    numbers = env.from_collection([0, 2, 3, 9, 12, 13, 22], type_info=Types.LONG())
    timed = numbers.assign_timestamps_and_watermarks(strategy)
    keyed = timed.key_by(lambda value: value % 2, key_type=Types.LONG())
    ten, five, three = (Time.milliseconds(number) for number in (10, 5, 3))
    keyed.window(TumblingEventTimeWindows.of(ten, three)).process(Spans()).print("tumbling")
    keyed.window(SlidingEventTimeWindows.of(ten, five, three)).process(Spans()).print("sliding")
    timed.window_all(SlidingEventTimeWindows.of(five, ten)).process(AllSpans()).print("with gaps")
    early = env.from_collection([-11, -10, -1, 1], type_info=Types.LONG()).assign_timestamps_and_watermarks(strategy)
    early.window_all(TumblingEventTimeWindows.of(ten)).process(AllSpans()).print("early")
    print(TimeWindow(1, 5).intersects(TimeWindow(5, 9)), TimeWindow(1, 5).cover(TimeWindow(7, 9)), TimeWindow(1, 5))
    env.execute()
