"""Keys of undeclared type: all that can be pickled, None too."""

from datetime import date, datetime, time
from decimal import Decimal

from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Subtask(KeyedProcessFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()

    def process_element(self, value, ctx):
        yield f"{value} in {self.index} by {ctx.get_current_key()!r}"


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.set_parallelism(4)
    keys = [None, date(2020, 1, 2), datetime(2020, 1, 2), time(3, 4), b"ab", Decimal("1.5"), [1, 2], {"a": 1}]
    keys += [
        Row(1, "x"),
        Row(a=1, b="x"),
        (1, None),
        ("a", date(2020, 1, 2)),
        1.5,
        True,
        -1,
        2**70,
        "é",
        frozenset([1]),
    ]
    numbers = env.from_collection(list(range(len(keys))), type_info=Types.INT())
    numbers.key_by(lambda x: keys[x]).process(Subtask(), Types.STRING()).set_parallelism(4).print()
    env.execute()
