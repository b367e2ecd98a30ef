"""Three wrong passwords within a minute: a small machine of states per user, with a timer that is set and deleted."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, OutputTag, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

MINUTE = 60_000
ENDED = OutputTag("ended", Types.STRING())
TRIES = [
    ("ann", 0, "wrong"),
    ("bob", 5_000, "wrong"),
    ("ann", 10_000, "wrong"),
    ("ann", 20_000, "wrong"),
    ("bob", 30_000, "right"),
    ("cleo", 40_000, "wrong"),
    ("ann", 50_000, "wrong"),
]


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Alarm(KeyedProcessFunction):
    def open(self, runtime_context):
        self.wrong = runtime_context.get_list_state(ListStateDescriptor("wrong", Types.LONG()))
        self.until = runtime_context.get_state(ValueStateDescriptor("until", Types.LONG()))

    def process_element(self, value, ctx):
        if value[2] == "right":
            self.forget(ctx)
            return
        if self.until.value() is None:
            self.until.update(ctx.timestamp() + MINUTE)
            ctx.timer_service().register_event_time_timer(self.until.value())
        self.wrong.add(ctx.timestamp())
        if len(times := list(self.wrong)) == 3:
            self.forget(ctx)
            yield ctx.get_current_key(), times

    def forget(self, ctx):
        if self.until.value() is not None:
            ctx.timer_service().delete_event_time_timer(self.until.value())
        self.until.clear()
        self.wrong.clear()

    def on_timer(self, timestamp, ctx):
        yield ENDED, f"{ctx.get_current_key()} at {timestamp} with {len(list(self.wrong))}"
        self.until.clear()
        self.wrong.clear()


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    tries = env.from_collection(TRIES, type_info=Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()]))
    keyed = tries.assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], key_type=Types.STRING())
    alarms = keyed.process(Alarm(), Types.TUPLE([Types.STRING(), Types.LIST(Types.LONG())]))
    alarms.print("alarm")
    alarms.get_side_output(ENDED).print("ended")
    env.execute()
