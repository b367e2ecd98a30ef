"""Triggers: by count on global windows, purging, one of a program's own."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ReducingStateDescriptor
from pyflink.datastream.window import (
    CountTrigger,
    GlobalWindows,
    PurgingTrigger,
    Time,
    TimeWindow,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
)


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp) -> int:
        return value[1]


class Listed(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, [element[1] for element in elements]


class AtSum(Trigger[tuple, TimeWindow]):
    def __init__(self, limit):
        self.limit = limit
        self.sum = ReducingStateDescriptor("sum", lambda left, right: left + right, Types.INT())

    def on_element(self, element, timestamp, window, ctx):
        state = ctx.get_partitioned_state(self.sum)
        state.add(element[1])
        if state.get() >= self.limit:
            state.clear()
            return TriggerResult.FIRE_AND_PURGE
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.sum).clear()


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    stream = env.from_collection([("a", 1), ("a", 2), ("b", 3), ("a", 4), ("a", 6), ("b", 7)], type_info=pair)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    keyed = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], key_type=Types.STRING())
    keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(2)).process(Listed()).print("count")
    purging = PurgingTrigger.of(CountTrigger.of(2))
    keyed.window(GlobalWindows.create()).trigger(purging).process(Listed()).print("purging")
    tumbling = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    tumbling.trigger(AtSum(5)).process(Listed()).print("sum")
    env.execute()
