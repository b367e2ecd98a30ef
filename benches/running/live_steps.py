"""Programs whose steps are measured one by one, on Penstock and on Structured Streaming; ``job(folder)`` never ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from live_penstock import Settings, environment

Job = Callable[[str], None]
PRIME = 7_919
KEPT = 1_000_000
"""Versions that stay in the checkpoint directory: all of them, so that their times and files can be seen."""


class Nothing:
    """A sink that keeps nothing."""

    def invoke(self, value: object) -> None:
        """Take a record."""


def exchanges(executor: str = "spark", parallelism: int = 2, records: int = 10) -> Job:
    """So many records a step through two exchanges and two sums."""

    def build(env: Any) -> None:
        first = _pairs(env, 100, records).key_by(lambda pair: pair[0], key_type=_texts()).sum(1)
        first.key_by(lambda pair: pair[1] % 10, key_type=_numbers()).sum(1).add_sink(Nothing())

    return _job(build, executor, parallelism)


def sums(
    executor: str = "spark",
    parallelism: int = 1,
    keys: int = 1_000_000,
    records: int = 10_000,
    settings: Settings | None = None,
) -> Job:
    """A sum per key; each step touches so many other keys than the one before, until all have been touched."""

    def build(env: Any) -> None:
        _pairs(env, keys, records).key_by(lambda pair: pair[0], key_type=_texts()).sum(1).add_sink(Nothing())

    return _job(build, executor, parallelism, settings)


def pair_of(number: int, keys: int) -> tuple[str, int]:
    """The n-th record: in as many as there are keys each key is there once."""
    return f"k{number * PRIME % keys}", 1


def _pairs(env: Any, keys: int, records: int) -> Any:
    from penstock.common import Types, WatermarkStrategy
    from penstock.datastream.connectors import DataGeneratorSource, RateLimiterStrategy

    kind = Types.TUPLE([Types.STRING(), Types.LONG()])
    rate = RateLimiterStrategy.per_checkpoint(records)
    source = DataGeneratorSource(lambda number: pair_of(number, keys), None, kind, rate_limiter_strategy=rate)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "pairs")


def _texts() -> Any:
    from penstock.common import Types

    return Types.STRING()


def _numbers() -> Any:
    from penstock.common import Types

    return Types.LONG()


def _job(build: Callable[[Any], None], executor: str, parallelism: int, settings: Settings | None = None) -> Job:
    def job(folder: str) -> None:
        merged = {"penstock.job.retained-manifests": KEPT, **(settings or {}), "execution.checkpointing.dir": folder}
        env = environment(executor, parallelism, merged)
        build(env)
        env.execute("steps")

    return job


def by_hand(parallelism: int = 2, records: int = 10) -> Job:
    """Two exchanges with a Python function behind each in a streaming query, without state; a manifest per trigger is
    written, as ours are."""
    from spark_session import session

    spark = session(parallelism)

    def job(folder: str) -> None:
        rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", records)
        frame = rate.option("numPartitions", parallelism).load().selectExpr("cast(value as int) as id")
        for _ in range(2):
            frame = frame.repartitionById(parallelism, "id").mapInArrow(_through, "id int")
        manifests = Path(folder, "manifests")
        manifests.mkdir(exist_ok=True)

        def write_manifest(batch: Any, number: int) -> None:
            batch.collect()
            Path(manifests, f"manifest-{number}.json").touch()

        writer = frame.writeStream.option("checkpointLocation", str(Path(folder, "checkpoint")))
        writer.trigger(processingTime="0 seconds").foreachBatch(write_manifest).start().awaitTermination()

    return job


def _through(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches
