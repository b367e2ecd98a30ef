"""BATCH mode: timers by event time and by the clock, of each key at its end, and deleted ones."""

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment, TimeDomain
from pyflink.datastream.state import ValueStateDescriptor

FAR = 4_000_000_000_000


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Timers(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        service = ctx.timer_service()
        service.register_event_time_timer(value[1] + 100)
        service.register_processing_time_timer(FAR + value[1])
        service.register_event_time_timer(7)
        service.delete_event_time_timer(7)
        yield "element", value, ctx.timestamp(), service.current_watermark()

    def on_timer(self, timestamp, ctx):
        event_time = ctx.time_domain() == TimeDomain.EVENT_TIME
        yield "timer", ctx.get_current_key(), timestamp - (0 if event_time else FAR), event_time, self.count.value()


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
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    stream = env.from_collection([("b", 1), ("a", 2), ("b", 3), ("a", 4)], type_info=pair)
    keyed = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], key_type=Types.STRING())
    keyed.process(Timers()).print()
    env.execute()
