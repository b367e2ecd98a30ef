"""Word count with running sums, and without, as one would write it for Spark.

Each in a session with Penstock's settings: the difference is the program's alone.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterable, Iterator
from typing import Any

from functions import SINKS, PairSink, Sink, pair, running_sums, split
from spark_session import Job, measured, plain_session, session

BUFFER = 2_000
ROW = "target int, data binary"


def rdd_running_sums(parallelism: int = 2) -> Job:
    """``partitionBy``, then a dict of sums per partition."""
    context = session(parallelism).sparkContext

    def job(data: str, folder: str) -> None:
        def sums(pairs: Iterator[Any]) -> Iterator[Any]:
            sink = PairSink(folder)
            for record in running_sums(pairs):
                sink.invoke(record)
            sink.close()
            return iter(())

        pairs = context.textFile(data, parallelism).flatMap(split).map(pair)
        pairs.partitionBy(parallelism).mapPartitions(sums).count()

    return measured(job)


def rdd_reduce_by_key(parallelism: int = 2) -> Job:
    """``reduceByKey``: final counts only, combined before the exchange."""
    from operator import add

    context = session(parallelism).sparkContext

    def job(data: str, folder: str) -> None:
        counts = context.textFile(data, parallelism).flatMap(split).map(pair).reduceByKey(add, parallelism)
        counts.foreachPartition(lambda records: _into(PairSink(folder), records))

    return measured(job)


def sql(parallelism: int = 2) -> Job:
    """Spark SQL: final counts only, and no Python on the way."""
    from pyspark.sql import functions as F

    spark = session(parallelism)
    spark.conf.set("spark.sql.shuffle.partitions", str(parallelism))

    def job(data: str, folder: str) -> None:
        words = spark.read.text(data).select(F.explode(F.split("value", " ")).alias("word"))
        counts = words.groupBy("word").count().toArrow()
        _into(PairSink(folder), zip(*(column.to_pylist() for column in counts.columns), strict=True))

    return measured(job)


def _into(sink: Sink, records: Iterable[Any]) -> None:
    for record in records:
        sink.invoke(record)
    sink.close()


def map_in_arrow(parallelism: int = 2, sink: str = "sum", plain: bool = False) -> Job:
    """Two ``mapInArrow`` with an exchange of pickled buffers between them, and no call per record but the sink's.

    ``plain`` runs it in a session as Spark makes it, without any setting.
    """
    spark = plain_session(parallelism) if plain else session(parallelism)

    def job(data: str, folder: str) -> None:
        lines = spark.read.text(data)
        buffers = lines.mapInArrow(lambda batches: _send(batches, parallelism), ROW)
        received = buffers.repartitionById(parallelism, "target")
        received.mapInArrow(lambda batches: _receive(batches, SINKS[sink](folder)), "nothing int").count()

    return measured(job)


def _send(batches: Iterator[Any], targets: int) -> Iterator[Any]:
    buffers: list[list[Any]] = [[] for _ in range(targets)]
    for batch in batches:
        for line in batch.column(0).to_pylist():
            for word in line.split():
                target = hash(word) % targets
                buffer = buffers[target]
                buffer.append((word, 1))
                if len(buffer) >= BUFFER:
                    yield _row(target, buffer)
                    buffers[target] = []
    for target, buffer in enumerate(buffers):
        yield _row(target, buffer)


def _row(target: int, buffer: list[Any]) -> Any:
    import pyarrow as pa

    data = io.BytesIO()
    pickler = pickle.Pickler(data, 5)
    pickler.fast = True  # no memo: nothing is shared, and it is quicker
    pickler.dump(buffer)
    arrays = [pa.array([target], pa.int32()), pa.array([data.getvalue()], pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["target", "data"])


def _receive(batches: Iterator[Any], sink: Sink) -> Iterator[Any]:
    import pyarrow as pa

    sums: dict[str, int] = {}
    invoke, get = sink.invoke, sums.get
    for batch in batches:
        for data in batch.column(1).to_pylist():
            for word, number in pickle.loads(data):
                sums[word] = total = get(word, 0) + number
                invoke((word, total))
    sink.close()
    yield pa.RecordBatch.from_arrays([pa.array([], pa.int32())], names=["nothing"])
