"""Sessions with a trigger of a program's own, whose count is merged with the sessions."""

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ReducingStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, TimeWindow, Trigger, TriggerResult


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class EarlyAndAtEnd(Trigger[tuple, TimeWindow]):
    def __init__(self, every):
        self.every = every
        self.count = ReducingStateDescriptor("count", lambda one, other: one + other, Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        count = ctx.get_partitioned_state(self.count)
        count.add(1)
        return TriggerResult.FIRE if count.get() % self.every == 0 else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE_AND_PURGE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.count)
        ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())
        ctx.get_partitioned_state(self.count).clear()


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(value[1] for value in elements)


if __name__ == "__main__":
    settings = Configuration().set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(1)
    records = [("a", 1), ("a", 9), ("b", 3), ("a", 5), ("a", 20), ("b", 4), ("a", 12), ("b", 30), ("a", 22), ("a", 2)]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    stream = env.from_collection(records, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    keyed = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], key_type=Types.STRING())
    sessions = keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))
    for every in (2, 3):
        sessions.trigger(EarlyAndAtEnd(every)).process(Span()).print(f"every {every}")
    env.execute()
