"""A source and a sink of one's own: files of a folder in, a SQLite database out.

The source runs in two subtasks, each of which reads its share of the files. The sink opens the database when its task
starts. A task that Spark tries again runs its sink again, so it writes in a way that may be repeated: a row has the key
of its record, and the same row twice is one row.

    penstock run --local examples/own_source_and_sink.py

Prints::

    north 12
    south 30
    west 7
"""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

from penstock.common import Types
from penstock.datastream import ParallelSourceFunction, RuntimeContext, SinkFunction, StreamExecutionEnvironment

Sale = tuple[str, int]  # shop, sold


class SalesFiles(ParallelSourceFunction[Sale]):
    """One record per file of a folder: its name without the ending, and the number in it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def open(self, runtime_context: RuntimeContext) -> None:
        self.first = runtime_context.get_index_of_this_subtask()
        self.step = runtime_context.get_number_of_parallel_subtasks()

    def run(self, ctx: ParallelSourceFunction.SourceContext[Sale]) -> None:
        for file in sorted(Path(self.folder).glob("*.txt"))[self.first :: self.step]:
            ctx.collect((file.stem, int(file.read_text())))


class Table(SinkFunction[Sale]):
    """Writes each record as a row of the table ``sales``."""

    def __init__(self, database: str) -> None:
        self.database = database

    def open(self, runtime_context: RuntimeContext) -> None:
        self.connection = sqlite3.connect(self.database)
        self.connection.execute("create table if not exists sales (shop text primary key, sold integer)")

    def invoke(self, value: Sale, context: SinkFunction.Context) -> None:
        self.connection.execute("insert or replace into sales values (?, ?)", value)

    def close(self) -> None:
        self.connection.commit()
        self.connection.close()


def main() -> None:
    """Make three files, load them, and show the table."""
    with tempfile.TemporaryDirectory() as folder:
        for shop, sold in (("north", 12), ("south", 30), ("west", 7)):
            Path(folder, f"{shop}.txt").write_text(str(sold))
        database = str(Path(folder, "sales.db"))

        env = StreamExecutionEnvironment.get_execution_environment()
        sales = env.add_source(SalesFiles(folder), "sales files", Types.TUPLE([Types.STRING(), Types.INT()]))
        sales.set_parallelism(2).add_sink(Table(database)).name("sales table").set_parallelism(1)
        env.execute("load sales")

        connection = sqlite3.connect(database)
        for shop, sold in connection.execute("select shop, sold from sales order by shop"):
            print(shop, sold)
        connection.close()


if __name__ == "__main__":
    main()
