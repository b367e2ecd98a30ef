"""BATCH mode: sessions whose gap each record says, summed by reduce, and listed."""

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor

VISITS = [("ann", 0, 5), ("bob", 1, 2), ("ann", 4, 3), ("bob", 9, 1), ("ann", 20, 1), ("ann", 6, 9), ("bob", 2, 1)]


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Patience(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2]


class Visit(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, sorted(element[1] for element in elements)


if __name__ == "__main__":
    settings = Configuration().set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)
    visit = Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()])
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    visits = env.from_collection(VISITS, type_info=visit).assign_timestamps_and_watermarks(strategy)
    sessions = visits.key_by(lambda v: v[0], Types.STRING()).window(
        EventTimeSessionWindows.with_dynamic_gap(Patience())
    )
    sessions.process(Visit()).print("visit")
    sessions.reduce(lambda one, other: (one[0], min(one[1], other[1]), one[2] + other[2])).print("patience")
    env.execute()
