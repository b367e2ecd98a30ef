"""Files that appear in a folder, into a table of a database and into Parquet files, each record once.

The rows of a step are inserted in one transaction, with the number of the step: the program may be killed at any
instant, and goes on where it was. Parquet files appear step by step. The job is started twice, as on two days.

    penstock run --local examples/files_to_table.py

Prints::

    monday: 2 sales in the table, 2 in Parquet files
    tuesday: 3 sales in the table, 3 in Parquet files
"""

# pyright: basic
from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from penstock.common import Configuration, Duration, Row, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import (
    FileSink,
    FileSource,
    JdbcConnectionOptions,
    JdbcExecutionOptions,
    JdbcSink,
    StreamFormat,
)
from penstock.datastream.formats import ParquetBulkWriters

SALE = Types.ROW_NAMED(["shop", "sold"], [Types.STRING(), Types.INT()])


def load(folder: Path) -> None:
    """Go on, until everything in the folder has been loaded."""
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration({"execution.checkpointing.dir": f"{folder}/job", "penstock.step.available-now": "true"})
    )
    lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), f"{folder}/inbox")
    watched = lines.monitor_continuously(Duration.of_millis(10)).build()
    texts = env.from_source(watched, WatermarkStrategy.no_watermarks(), "inbox").uid("inbox")
    sales = texts.map(sale, output_type=SALE)
    database = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{folder}/shops.db").build()
    table = JdbcSink.sink(
        "INSERT INTO sales VALUES (?, ?)", SALE, database, JdbcExecutionOptions.builder().build(), exactly_once="sales"
    )
    sales.add_sink(table).uid("table")
    sales.sink_to(FileSink.for_bulk_format(f"{folder}/sales", ParquetBulkWriters.for_row_type(SALE)).build()).uid(
        "files"
    )
    env.execute("files to a table")


def sale(line: str) -> Row:
    """A line ``shop,sold``."""
    shop, sold = line.split(",")
    return Row(shop=shop, sold=int(sold))


def main() -> None:
    """Run the program on two days."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        Path(folder, "inbox").mkdir()
        with sqlite3.connect(folder / "shops.db") as shops:
            shops.execute("CREATE TABLE sales (shop TEXT, sold INTEGER)")
        for day, text in (("monday", "north,12\nsouth,30\n"), ("tuesday", "west,7\n")):
            Path(folder, "inbox", f"{day}.csv").write_text(text)
            load(folder)
            rows = shops.execute("SELECT count(*) FROM sales").fetchone()[0]
            files = sum(pq.read_table(path).num_rows for path in Path(folder, "sales").rglob("part-*"))
            print(f"{day}: {rows} sales in the table, {files} in Parquet files")
        shops.close()


if __name__ == "__main__":
    main()
