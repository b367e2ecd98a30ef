"""DataFrames of the user's as sources, and tables of records as DataFrames, without a row on the driver.

**Reading.** Partitions of a DataFrame become subtasks of its source, in the stage that level 0 is anyway: more
partitions than subtasks are put together, and subtasks beyond the partitions read nothing.

**Writing.** The rows of tables wait on the executors, in memory and on disk, until all tasks have succeeded; then each
table is written, and then the job's files become visible.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from penstock.errors import ConfigurationError, JobExecutionError
from penstock.runtime.exchange.gate import TABLE
from penstock.runtime.io.arrow_rows import arrow_schema
from penstock.runtime.io.frames import staged
from penstock.runtime.io.stores import configure
from penstock.spark.inside_pyspark import rebound, without_pandas

if TYPE_CHECKING:
    from penstock.job.deployment import Deployment, Table

Run = Callable[[Iterable[Any]], Iterator[Any]]


def moved(frame: Any, session: Any) -> Any:
    """A DataFrame in a session, by whose settings it is executed: that of the left side of a union.

    Args:
        frame: of any session of the same Spark.
        session: it becomes one of.
    """
    if frame.sparkSession is session:
        return frame
    if is_connect(session):
        return rebound(frame, session)
    return session.createDataFrame([], frame.schema).where("false").union(frame)


def is_connect(session: Any) -> bool:
    """Whether a session is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def read(session: Any, deployment: Deployment, run: Run, schema: str, frames: Mapping[int, Any]) -> Any:
    """The first level of a job: a partition for each slot, in order.

    Args:
        session: the job's.
        deployment: what to run.
        run: the level.
        schema: of what it gives.
        frames: the DataFrames that are read, by index of the vertex.

    Raises:
        JobExecutionError: a DataFrame cannot be read.
    """
    pieces: list[tuple[Any, Run]] = []
    empty, numbers = 0, _without_rows(run)
    for vertex in deployment.levels[0]:
        empty += vertex.parallelism
        if vertex.index in frames:
            try:
                frame, partitions = _partitioned(frames[vertex.index], session, vertex.parallelism)
            except Exception as error:
                raise JobExecutionError(
                    f"The DataFrame of the operator {vertex.operators[0].name!r} cannot be read: {told(error)}."
                ) from error
            pieces += [(each, numbers) for each in _numbers(session, empty - vertex.parallelism)]
            pieces += [(frame, run)] if partitions else []
            empty = vertex.parallelism - partitions
    pieces += [(each, numbers) for each in _numbers(session, empty)]
    return reduce(lambda left, right: left.union(right), [frame.mapInArrow(task, schema) for frame, task in pieces])


def _numbers(session: Any, slots: int) -> list[Any]:
    """Partitions for tasks that read no DataFrame."""
    return [session.range(0, slots, 1, slots)] if slots else []


def _without_rows(run: Run) -> Run:
    """What a task runs whose partition is there for its number only."""

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        for _ in batches:
            pass
        yield from run(())

    task.__name__ = run.__name__
    return task


def _partitioned(frame: Any, session: Any, parallelism: int) -> tuple[Any, int]:
    """A DataFrame of the job's session with at most so many partitions, and how many there are.

    Over Spark Connect nobody can say how many a DataFrame has, so there is a shuffle, which keeps partitions whole.
    """
    from pyspark.sql import functions as F

    frame = moved(frame, session)
    if is_connect(session):
        number = F.pmod(F.spark_partition_id(), F.lit(parallelism))
        return frame.repartitionById(parallelism, number), parallelism
    partitions = frame.rdd.getNumPartitions()
    return (frame, partitions) if partitions <= parallelism else (frame.coalesce(parallelism), parallelism)


# --- tables -------------------------------------------------------------------------------------------------------


def spark_schema(table: Table) -> Any:
    """The schema of a table, as pyspark has it."""
    from pyspark.sql.types import StructType

    assert table.sink.schema is not None, "the deployment knows it"
    return StructType.fromJson(dict(table.sink.schema))


def unpacking(table: Table, rows: Run | None = None) -> Run:
    """The function by which ``mapInArrow`` gives the rows of a table; Spark shows its name.

    Args:
        table: whose rows.
        rows: makes the batches, of rows of the exchange; None: they are what it is given.
    """
    number, schema = TABLE - table.sink.number, table.sink.schema

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        return unpacked(batches if rows is None else rows(batches), number, schema)

    run.__name__ = f"table_{table.sink.number}" if rows is None else rows.__name__
    return run


def unpacked(batches: Iterable[Any], number: int, schema: Any) -> Iterator[Any]:
    """The Arrow batches that rows of the exchange carry.

    Args:
        batches: rows of the exchange.
        number: what those of the table are.
        schema: of the table.
    """
    import pyarrow as pa

    own = arrow_schema(schema)
    for batch in batches:
        for edge, data in zip(batch.column("edge").to_pylist(), batch.column("data"), strict=True):
            if edge == number:
                yield pa.ipc.read_record_batch(data.as_buffer(), own)


@contextlib.contextmanager
def waiting(frame: Any) -> Iterator[None]:
    """Within the block the rows of a DataFrame wait on the executors once they are known."""
    from pyspark import StorageLevel

    frame.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield
    finally:
        frame.unpersist()


def write_tables(frame: Any, deployment: Deployment, session: Any) -> None:
    """Write all tables of a job, one after the other, each as its sink says.

    Args:
        frame: what the levels of the job have given; it waits.
        deployment: the job.
        session: the user's, in which tables are written. Not so over Connect: there neither this package nor the rows
            that wait are of another session than the job's.

    Raises:
        JobExecutionError: one could not be written.
    """
    written: list[str] = []
    for table in deployment.tables:
        rows = frame.where(f"edge = {TABLE - table.sink.number}").select("edge", "data")
        with without_pandas():
            rows = rows.mapInArrow(unpacking(table), spark_schema(table))
        try:
            _write(table, rows if is_connect(session) else moved(rows, session))
        except Exception as error:
            raise _failure(table, error, written) from error
        written.append(f"{table.name!r} ({table.sink.what})")


def write_step(
    session: Any, options: Mapping[str, Mapping[str, Any]], table: Table, files: Sequence[str], version: int, owner: str
) -> None:
    """Write a table's rows of one step, which wait in files, as its sink says.

    Args:
        session: in which it is written.
        options: of storages, for the executors.
        table: which.
        files: Arrow streams, in order; one partition each.
        version: that the step has made.
        owner: id of the job folder.

    Raises:
        JobExecutionError: it could not be written. The files wait.
    """

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
            f"The sink {table.name!r} could not write version {version} to {table.sink.what}: {told(error)}. The step "
            f"counts, and its rows wait in the job folder; what stands in the way removed, run the program again."
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
        found = inspect.signature(write).parameters.values()
    except (TypeError, ValueError):
        return 1
    if any(each.kind is each.VAR_POSITIONAL for each in found):
        return 3
    needed = (each for each in found if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD))
    return max(1, sum(each.default is each.empty or each.name in ("batch_id", "version", "owner") for each in needed))


def _failure(table: Table, error: Exception, written: list[str]) -> JobExecutionError:
    before = f"These sinks had been written before it and stay so: {', '.join(written)}. " if written else ""
    return JobExecutionError(
        f"The sink {table.name!r} could not write to {table.sink.what}: {told(error)}. All tasks of "
        f"the job had succeeded. {before}No file of the job's other sinks has become visible."
    )


def told(error: Exception) -> str:
    """What an error of Spark's says, in a line."""
    lines = [line.removeprefix(": ") for line in str(error).strip().split("\n")]
    text = lines[min(len(lines) - 1, lines[0].startswith("An error occurred while calling"))].rstrip(".")
    return f"{type(error).__name__}: {text}"


def only(deployment: Deployment) -> Table:
    """The one table of a job that is nothing but a DataFrame."""
    (table,) = deployment.tables
    return table
