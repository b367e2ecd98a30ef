"""Keys of declared types: the subtask of each, and the key as functions see it."""

from datetime import date, datetime, time
from decimal import Decimal

from pyflink.common import Row, RowKind, Types
from pyflink.common.time import Instant
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

    def keyed(name, type_info, keys):
        numbers = env.from_collection(list(range(len(keys))), type_info=Types.INT())
        numbers.key_by(lambda x: keys[x], key_type=type_info).process(Subtask(), Types.STRING()).set_parallelism(
            4
        ).print(name)

    keyed("date", Types.SQL_DATE(), [date(2020, 1, 2), date(1960, 5, 6), date(2024, 2, 29), datetime(2024, 2, 29, 1)])
    keyed("time", Types.SQL_TIME(), [time(3, 4, 5), time(0), time(3, 4, 5, 678901), time(23, 59, 59, 999000)])
    keyed(
        "timestamp",
        Types.SQL_TIMESTAMP(),
        [datetime(2020, 1, 2, 3, 4, 5, 678901), datetime(2020, 1, 2, 3, 4, 5, 678000)],
    )
    keyed(
        "instant", Types.INSTANT(), [Instant.of_epoch_milli(1500), Instant(1, 123456789), Instant.of_epoch_milli(-1500)]
    )
    decimals = ["1.50", "1.5", "-3", "1E+3", "0.00", "12345678901234567890.5"]
    keyed("decimal", Types.BIG_DEC(), [Decimal(text) for text in decimals])
    keyed("byte", Types.BYTE(), [1, -1])
    keyed("float", Types.FLOAT(), [1.5, 110.1, -0.0, 3])
    keyed("boolean", Types.BOOLEAN(), [True, False])
    keyed("list", Types.LIST(Types.INT()), [[1, 2], [], [-1], [2, 1]])
    keyed("map", Types.MAP(Types.STRING(), Types.INT()), [{"a": 1}, {"a": 1, "b": 2}, {}])
    named = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    keyed("row", named, [Row(1, "x"), Row(b="x", a=1), Row(a=2, b=None), Row.of_kind(RowKind.DELETE, 1, "x")])
    fields = [Types.SQL_DATE(), Types.BIG_DEC(), Types.LIST(Types.STRING()), named]
    keyed("wide row", Types.ROW(fields), [Row(date(2020, 1, 2), Decimal("1.5"), ["x"], Row(1, "y")), Row(*[None] * 4)])
    keyed("tuple", Types.TUPLE([Types.SQL_DATE(), Types.BIG_DEC()]), [(date(2020, 1, 2), Decimal("1.5"))])
    keyed("text or none", Types.STRING(), [None, "a", "", None])
    keyed("int or none", Types.INT(), [None, 1])
    env.execute()
