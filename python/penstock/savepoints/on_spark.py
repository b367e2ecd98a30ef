"""State that Spark's executors make of a DataFrame, and read as one: no process has all of it.

**Writing.** Each row goes to the subtask whose key group its key is in; a task per subtask makes the state and writes
its file, and tells the driver the name, which alone counts. Rows of a key come in the order of the DataFrame's
partitions and of the rows in these, however often a task is run.

**Reading.** A task per subtask reads its files.

pyspark is imported by who has made the DataFrame or the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from penstock.common.job_control import JobControl
from penstock.common.typeinfo import TypeInformation, Types
from penstock.errors import PenstockError, SavepointError
from penstock.job.folder.manifest import OperatorState
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.io.spark_types import schema_of
from penstock.runtime.io.stores import configured, options_now, storage_of
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.keygroups import key_group_of_hash
from penstock.savepoints.bootstrap import Columns, Key, KeyedStateBootstrapFunction, getter, keyed_state, shaped
from penstock.savepoints.files import abouts, written
from penstock.savepoints.loading import Subtask
from penstock.savepoints.table import StateTable

_Options = Mapping[str, Mapping[str, Any]]
_BATCH = 10_000


@dataclass(frozen=True)
class Filling:
    """Keyed state that is to be made of a DataFrame.

    Attributes:
        frame: of Spark.
        key, key_type, function: as of :func:`penstock.savepoints.bootstrap.keyed_state`.
    """

    frame: Any
    key: Key
    key_type: TypeInformation[Any] | None
    function: KeyedStateBootstrapFunction | Columns


@dataclass(frozen=True)
class _Refused:
    """Why there is no state."""

    reason: str


def is_distributed(data: Any) -> bool:
    """Whether something is a DataFrame of a Spark whose executors can be given functions of rows; Spark Connect has
    none that could."""
    return hasattr(data, "toLocalIterator") and hasattr(data, "rdd") and ".connect." not in type(data).__module__


def usual_parallelism(frame: Any) -> int:
    """How many tasks of a DataFrame's Spark run at a time."""
    return max(1, int(frame.sparkSession.sparkContext.defaultParallelism))


def made_on_spark(
    filling: Filling, folder: str, operator_id: str, state: OperatorState, subtask: Subtask, version: int
) -> Any:
    """Have executors write the files of an operator.

    Args:
        filling: of what.
        folder: for state files.
        operator_id: of the operator.
        state: what is said of it; without its files.
        subtask: what each subtask has besides.
        version: of the job's state.

    Returns:
        What is said of it, with its files.

    Raises:
        SavepointError: a key is none, or a value is not of its declared type; or a task has failed; or its file cannot
            be seen here.

    Cost: a shuffle of the rows; the state of a subtask is in the memory of a task.
    """
    session = filling.frame.sparkSession
    _equip(session)
    sizes, own = (state.parallelism, state.max_parallelism), _travelling(filling)
    write = partial(_write, own, folder, (operator_id, state, version), subtask, options_now())
    try:
        rows = filling.frame.rdd.mapPartitionsWithIndex(partial(_dealt, own, sizes))
        parts = rows.repartitionAndSortWithinPartitions(state.parallelism, partitionFunc=_target)
        found: dict[int, Any] = dict(parts.mapPartitionsWithIndex(write).collect())
    except Exception as error:
        raise SavepointError(f"The state of {state.name!r} could not be made on Spark: {error}") from error
    for _, chain in sorted(found.items()):
        if isinstance(chain, _Refused):
            raise SavepointError(chain.reason)
    chains = tuple(found[each] for each in range(state.parallelism))
    _look(folder, operator_id, chains)
    return replace(state, subtasks=chains)


def _travelling(filling: Filling) -> Filling:
    """A filling as it travels: without the DataFrame."""
    return replace(filling, frame=None)


def _equip(session: Any) -> None:
    """Have executors import this package, as for a job."""
    from penstock.spark.shipping import equip

    equip(session, session, JobControl("savepoint"))


def _dealt(filling: Filling, sizes: tuple[int, int], index: int, rows: Iterable[Any]) -> Iterator[Any]:
    """Rows by subtask, partition and number."""
    parallelism, groups = sizes
    get, hashed = getter(filling.key), KeyHash(filling.key_type).hash
    for number, row in enumerate(rows):
        value = row.asDict(recursive=True)
        try:
            key = shaped(get(value), filling.key_type)
            group = key_group_of_hash(hashed(key), groups)
        except PenstockError as error:
            yield (0, -1, index), _Refused(f"The row {value!r} has no key: {error}")
            return
        yield (group * parallelism // groups, index, number), value


def _target(place: tuple[int, int, int]) -> int:
    return place[0]


def _write(
    filling: Filling,
    folder: str,
    said: tuple[str, OperatorState, int],
    subtask: Subtask,
    options: _Options,
    index: int,
    rows: Iterable[tuple[Any, Any]],
) -> Iterator[tuple[int, tuple[StateFile, ...] | _Refused]]:
    """The state of a subtask, as a file."""
    taken, (operator_id, state, version) = _values(rows), said
    try:
        keyed = keyed_state(taken, filling.key, filling.key_type, filling.function, state.max_parallelism)
        with configured(options):
            about = abouts(operator_id, state)[index]
            yield index, written(folder, about, replace(subtask, keyed=keyed), version)
    except _Stopped as stopped:
        yield index, stopped.refused
    except PenstockError as error:
        yield index, _Refused(str(error))


class _Stopped(Exception):
    def __init__(self, refused: _Refused) -> None:
        self.refused = refused


def _values(rows: Iterable[tuple[Any, Any]]) -> Iterator[Any]:
    for _, value in rows:
        if isinstance(value, _Refused):
            raise _Stopped(value)
        yield value


def _look(folder: str, operator_id: str, chains: Sequence[tuple[StateFile, ...]]) -> None:
    """All files are where this process sees them, and those of tasks that were run twice go."""
    storage = storage_of(folder)
    there = {entry.path.rpartition("/")[2]: entry for entry in storage.list(folder)}
    named = {file.name: file for chain in chains for file in chain}
    for name, file in named.items():
        if name not in there or there[name].size != file.bytes:
            raise SavepointError(
                f"An executor has written the state file {name!r} to {folder!r}, and it cannot be seen here. Choose a "
                "place that this process and all executors share: a mounted folder, or a store."
            )
    own = f"{operator_id}-"
    storage.delete([entry.path for name, entry in there.items() if name.startswith(own) and name not in named])


def frame_of(
    spark: Any, columns: Sequence[tuple[str, TypeInformation[Any]]], subtasks: int, read: Callable[[int], StateTable]
) -> Any:
    """A DataFrame of what executors read of a savepoint.

    Args:
        spark: the session.
        columns: name and type of each.
        subtasks: how many there are.
        read: what a subtask has; travels.

    Raises:
        SavepointError: Spark has no type for a column.
    """
    names, types = [name for name, _ in columns], [declared for _, declared in columns]
    schema = schema_of(Types.ROW_NAMED(names, types))
    if schema is None:
        raise SavepointError(
            f"Not all of {types} are types of Spark's columns. Read the state here, read(…).to_spark(spark), which "
            "finds types by what is there."
        )
    from pyspark.sql.types import StructType

    _equip(spark)
    task = partial(_read, read, tuple(names), [each["type"] for each in schema["fields"]], options_now())
    return spark.range(0, subtasks, 1, subtasks).mapInArrow(task, StructType.fromJson(dict(schema)))


def _read(
    read: Callable[[int], StateTable],
    names: Sequence[str],
    types: Sequence[Any],
    options: _Options,
    batches: Iterable[Any],
) -> Iterator[Any]:
    """What the subtasks have whose numbers come."""
    import pyarrow as pa

    from penstock.runtime.io.arrow_rows import arrow_type

    schema = pa.schema([pa.field(name, arrow_type(each)) for name, each in zip(names, types, strict=True)])
    for batch in batches:
        for index in batch.column(0).to_pylist():
            with configured(options):
                table = read(index)
            yield from table.to_arrow().cast(schema).to_batches(_BATCH) if len(table) else ()
