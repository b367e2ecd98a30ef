"""DataFrames of the user's as sources, and tables of records as DataFrames, without a row on the driver.

Partitions of a DataFrame become subtasks of its source. The rows of tables wait on the executors until all tasks have
succeeded; then each table is written, and then the job's files become visible.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from penstock.connectors.spark.frames import staged
from penstock.errors import ConfigurationError, JobExecutionError
from penstock.runtime.exchange.gate import TABLE
from penstock.spark.inside_pyspark import empty_frame, rebound, scans_files, struct_of, without_pandas
from penstock.spark.session import is_connect
from penstock.storage.stores import configure

if TYPE_CHECKING:
    from penstock.job.deployment import Deployment, Table

Run = Callable[[Iterable[Any]], Iterator[Any]]


ROW = "__penstock_row"
"""The last column of a :class:`Numbered` DataFrame: Spark's number of a row, of its partition and its place there."""


@dataclass(frozen=True, eq=False)
class Numbered:
    """A DataFrame that was in files. Its rows know the partition that they were in."""

    frame: Any


def moved(frame: Any, session: Any) -> Any:
    """A DataFrame in a session, by whose settings it is executed: that of the left side of a union."""
    if frame.sparkSession is session:
        return frame
    if is_connect(session):
        return rebound(frame, session)
    return empty_frame(session, frame.schema).union(frame)


def read(session: Any, deployment: Deployment, run: Run, schema: Any, frames: Mapping[int, Any]) -> Any:
    """The first level of a job: a partition for each slot, in order."""
    pieces: list[tuple[Any, Run]] = []
    empty = 0
    for vertex in deployment.levels[0]:
        empty += vertex.parallelism
        if vertex.index in frames:
            try:
                source = deployment.sources[vertex.index]
                frame, partitions = _in_order(frames[vertex.index], session, vertex.parallelism, source)
            except Exception as error:
                raise JobExecutionError(
                    f"The DataFrame of the operator {vertex.operators[0].name!r} cannot be read: {text_of(error)}."
                ) from error
            pieces += _without_rows(session, empty - vertex.parallelism, run)
            pieces += [(frame, run)] if partitions else []
            empty = vertex.parallelism - partitions
    pieces += _without_rows(session, empty, run)
    return reduce(lambda left, right: left.union(right), [frame.mapInArrow(task, schema) for frame, task in pieces])


def _in_order(frame: Any, session: Any, parallelism: int, source: Any) -> tuple[Any, int]:
    """A DataFrame as of :func:`_partitioned`, each partition in the order that its source asks for. Of rows of files
    that have been shuffled Spark does not know the file: they stay as they come."""
    from pyspark.sql import functions as F

    order = [] if source.order is None else [f"`{source.order.replace('`', '``')}`"]
    if isinstance(frame, Numbered):
        frame = moved(frame.frame, session)
        partition = F.shiftright(F.col(ROW), 33).cast("int")
        frame = frame.repartitionById(parallelism, F.pmod(partition, F.lit(parallelism)))
        return frame.sortWithinPartitions(*order, ROW).drop(ROW), parallelism
    if order:
        frame, partitions = _partitioned(frame, session, parallelism)
        return frame.sortWithinPartitions(*order), partitions
    if not source.by_file or is_connect(session) or not scans_files(frame):
        return _partitioned(frame, session, parallelism)
    file, row = _PLACE
    frame = frame.select("*", F.input_file_name().alias(file), F.monotonically_increasing_id().alias(row))
    frame, partitions = _partitioned(frame, session, parallelism)
    return frame.sortWithinPartitions(*_PLACE).drop(*_PLACE), partitions


_PLACE = ("__penstock_file", "__penstock_row")
"""Columns that rows of files have on the way: the file, and a number that grows within it."""


def _without_rows(session: Any, slots: int, run: Run) -> list[tuple[Any, Run]]:
    """Partitions for tasks that read no DataFrame, and what they run."""

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        for _ in batches:
            pass
        yield from run(())

    task.__name__ = run.__name__
    return [(session.range(0, slots, 1, slots), task)] if slots else []


def _partitioned(frame: Any, session: Any, parallelism: int) -> tuple[Any, int]:
    """A DataFrame of the job's session with at most so many partitions, and how many there are. Over Spark Connect the
    number is unknown, so there is a shuffle, which keeps partitions whole."""
    from pyspark.sql import functions as F

    frame = moved(frame, session)
    if is_connect(session):
        return frame.repartitionById(parallelism, F.pmod(F.spark_partition_id(), F.lit(parallelism))), parallelism
    partitions = frame.rdd.getNumPartitions()
    return (frame, partitions) if partitions <= parallelism else (frame.coalesce(parallelism), parallelism)


def spark_schema(table: Table) -> Any:
    """The schema of a table, as pyspark has it."""
    assert table.sink.schema is not None, "the deployment knows it"
    return struct_of(table.sink.schema)


def unpacking(table: Table, rows: Run | None = None) -> Run:
    """The function by which ``mapInArrow`` gives the Arrow batches of a table that rows of the exchange carry; Spark
    shows its name. ``rows`` makes the batches of the exchange; None: they are its input."""
    number, schema = TABLE - table.sink.number, table.sink.schema
    assert schema is not None, "the deployment knows it"

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from penstock.connectors.spark.arrow_rows import arrow_schema

        table_schema = arrow_schema(schema)
        for batch in batches if rows is None else rows(batches):
            for edge, data in zip(batch.column("edge").to_pylist(), batch.column("data"), strict=True):
                if edge == number:
                    yield pa.ipc.read_record_batch(data.as_buffer(), table_schema)

    run.__name__ = f"table_{table.sink.number}" if rows is None else rows.__name__
    return run


def write_tables(frame: Any, deployment: Deployment, session: Any) -> None:
    """Write all tables of a job, one after the other, in ``session``, the user's. Not so over Connect, where the rows
    that wait and this package are in the job's only."""
    written: list[str] = []
    for table in deployment.tables:
        rows = frame.where(f"edge = {TABLE - table.sink.number}").select("edge", "data")
        with without_pandas():
            rows = rows.mapInArrow(unpacking(table), spark_schema(table))
        try:
            _write(table, rows if is_connect(session) else moved(rows, session))
        except Exception as error:
            before = f"These sinks had been written before it and stay so: {', '.join(written)}. " if written else ""
            raise JobExecutionError(
                f"The sink {table.name!r} could not write to {table.sink.what}: {text_of(error)}. All tasks of the job "
                f"had succeeded. {before}No file of the job's other sinks has become visible."
            ) from error
        written.append(f"{table.name!r} ({table.sink.what})")


def write_step(
    session: Any, options: Mapping[str, Mapping[str, Any]], table: Table, files: Sequence[str], version: int, owner: str
) -> None:
    """Write a table's rows of one step, which wait in files, as its sink says."""

    def read(batches: Iterable[Any]) -> Iterator[Any]:
        configure(options)
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from staged(paths[number])

    paths = list(files)
    rows = session.range(0, len(paths), 1, len(paths))
    with without_pandas():
        rows = rows.mapInArrow(read, spark_schema(table))
    try:
        _write(table, rows, version, owner)
    except Exception as error:
        raise JobExecutionError(
            f"The sink {table.name!r} could not write version {version} to {table.sink.what}: {text_of(error)}. The "
            "step is committed, and its rows wait in the checkpoint directory. Remove the cause, and run it again."
        ) from error


def _write(table: Table, rows: Any, *step: Any) -> None:
    """Call what writes; in steps with the version, and the owner, as far as it takes them."""
    result = table.write(rows, *step[: parameters(table.write) - 1])
    if result is not None and type(result).__name__.startswith("DataFrameWriter"):
        raise ConfigurationError(
            f"its function returned a {type(result).__name__}, which has written nothing yet. End the function with "
            "save(…), saveAsTable(…) or the like"
        )


def parameters(write: Callable[..., Any]) -> int:
    """How many positional arguments a function takes: the DataFrame, and perhaps version and owner."""
    try:
        declared = inspect.signature(write).parameters.values()
    except (TypeError, ValueError):
        return 1
    if any(item.kind is item.VAR_POSITIONAL for item in declared):
        return 3
    needed = (item for item in declared if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD))
    return max(1, sum(item.default is item.empty or item.name in ("batch_id", "version", "owner") for item in needed))


def text_of(error: Exception) -> str:
    """The text of an error of Spark's, in a line."""
    lines = [line.removeprefix(": ") for line in str(error).strip().split("\n")]
    text = lines[min(len(lines) - 1, lines[0].startswith("An error occurred while calling"))].rstrip(".")
    return f"{type(error).__name__}: {text}"
