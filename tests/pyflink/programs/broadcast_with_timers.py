"""A keyed stream beside a broadcast one: at the end its timers read the rules, whenever they came."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedBroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor

LIMITS = MapStateDescriptor("limits", Types.STRING(), Types.INT())
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Check(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.INT()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(1000)

    def process_broadcast_element(self, value, ctx):
        limits = ctx.get_broadcast_state(LIMITS)
        if value[1] < 0:
            limits.remove(value[0])
        else:
            limits.put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        limits = ctx.get_broadcast_state(LIMITS)
        limit = limits.get(ctx.get_current_key()) or limits.get("else")
        known = sorted(limits.items())
        yield f"{ctx.get_current_key()} {self.sum.value()} of {limit} at {timestamp} {limits.contains('z')} {known}"


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    spent = env.from_collection([("a", 10), ("b", 20), ("a", 30), ("c", 40)], type_info=PAIR)
    limits = env.from_collection([("a", 25), ("z", 1), ("else", 100), ("z", -1), ("b", 5), ("b", 15)], type_info=PAIR)
    keyed = spent.assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], key_type=Types.STRING())
    rules = limits.assign_timestamps_and_watermarks(strategy).broadcast(LIMITS)
    keyed.connect(rules).process(Check(), Types.STRING()).print()
    env.execute()
