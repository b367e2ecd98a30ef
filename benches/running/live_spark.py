"""Programs that never end on Spark's Structured Streaming: its own aggregation, and transformWithState in Python.

In sessions of their own with the full compiler, as all of the first's work and much of the other's is the JVM's.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from live import MASK, FiredSink, SumSink, cells_of, end_of, weight_of_pair

Job = Callable[[str, str], None]
ROCKS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
"""transformWithState needs this store; with change logs it writes least."""
FILES = 2
"""Files of a batch."""


def session(parallelism: int, settings: dict[str, str]) -> Any:
    """A session for such queries."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    wanted = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "3g",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": str(parallelism),
        "spark.python.unix.domain.socket.enabled": "true",
        **settings,
    }
    builder = SparkSession.builder.master(f"local[{parallelism}]")
    for key, value in wanted.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def native_sums(parallelism: int = 2, settings: dict[str, str] | None = None) -> Job:
    """Spark's streaming aggregation: a sum per key and batch, and no Python on the way.

    What it gives to a sink is thrown away in the JVM. The last sum of each key is read from its state at the end.
    """
    spark = session(parallelism, settings or {})

    def job(inbox: str, out: str) -> None:
        from pyspark.sql import functions as F

        parts = F.split("value", ",")
        pairs = _lines(spark, inbox).select(parts[0].alias("key"), parts[1].cast("long").alias("number"))
        with tempfile.TemporaryDirectory() as folder:
            query = _started(pairs.groupBy("key").agg(F.sum("number").alias("total")), folder)
            _answer(query, out)
            query.stop()
            _tell_state(spark, folder, out)
            time.sleep(600)

    return job


def _answer(query: Any, out: str) -> None:
    """Whenever somebody asks for so many records, answer when all that is there has been read."""
    cells, asked, stop = cells_of(Path(out, "read.live")), Path(out, "asked"), Path(out, "stop")
    while not stop.exists():
        if asked.exists():
            wanted = int(asked.read_text())
            asked.unlink()
            query.processAllAvailable()
            cells[0] = wanted
        time.sleep(0.05)


def _tell_state(spark: Any, checkpoint: str, out: str) -> None:
    rows = spark.read.format("statestore").load(checkpoint).select("key.key", "value.*").toArrow()
    last = dict(zip(*(column.to_pylist() for column in rows.columns), strict=True))
    making = Path(out, "final.part")
    making.write_text(json.dumps([len(last), sum(map(weight_of_pair, last.items())) & MASK]))
    making.rename(making.with_suffix(".json"))


def state_sums(parallelism: int = 2) -> Job:
    """transformWithState in Python, rows one by one: each running sum goes to the sink."""
    spark = session(parallelism, ROCKS)

    def job(inbox: str, out: str) -> None:
        from pyspark.sql import functions as F

        parts = F.split("value", ",")
        pairs = _lines(spark, inbox).select(parts[0].alias("key"), parts[1].cast("long").alias("number"))
        with tempfile.TemporaryDirectory() as folder:
            sums = pairs.groupBy("key").transformWithState(_sums(out), "key string", "Update", "None")
            _started(sums, folder).awaitTermination()

    return job


def _sums(folder: str) -> Any:
    from pyspark.sql.streaming import StatefulProcessor

    class Sums(StatefulProcessor):
        def __init__(self) -> None:
            self.sink = SumSink(folder)

        def init(self, handle: Any) -> None:
            self.total = handle.getValueState("total", "total long")

        def handleInputRows(self, key: Any, rows: Iterable[Any], timerValues: Any) -> Iterator[Any]:
            stored, name, invoke = self.total.get(), key[0], self.sink.invoke
            total = stored[0] if stored else 0
            for row in rows:
                total += row[1]
                invoke((name, total))
            self.sink.flush()
            self.total.update((total,))
            return iter(())

        def close(self) -> None:
            pass

    return Sums()


def state_timers(parallelism: int = 2, delay: int = 1_000, pandas: bool = False) -> Job:
    """transformWithState in Python with a count and a timer of event time per key; rows, or frames of pandas."""
    spark = session(parallelism, ROCKS)

    def job(inbox: str, out: str) -> None:
        from pyspark.sql import functions as F

        parts = F.split("value", ",")
        pairs = _lines(spark, inbox).select(parts[0].alias("key"), parts[1].cast("long").alias("time"))
        timed = pairs.withColumn("at", F.timestamp_millis("time")).withWatermark("at", f"{delay} milliseconds")
        with tempfile.TemporaryDirectory() as folder:
            grouped = timed.groupBy("key")
            transform = grouped.transformWithStateInPandas if pandas else grouped.transformWithState
            fired = transform(_timers(out, pandas), "key string", "Update", "EventTime")
            _started(fired, folder).awaitTermination()

    return job


def _timers(folder: str, pandas: bool) -> Any:
    from pyspark.sql.streaming import StatefulProcessor

    class Timers(StatefulProcessor):
        def __init__(self) -> None:
            self.sink = FiredSink(folder)

        def init(self, handle: Any) -> None:
            self.handle = handle
            self.count = handle.getValueState("count", "count long")

        def handleInputRows(self, key: Any, rows: Iterable[Any], timerValues: Any) -> Iterator[Any]:
            stored = self.count.get()
            times = (at for frame in rows for at in frame["time"].tolist()) if pandas else (row[1] for row in rows)
            count = stored[0] if stored else 0
            for at in times:
                if not count:
                    self.handle.registerTimer(end_of(int(at)))
                count += 1
            self.count.update((count,))
            return iter(())

        def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:
            self.sink.invoke((key[0], expiredTimerInfo.getExpiryTimeInMs(), self.count.get()[0]))
            self.sink.flush()
            self.count.clear()
            return iter(())

        def close(self) -> None:
            pass

    return Timers()


def _lines(spark: Any, inbox: str) -> Any:
    return spark.readStream.option("maxFilesPerTrigger", str(FILES)).text(inbox)


def _started(frame: Any, checkpoint: str) -> Any:
    writer = frame.writeStream.outputMode("update").format("noop").option("checkpointLocation", checkpoint)
    return writer.trigger(processingTime="0 seconds").start()
