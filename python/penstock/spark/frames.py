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

from penstock.connectors.spark.frames import staged
from penstock.errors import ConfigurationError, JobExecutionError
from penstock.runtime.exchange.gate import TABLE
from penstock.spark.inside_pyspark import empty_frame, rebound, scans_files, without_pandas
from penstock.storage.stores import configure

if TYPE_CHECKING:
    from penstock.job.deployment import Deployment, Table

Run = Callable[[Iterable[Any]], Iterator[Any]]


def moved(frame: Any, session: Any) -> Any:
    """A DataFrame in a session, by whose settings it is executed: that of the left side of a union."""
    if frame.sparkSession is session:
        return frame
    if is_connect(session):
        return rebound(frame, session)
    return empty_frame(session, frame.schema).union(frame)


def is_connect(session: Any) -> bool:
    """Whether a session is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def read(session: Any, deployment: Deployment, run: Run, schema: str, frames: Mapping[int, Any]) -> Any:
    """The first level of a job: a partition for each slot, in order."""
    pieces: list[tuple[Any, Run]] = []
    empty, numbers = 0, _without_rows(run)
    for vertex in deployment.levels[0]:
        empty += vertex.parallelism
        if vertex.index in frames:
            try:
                source = deployment.sources[vertex.index]
                frame, partitions = _in_order(frames[vertex.index], session, vertex.parallelism, source)
            except Exception as error:
                raise JobExecutionError(
                    f"The DataFrame of the operator {vertex.operators[0].name!r} cannot be read: {told(error)}."
                ) from error
            pieces += [(each, numbers) for each in _numbers(session, empty - vertex.parallelism)]
            pieces += [(frame, run)] if partitions else []
            empty = vertex.parallelism - partitions
    pieces += [(each, numbers) for each in _numbers(session, empty)]
    return reduce(lambda left, right: left.union(right), [frame.mapInArrow(task, schema) for frame, task in pieces])


def _in_order(frame: Any, session: Any, parallelism: int, source: Any) -> tuple[Any, int]:
    """A DataFrame as of :func:`_partitioned`, each partition in the order that its source asks for."""
    if source.order is not None:
        frame, partitions = _partitioned(frame, session, parallelism)
        return frame.sortWithinPartitions(_quoted(source.order)), partitions
    if not source.by_file or is_connect(session) or not scans_files(frame):
        return _partitioned(frame, session, parallelism)
    frame, partitions = _partitioned(_with_places(frame), session, parallelism)
    return frame.sortWithinPartitions(*_PLACE).drop(*_PLACE), partitions


_PLACE = ("__penstock_file", "__penstock_row")
"""Columns that rows of files have on the way: the file, and a number that grows within it."""


def _with_places(frame: Any) -> Any:
    """A DataFrame of several files with the place of each row. Of one that has been shuffled Spark does not know the
    file, and rows stay as they come."""
    from pyspark.sql import functions as F

    file, row = _PLACE
    return frame.select("*", F.input_file_name().alias(file), F.monotonically_increasing_id().alias(row))


def _quoted(column: str) -> str:
    """The name of a column as Spark's expressions have it, whatever is in it."""
    return f"`{column.replace('`', '``')}`"


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
    """The function by which ``mapInArrow`` gives the rows of a table; Spark shows its name. ``rows`` makes the batches,
    of rows of the exchange; None: they are what it is given."""
    number, schema = TABLE - table.sink.number, table.sink.schema

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        return unpacked(batches if rows is None else rows(batches), number, schema)

    run.__name__ = f"table_{table.sink.number}" if rows is None else rows.__name__
    return run


def unpacked(batches: Iterable[Any], number: int, schema: Any) -> Iterator[Any]:
    """The Arrow batches that rows of the exchange carry."""
    import pyarrow as pa

    from penstock.connectors.spark.arrow_rows import arrow_schema

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
    """Write all tables of a job, one after the other, each as its sink says. ``session`` is the user's, in which tables
    are written. Not so over Connect: there neither this package nor the rows that wait are of another session than the
    job's."""
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
            f"The sink {table.name!r} could not write version {version} to {table.sink.what}: {told(error)}. The step "
            "is committed, and its rows wait in the checkpoint directory. Remove the cause, and run the program again."
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
