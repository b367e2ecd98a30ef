"""The most sold of each hour: windows count, then a function per window sorts the counts when their time is over."""

from pyflink.common import Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import ListStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows

SOLD = [("tea", 5), ("rice", 10), ("tea", 20), ("oil", 30), ("rice", 70), ("oil", 75), ("oil", 80), ("tea", 119)]
MINUTE = 60_000
COUNTED = Types.ROW_NAMED(["item", "end", "count"], [Types.STRING(), Types.LONG(), Types.LONG()])


class Minutes(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1] * MINUTE


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class WithEnd(ProcessWindowFunction):
    def process(self, key, context, elements):
        for count in elements:
            yield Row(item=key, end=context.window().end, count=count)


class Top(KeyedProcessFunction):
    def open(self, runtime_context):
        self.counts = runtime_context.get_list_state(
            ListStateDescriptor("counts", Types.TUPLE([Types.STRING(), Types.LONG()]))
        )

    def process_element(self, value, ctx):
        self.counts.add((value["item"], value["count"]))
        ctx.timer_service().register_event_time_timer(value["end"])

    def on_timer(self, timestamp, ctx):
        best = sorted(self.counts, key=lambda pair: (-pair[1], pair[0]))[:2]
        self.counts.clear()
        yield f"hour {timestamp // (60 * MINUTE)}: " + ", ".join(f"{item} {count}" for item, count in best)


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Minutes())
    sold = env.from_collection(SOLD, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    keyed = sold.assign_timestamps_and_watermarks(strategy).key_by(lambda sale: sale[0], Types.STRING())
    hours = keyed.window(TumblingEventTimeWindows.of(Time.hours(1)))
    counted = hours.aggregate(Count(), WithEnd(), accumulator_type=Types.LONG(), output_type=COUNTED)
    counted.key_by(lambda row: row["end"], Types.LONG()).process(Top(), Types.STRING()).print()
    env.execute()
