"""Outputs that several read: there values are as their declared type has them, which one reader alone does not see."""

from pyflink.common import Row, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment

NAMED = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
SIDE = OutputTag("side", Types.FLOAT())


class Sides(ProcessFunction):
    def process_element(self, value, ctx):
        yield 110.1
        yield SIDE, 110.1


class Stamps(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return 1


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)

    def floats():
        return env.from_collection([1], type_info=Types.INT()).map(lambda _: 110.1, output_type=Types.FLOAT())

    def rows():
        numbers = env.from_collection([1], type_info=Types.INT())
        return numbers.map(lambda x: Row(b="x", a=x + 0.5), output_type=NAMED)

    floats().map(repr).print("one reader")
    two = floats()
    two.map(repr).print("first")
    two.map(repr).print("second")
    beside = floats()
    beside.map(repr).print("beside a print")
    beside.print("printed")
    rows().map(repr).print("row, one reader")
    both = rows()
    both.map(repr).print("row, first")
    both.map(lambda row: row.a).print("row, second")
    rows().print("row printed")
    shown = rows()
    shown.print("row printed, first")
    shown.map(repr).print("row, behind a print")
    sides = env.from_collection([1], type_info=Types.INT()).process(Sides(), output_type=Types.FLOAT())
    sides.map(repr).print("beside a side output")
    sides.get_side_output(SIDE).map(repr).print("side output")
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamps())
    floats().assign_timestamps_and_watermarks(strategy).map(repr).print("behind timestamps")
    floats().filter(lambda x: x > 1).map(repr).print("filtered")
    floats().union(floats()).map(repr).print("united")
    floats().key_by(lambda x: 1, key_type=Types.INT()).reduce(lambda x, y: x + y).map(repr).print("reduced")
    env.execute()
