"""Side outputs of every operator that has them: process functions of all kinds, and windows."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, StreamExecutionEnvironment
from pyflink.datastream.functions import (
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessWindowFunction,
)
from pyflink.datastream.state import MapStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows

SIDE = OutputTag("side", Types.STRING())
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Plain(ProcessFunction):
    def process_element(self, value, ctx):
        yield value
        yield SIDE, f"plain {value}"


class Keyed(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield SIDE, f"keyed {value} of {ctx.get_current_key()}"


class Co(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield SIDE, f"first {value}"

    def process_element2(self, value, ctx):
        yield SIDE, f"second {value}"


class KeyedCo(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        yield SIDE, f"keyed first {value}"

    def process_element2(self, value, ctx):
        yield value
        yield SIDE, f"keyed second {value}"


class Broadcast(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield SIDE, f"beside a broadcast {value}"

    def process_broadcast_element(self, value, ctx):
        yield SIDE, f"broadcast {value}"


class Window(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield len(list(elements))
        yield SIDE, f"window {key} {context.window().start}"


class AllWindow(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield SIDE, f"window of all {context.window().end} {sorted(elements)}"


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    number = Types.INT()
    numbers = env.from_collection([1, 2, 7], type_info=number).assign_timestamps_and_watermarks(strategy)
    keyed = numbers.key_by(lambda value: value % 2, key_type=number)
    windows = TumblingEventTimeWindows.of(Time.milliseconds(5))
    plain = numbers.process(Plain(), output_type=number)
    plain.print("main")
    plain.get_side_output(SIDE).print()
    keyed.process(Keyed(), output_type=number).get_side_output(SIDE).print()
    numbers.connect(numbers).process(Co(), output_type=number).get_side_output(SIDE).print()
    both = keyed.connect(keyed).process(KeyedCo(), output_type=number)
    both.print("both")
    both.get_side_output(SIDE).print()
    rules = env.from_collection(["rule"], type_info=Types.STRING()).broadcast(RULES)
    numbers.connect(rules).process(Broadcast(), output_type=number).get_side_output(SIDE).print()
    window = keyed.window(windows).process(Window(), output_type=number)
    window.print("sizes")
    window.get_side_output(SIDE).print()
    numbers.window_all(windows).process(AllWindow(), output_type=number).get_side_output(SIDE).print()
    env.execute()
