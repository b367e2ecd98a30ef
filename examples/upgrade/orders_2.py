"""Totals of customers from lines such as ``anna 30`` in the files of a folder: the program of docs/never-lose-state.md
after a change: refunds are left out, and orders are counted too. It ends when it has read what is there, as
`penstock.step.available-now` says.
"""

# pyright: basic
from __future__ import annotations

from penstock.common import Configuration, Duration, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSource, StreamFormat

ORDER = Types.TUPLE([Types.STRING(), Types.LONG()])


def order(line: str) -> tuple[str, int]:
    customer, amount = line.split()
    return customer, int(amount)


env = StreamExecutionEnvironment.get_execution_environment(Configuration({"penstock.step.available-now": "true"}))
files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "inbox")
files = files.monitor_continuously(Duration.of_seconds(1)).build()
lines = env.from_source(files, WatermarkStrategy.no_watermarks(), "inbox").uid("inbox").set_parallelism(1)
orders = lines.map(order, output_type=ORDER)
sales = orders.filter(lambda pair: pair[1] > 0).name("sales only")
totals = sales.key_by(lambda pair: pair[0], Types.STRING()).sum(1).uid("totals").name("totals")
counts = sales.map(lambda pair: (pair[0], 1), ORDER).key_by(lambda pair: pair[0], Types.STRING()).sum(1)
counts = counts.uid("counts").name("counts")
totals.print().name("print").set_parallelism(1)
counts.map(lambda pair: f"{pair[0]}: order {pair[1]}", Types.STRING()).print().name("print counts").set_parallelism(1)
env.execute("orders")
