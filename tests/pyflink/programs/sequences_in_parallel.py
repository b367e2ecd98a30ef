"""Numbers from a source with three subtasks: which one has which, their sum, and windows over them."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.window import TumblingEventTimeWindows


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def add(one, other):
    return one + other


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(3)
    no_watermarks = WatermarkStrategy.no_watermarks()
    numbers = env.from_source(NumberSequenceSource(-5, 14), no_watermarks, "numbers", Types.LONG())
    numbers.map(lambda value: value * 2, Types.LONG()).filter(lambda value: value % 5 == 0).set_parallelism(1).map(
        lambda value: f"tenth {value}", Types.STRING()
    ).set_parallelism(1).print().set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    timed = numbers.assign_timestamps_and_watermarks(strategy)
    windows = timed.key_by(lambda value: value % 2, Types.LONG()).window(
        TumblingEventTimeWindows.of(Time.milliseconds(10))
    )
    windows.reduce(add).print("sum").set_parallelism(1)
    timed.window_all(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(max).print("largest").set_parallelism(1)
    env.from_source(NumberSequenceSource(7, 7), no_watermarks, "one", Types.LONG()).print("one").set_parallelism(1)
    env.execute()
