"""An assigner of windows of a program's own: each record in the windows that it names itself."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeTrigger, TimeWindow, TimeWindowSerializer, WindowAssigner


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Own(WindowAssigner[tuple, TimeWindow]):
    def __init__(self, longest):
        self.longest = longest

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp, timestamp + min(length, self.longest)) for length in element[2]]

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


class Spans(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, len(list(elements))


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    record = Types.TUPLE([Types.STRING(), Types.INT(), Types.LIST(Types.INT())])
    records = [("a", 1, [2, 5]), ("a", 1, [5]), ("b", 1, [5, 50]), ("a", 3, []), ("a", 4, [99, 10]), ("b", 1, [20])]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    stream = env.from_collection(records, type_info=record).assign_timestamps_and_watermarks(strategy)
    keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
    keyed.window(Own(10)).process(Spans()).print("up to ten")
    keyed.window(Own(1000)).reduce(lambda one, other: (one[0], one[1] + other[1], [*one[2], *other[2]])).print("sum")
    env.execute()
