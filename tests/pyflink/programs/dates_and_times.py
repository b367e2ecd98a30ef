"""Dates, times and moments of declared types: behind a collection, an exchange, and printed."""

from datetime import date, datetime, time

from pyflink.common import Types
from pyflink.common.time import Instant
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)

    def each(name, type_info, values):
        source = env.from_collection(values, type_info=type_info)
        source.map(repr).print(f"{name} source")
        source.print(f"{name} printed")
        made = env.from_collection([0], type_info=Types.INT()).flat_map(lambda _: values, output_type=type_info)
        made.rebalance().map(repr).print(f"{name} exchange")
        made.print(f"{name} made")

    each("date", Types.SQL_DATE(), [date(2020, 1, 2), date(1960, 5, 6), datetime(2024, 2, 29, 13)])
    each("time", Types.SQL_TIME(), [time(3, 4, 5), time(0), time(23, 59, 59, 999999), time(3, 4, 5, 678000)])
    each("timestamp", Types.SQL_TIMESTAMP(), [datetime(2020, 1, 2, 3, 4, 5, 678901), datetime(1970, 1, 1)])
    each("instant", Types.INSTANT(), [Instant.of_epoch_milli(1500), Instant(1, 123456789)])
    row = Types.ROW([Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP()])
    rows = env.from_collection(
        [(date(2020, 1, 2), time(3, 4, 5, 678901), datetime(2020, 1, 2, 3, 4, 5))], type_info=row
    )
    rows.map(repr).print("row")
    rows.print("row printed")
    env.execute()
