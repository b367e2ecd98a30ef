"""Tumbling, sliding and session windows by event time."""

from collections.abc import Iterable

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TimeWindow,
    TumblingEventTimeWindows,
)


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp) -> int:
        return int(value[1])


class Count(ProcessWindowFunction[tuple, tuple, str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[tuple]
    ) -> Iterable[tuple]:
        window = context.window()
        return [(key, window.start, window.end, len(list(elements)))]


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    records = [("hi", 1), ("hi", 2), ("hi", 3), ("hi", 4), ("hi", 5), ("hi", 8), ("hi", 9), ("hi", 15)]
    stream = env.from_collection(records, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    keyed = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda x: x[0], key_type=Types.STRING())
    result = Types.TUPLE([Types.STRING(), Types.INT(), Types.INT(), Types.INT()])
    tumbling = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
    tumbling.process(Count(), result).print("tumbling")
    sliding = keyed.window(SlidingEventTimeWindows.of(Time.milliseconds(5), Time.milliseconds(2)))
    sliding.process(Count(), result).print("sliding")
    sessions = keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))
    sessions.process(Count(), result).print("session")
    env.execute()
