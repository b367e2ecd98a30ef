"""Sessions whose gap each record says."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2]


class Spans(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, len(list(elements))


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    records = [
        ("a", 1, 2),
        ("a", 2, 6),
        ("a", 9, 1),
        ("b", 3, 10),
        ("b", 12, 2),
        ("a", 7, 1),
        ("a", 10, 3),
        ("b", 20, 1),
    ]
    record = Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()])
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    stream = env.from_collection(records, type_info=record).assign_timestamps_and_watermarks(strategy)
    keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
    result = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG(), Types.INT()])
    keyed.window(EventTimeSessionWindows.with_dynamic_gap(Gap())).process(Spans(), result).print()
    env.execute()
