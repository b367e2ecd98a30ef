"""Sums of a double by a long, out of Parquet: running sums, and sums in tumbling windows, by all peers.

The results are added up as columns, by the same function, so that a sink does not dominate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from functions import Sink

SECONDS = 60
"""The size of windows."""
ROWS = 1 << 14
"""Of a batch, where a program says how many."""

Pair = tuple[int, float]


def summed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Number and checksum of the results in the first two columns, keys and sums, whatever their order."""
    keys, sums = (batch.column(index).to_numpy(zero_copy_only=False) for index in range(2))
    mixed = keys.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ sums.view(np.uint64)
    mixed *= np.uint64(0xC2B2AE3D27D4EB4F)
    total = np.bitwise_xor(mixed, mixed >> np.uint64(29)).sum(dtype=np.uint64)
    return pa.record_batch({"f0": pa.array([len(keys)]), "f1": pa.array([total.astype(np.int64)])})


class TotalSink(Sink):
    """Adds up what :func:`summed` gives."""

    def invoke(self, value: Any) -> None:
        """Take the number and the checksum of some records."""
        self.count += value[0]
        self.total += value[1]


# --- Penstock ---------------------------------------------------------------------------------------------------------


def pair(row: Any) -> Pair:
    """Key and value."""
    return (row.key, row.value)


def key_of(record: Any) -> int:
    """The key."""
    return record[0]


def time_of(row: Any, _: int) -> int:
    """The time."""
    return row.time


def later(first: Pair, second: Pair) -> Pair:
    """The sum so far."""
    return (first[0], first[1] + second[1])


def penstock_running(executor: str = "spark", parallelism: int = 2, settings: dict[str, str] | None = None) -> Any:
    """Running sums by key."""

    def job(data: str, folder: str) -> None:
        from penstock.common import Types

        env, pairs = _pairs(executor, parallelism, settings, data, ["key", "value"])
        _total(pairs.key_by(key_of, key_type=Types.LONG()).reduce(later), folder)
        env.execute("running sums")

    return _measured(executor, job)


def penstock_windows(executor: str = "spark", parallelism: int = 2, settings: dict[str, str] | None = None) -> Any:
    """Sums by key and window."""

    def job(data: str, folder: str) -> None:
        from penstock.common import Time, Types
        from penstock.datastream.window import TumblingEventTimeWindows

        env, pairs = _pairs(executor, parallelism, settings, data, ["key", "value", "time"])
        windows = pairs.key_by(key_of, key_type=Types.LONG()).window(TumblingEventTimeWindows.of(Time.seconds(SECONDS)))
        _total(windows.reduce(later), folder)
        env.execute("sums in windows")

    return _measured(executor, job)


def _measured(executor: str, job: Callable[[Any, str], None]) -> Any:
    if executor == "local":
        return job
    from spark_session import measured

    return measured(job)


def _pairs(executor: str, parallelism: int, settings: dict[str, str] | None, data: str, names: list[str]) -> Any:
    """An environment, and the pairs of the files' records as a stream of it; with their times if they are read."""
    from penstock.common import Configuration, Types, WatermarkStrategy
    from penstock.datastream import StreamExecutionEnvironment
    from penstock.datastream.connectors import FileSource
    from penstock.datastream.formats import ParquetColumnarRowInputFormat

    where = {"executor": "local"} if executor == "local" else {"master": f"local[{parallelism}]"}
    configuration = Configuration(settings or {})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, **where).set_parallelism(parallelism)
    types = {"key": Types.LONG(), "value": Types.DOUBLE(), "time": Types.LONG()}
    rows = ParquetColumnarRowInputFormat(Types.ROW_NAMED(names, [types[name] for name in names]), batch_size=ROWS)
    source = FileSource.for_bulk_file_format(rows, data).build()
    strategy = WatermarkStrategy.no_watermarks()
    if "time" in names:
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(time_of)
    records = env.from_source(source, strategy, "records")
    return env, records.map(pair, Types.TUPLE([Types.LONG(), Types.DOUBLE()]))


def _total(results: Any, folder: str) -> None:
    from penstock.common import Types

    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    results.flat_map_batches(summed, output_type=pair, batch_size=ROWS).add_sink(TotalSink(folder))


# --- peers ------------------------------------------------------------------------------------------------------------


def spark_running(parallelism: int = 2) -> Any:
    """Spark SQL: running sums by a window function, in the order of time."""
    return _by_spark(
        parallelism, "sum(value) OVER (PARTITION BY key ORDER BY time ROWS UNBOUNDED PRECEDING) AS total", ""
    )


def spark_windows(parallelism: int = 2) -> Any:
    """Spark SQL: sums by key and window, aggregated as a batch."""
    grouped = f" GROUP BY key, window(timestamp_millis(time), '{SECONDS} seconds')"
    return _by_spark(parallelism, "sum(value) AS total", grouped)


def _by_spark(parallelism: int, total: str, grouped: str) -> Any:
    from spark_session import measured, session

    spark = session(parallelism)
    spark.conf.set("spark.sql.shuffle.partitions", str(parallelism))

    def job(data: str, folder: str) -> None:
        sums = spark.sql(f"SELECT key, {total} FROM parquet.`{data}`{grouped}")
        parts = sums.mapInArrow(_summed_all, "count long, total long").toArrow()
        _into(folder, parts.to_batches())

    return measured(job)


def _summed_all(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from map(summed, batches)


def _into(folder: str, batches: list[pa.RecordBatch]) -> None:
    sink = TotalSink(folder)
    for batch in batches:
        for record in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            sink.invoke(record)
    sink.close()


def running_loop() -> Any:
    """Running sums in a loop of Python: the results they must have."""
    return _by_hand(lambda key, time: key, every=True)


def windows_loop() -> Any:
    """Sums by key and window in a loop of Python: the results they must have."""
    return _by_hand(lambda key, time: (key, time // (SECONDS * 1000)), every=False)


def _by_hand(group: Callable[[int, int], Any], every: bool) -> Any:
    import pyarrow.parquet as pq

    def job(data: str, folder: str) -> None:
        sums = dict[Any, Pair]()
        results = list[Pair]()
        for path in sorted(Path(data).iterdir()):
            columns = [column.to_pylist() for column in pq.read_table(path, columns=["key", "value", "time"]).columns]
            for key, value, time in zip(*columns, strict=True):
                slot = group(key, time)
                before = sums.get(slot)
                result = sums[slot] = (key, value) if before is None else (key, before[1] + value)
                if every:
                    results.append(result)
        keys, totals = zip(*(results if every else sums.values()), strict=True)
        _into(folder, [summed(pa.record_batch([pa.array(keys, pa.int64()), pa.array(totals)], names=["f0", "f1"]))])

    return job
