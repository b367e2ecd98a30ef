"""BATCH mode: windows of keyed streams, by time, by session, by count, with state of the key beside them."""

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Numbered(ProcessWindowFunction):
    def process(self, key, context, elements):
        number = context.global_state().get_state(ValueStateDescriptor("number", Types.INT()))
        number.update((number.value() or 0) + 1)
        yield key, number.value(), context.window().start, sorted(value[1] for value in elements)


def environment():
    settings = Configuration()
    settings.set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)
    return env


if __name__ == "__main__":
    env = environment()
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    records = [("b", 12), ("a", 1), ("b", 2), ("a", 7), ("a", 3), ("b", 13), ("a", 21), ("c", 4)]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    stream = env.from_collection(records, type_info=pair).assign_timestamps_and_watermarks(strategy)
    keyed = stream.key_by(lambda value: value[0], key_type=Types.STRING())
    keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(Numbered()).print("tumbling")
    keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(5))).process(Numbered()).print("session")
    keyed.count_window(2).reduce(lambda x, y: (x[0], x[1] + y[1])).print("count")
    env.execute()
