"""Event time from the records, timers a second later."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment, TimerService

assert Time is not None
assert TimerService is not None


class Sum(KeyedProcessFunction):
    def open(self, runtime_context):
        from pyflink.datastream.state import ValueStateDescriptor

        self.state = runtime_context.get_state(ValueStateDescriptor("state", Types.FLOAT()))

    def process_element(self, value, ctx: "KeyedProcessFunction.Context"):
        self.state.update((self.state.value() or 0) + value[2])
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 2000)
        yield value[1], ctx.timestamp()

    def on_timer(self, timestamp: int, ctx: "KeyedProcessFunction.OnTimerContext"):
        yield ctx.get_current_key(), timestamp, self.state.value()


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp: int) -> int:
        assert record_timestamp == -9223372036854775808
        return int(value[0])


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    records = [(1000, "Alice", 110.5), (4000, "Bob", 30.25), (3000, "Alice", 20.0), (2000, "Bob", 53.75)]
    types = Types.TUPLE([Types.LONG(), Types.STRING(), Types.FLOAT()])
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2)).with_timestamp_assigner(Times())
    stream = env.from_collection(records, type_info=types).assign_timestamps_and_watermarks(strategy)
    stream.key_by(lambda value: value[1]).process(Sum()).print()
    env.execute()
