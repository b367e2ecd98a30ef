"""Values of many types through a shuffle: what a function behind it sees."""

import datetime
import decimal

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)

    def through(values, type_info, name):
        env.from_collection(values, type_info=type_info).rebalance().map(repr).print(name)

    through([1, -5], Types.LONG(), "long")
    through(["a", "é", ""], Types.STRING(), "string")
    through([True, False], Types.BOOLEAN(), "boolean")
    through([1.5, -0.0], Types.DOUBLE(), "double")
    through([decimal.Decimal("1.50")], Types.BIG_DEC(), "decimal")
    through([datetime.date(2020, 1, 2)], Types.SQL_DATE(), "date")
    through([datetime.time(3, 4, 5)], Types.SQL_TIME(), "time")
    through([datetime.datetime(2020, 1, 2, 3, 4, 5, 678000)], Types.SQL_TIMESTAMP(), "timestamp")
    through([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()]), "tuple")
    through([{"a": 1}], Types.MAP(Types.STRING(), Types.INT()), "map")
    through([Row("a", 1)], Types.ROW([Types.STRING(), Types.INT()]), "row")
    through([("a", 1)], Types.ROW_NAMED(["x", "y"], [Types.STRING(), Types.INT()]), "named")
    through([{"x": [1, (2, None)]}], None, "untyped")
    env.execute()
