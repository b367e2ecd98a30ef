"""State of a window beside state of its key, in windows that fire several times."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import CountTrigger, TumblingEventTimeWindows


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Firings(ProcessWindowFunction):
    def process(self, key, context, elements):
        own = context.window_state().get_state(ValueStateDescriptor("firings", Types.INT()))
        ever = context.global_state().get_state(ValueStateDescriptor("ever", Types.INT()))
        starts = context.global_state().get_list_state(ListStateDescriptor("starts", Types.LONG()))
        own.update((own.value() or 0) + 1)
        ever.update((ever.value() or 0) + 1)
        starts.add(context.window().start)
        yield key, context.window().start, own.value(), ever.value(), sorted(starts), len(list(elements))

    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("firings", Types.INT())).clear()


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    records = [("a", 1), ("b", 2), ("a", 11), ("a", 3), ("a", 12), ("b", 4), ("a", 5), ("a", 6), ("b", 17)]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    stream = env.from_collection(records, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    keyed = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], key_type=Types.STRING())
    windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    windows.trigger(CountTrigger.of(2)).process(Firings()).print("by count")
    windows.process(Firings()).print("by time")
    env.execute()
