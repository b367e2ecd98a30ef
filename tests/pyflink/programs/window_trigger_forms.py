"""Windows with every trigger that comes with PyFlink, by event time."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    NeverTrigger,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Listed(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, sorted(value[1] for value in elements)


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    records = [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 8), ("a", 9), ("a", 12)]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    stream = env.from_collection(records, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    keyed = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], key_type=Types.STRING())
    tumbling = TumblingEventTimeWindows.of(Time.milliseconds(5))
    sliding = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))
    session = EventTimeSessionWindows.with_gap(Time.milliseconds(3))
    every = GlobalWindows.create()
    keyed.window(tumbling).trigger(EventTimeTrigger.create()).process(Listed()).print("tumbling event time")
    keyed.window(tumbling).trigger(CountTrigger.of(2)).process(Listed()).print("tumbling count")
    keyed.window(tumbling).trigger(PurgingTrigger.of(CountTrigger.of(2))).process(Listed()).print("tumbling purging")
    keyed.window(sliding).trigger(EventTimeTrigger.create()).process(Listed()).print("sliding event time")
    keyed.window(sliding).trigger(PurgingTrigger.of(CountTrigger.of(2))).process(Listed()).print("sliding purging")
    keyed.window(session).trigger(EventTimeTrigger.create()).process(Listed()).print("session event time")
    keyed.window(every).trigger(CountTrigger.of(3)).process(Listed()).print("global count")
    keyed.window(every).trigger(NeverTrigger()).process(Listed()).print("global never")
    continuous = ContinuousEventTimeTrigger.of(Time.milliseconds(2))
    keyed.window(tumbling).trigger(PurgingTrigger.of(continuous)).process(Listed()).print("continuous")
    env.execute()
