"""BATCH mode: two keyed streams as one, their state per key, and timers at the end of each key."""

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.functions import CoFlatMapFunction, CoMapFunction, KeyedCoProcessFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Sum(CoMapFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.INT()))

    def map1(self, value):
        return self._more(value[0], value[1])

    def map2(self, value):
        return self._more(value[0], 100 * value[1])

    def _more(self, key, number):
        self.sum.update((self.sum.value() or 0) + number)
        return key, 1 if self.sum.value() > 0 else 0


class Rare(CoFlatMapFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def flat_map1(self, value):
        if not self.seen.value():
            self.seen.update(True)
            yield value[0]

    def flat_map2(self, value):
        return []


class Gather(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.INT()))

    def process_element1(self, value, ctx):
        self.all.add(value[1])
        ctx.timer_service().register_event_time_timer(1000)
        return []

    def process_element2(self, value, ctx):
        self.all.add(-value[1])
        ctx.timer_service().register_event_time_timer(1000)
        return []

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, sorted(self.all.get())


def environment():
    settings = Configuration()
    settings.set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)
    return env


if __name__ == "__main__":
    env = environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    ones = env.from_collection([("a", 1), ("b", 2), ("a", 3)], type_info=PAIR)
    others = env.from_collection([("b", 4), ("a", 5), ("c", 6)], type_info=PAIR)
    first = ones.assign_timestamps_and_watermarks(strategy).key_by(lambda pair: pair[0], key_type=Types.STRING())
    second = others.assign_timestamps_and_watermarks(strategy).key_by(lambda pair: pair[0], key_type=Types.STRING())
    first.connect(second).map(Sum()).print("map")
    first.connect(second).flat_map(Rare()).print("flat_map")
    first.connect(second).process(Gather()).print("process")
    env.execute()
