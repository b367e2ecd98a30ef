"""A table of Spark in, a table of Spark out: sales are summed up by item, and what comes out is a Parquet file.

Whatever Spark reads and writes can stand in the place of both: JDBC, ORC, Delta, tables of a catalogue. Rows go from
Spark's tasks to the program's and back without passing the driver. It needs Spark, so there is no ``--local``.

    python examples/spark_tables.py

Prints::

    bread: 3 sold for 4.5
    tea: 6 sold for 21.0
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the Python of Spark's workers, before Spark starts

from pyspark.sql import DataFrame, SparkSession

from penstock.common import Row, Types
from penstock.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from penstock.datastream.connectors import SparkSink

SALES = """
    select * from values ('tea', 2, 3.5D), ('bread', 1, 1.5D), ('tea', 4, 3.5D), ('bread', 2, 1.5D)
    as sales (item, pieces, price)
"""
SOLD = Types.ROW_NAMED(["item", "pieces", "paid"], [Types.STRING(), Types.LONG(), Types.DOUBLE()])


def paid(sale: Row) -> Row:
    return Row(item=sale.item, pieces=sale.pieces, paid=sale.pieces * sale.price)


def both(one: Row, other: Row) -> Row:
    return Row(item=one.item, pieces=one.pieces + other.pieces, paid=one.paid + other.paid)


def sum_up(sales: DataFrame, path: str) -> None:
    """Write what was sold of each item, as Parquet."""
    env = StreamExecutionEnvironment.get_execution_environment(spark=sales.sparkSession)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH).set_parallelism(2)  # one sum for each item, not every update
    sold = env.from_spark(sales, source_name="sales").map(paid, output_type=SOLD)
    totals = sold.key_by(lambda row: row.item, key_type=Types.STRING()).reduce(both)
    totals.sink_to(SparkSink(format="parquet", path=path)).name("totals")
    env.execute("sales by item")


def main() -> None:
    """Run the program, and read its file by Spark."""
    spark = SparkSession.builder.getOrCreate()
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "totals")
        sum_up(spark.sql(SALES), path)
        for row in spark.read.parquet(path).orderBy("item").collect():
            print(f"{row.item}: {row.pieces} sold for {row.paid}")


if __name__ == "__main__":
    main()
