"""Keys that are tuples and rows of mixed types, declared and not."""

from datetime import date
from decimal import Decimal

from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield str(ctx.get_current_key()), self.count.value()


RECORDS = [
    ("a", 1, True, Decimal("1.50"), date(2024, 2, 29), b"\x00"),
    ("a", 1, False, Decimal("1.50"), date(2024, 2, 29), b"\x00"),
    ("a", 1, True, Decimal("1.5"), date(2024, 2, 29), b"\x01"),
    ("b", -1, True, Decimal("-0.5"), date(1999, 12, 31), b""),
    ("a", 1, True, Decimal("1.50"), date(2024, 2, 29), b"\x00"),
]

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    stream = env.from_collection(RECORDS)
    two = Types.TUPLE([Types.STRING(), Types.BOOLEAN()])
    stream.key_by(lambda v: (v[0], v[2]), key_type=two).process(Count(), two).map(str).print("text and truth")
    stream.key_by(lambda v: (v[0], v[1], v[2])).process(Count()).map(str).print("three")
    stream.key_by(lambda v: (v[4], v[5])).process(Count()).map(str).print("day and bytes")
    stream.key_by(lambda v: ((v[0], v[1]), (v[2],))).process(Count()).map(str).print("nested")
    stream.key_by(lambda v: Row(v[1], v[0]), key_type=Types.ROW([Types.INT(), Types.STRING()])).process(Count()).map(
        str
    ).print("row")
    env.execute()
