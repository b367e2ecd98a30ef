"""Windows over what windows gave: sums per key and ten, then the best of all per twenty, then both of a session."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows

POINTS = [("a", 1), ("b", 2), ("a", 8), ("b", 11), ("a", 13), ("b", 19), ("a", 25), ("b", 44), ("a", 47)]
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Listed(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().start, context.window().end, sorted(elements)


def summed(one, other):
    return one[0], one[1] + other[1]


def better(one, other):
    return max(one, other, key=lambda pair: (pair[1], pair[0]))


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    points = env.from_collection(POINTS, type_info=PAIR).assign_timestamps_and_watermarks(strategy)
    ten, twenty = TumblingEventTimeWindows.of(Time.milliseconds(10)), TumblingEventTimeWindows.of(Time.milliseconds(20))
    sums = points.key_by(lambda pair: pair[0], Types.STRING()).window(ten).reduce(summed, output_type=PAIR)
    sums.print("ten")
    best = sums.window_all(twenty).reduce(better, output_type=PAIR)
    best.print("best of twenty")
    best.window_all(EventTimeSessionWindows.with_gap(Time.milliseconds(25))).process(Listed()).print("session")
    sums.key_by(lambda pair: pair[0], Types.STRING()).window(ten).reduce(summed).print("again")
    env.execute()
