"""The time that a record has behind a map, a union, a window and a timer."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows

NUMBER = Types.INT()


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 10


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


class Later(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 7)
        yield value

    def on_timer(self, timestamp, ctx):
        yield 1000 + timestamp


def add(one, other):
    return one + other


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    numbers = env.from_collection([1, 2, 3, 7], type_info=NUMBER)
    timed = numbers.assign_timestamps_and_watermarks(strategy)
    keyed = timed.key_by(lambda value: value % 2, NUMBER)
    timed.map(lambda value: value + 1, NUMBER).filter(lambda value: value != 3).process(Stamp()).print("map")
    timed.flat_map(lambda value: [value, value], NUMBER).process(Stamp()).print("flat map")
    timed.union(timed.map(lambda value: -value, NUMBER)).rebalance().process(Stamp()).print("union")
    keyed.reduce(add).process(Stamp()).print("reduce")
    keyed.process(Later(), NUMBER).process(Stamp()).print("timer")
    keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(25))).reduce(add).process(Stamp()).print("window")
    keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(25))).reduce(add).process(Stamp()).print("session")
    env.execute()
