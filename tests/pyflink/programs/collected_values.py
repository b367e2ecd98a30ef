"""What a program collects, by declared type."""

from datetime import date, time
from decimal import Decimal

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)

    def collected(name, type_info, value):
        made = env.from_collection([0], type_info=Types.INT()).map(lambda _: value, output_type=type_info)
        with made.execute_and_collect() as records:
            print(name, list(records))

    collected("float", Types.FLOAT(), 110.1)
    collected("float of int", Types.FLOAT(), 3)
    collected("int", Types.INT(), 1.5)
    collected("double", Types.DOUBLE(), 3)
    collected("decimal", Types.BIG_DEC(), Decimal("1.50"))
    collected("date", Types.SQL_DATE(), date(2020, 1, 2))
    collected("time", Types.SQL_TIME(), time(3, 4, 5, 678901))
    collected("floats", Types.LIST(Types.FLOAT()), [110.1, 0.5])
    collected("map", Types.MAP(Types.STRING(), Types.FLOAT()), {"a": 110.1})
    collected("array", Types.BASIC_ARRAY(Types.INT()), [1, None])
    collected("bytes", Types.PRIMITIVE_ARRAY(Types.BYTE()), b"a\xff")
    collected("tuple", Types.TUPLE([Types.FLOAT(), Types.SQL_TIME()]), (110.1, time(3, 4, 5, 6000)))
    collected("row", Types.ROW_NAMED(["a", "b"], [Types.FLOAT(), Types.LONG()]), Row(b=2.5, a=110.1))
    collected("nested", Types.ROW([Types.ROW_NAMED(["a"], [Types.FLOAT()])]), Row(Row(110.1)))
    collected("undeclared", None, (110.1, b"a", None))
