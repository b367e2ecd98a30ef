"""State that Spark's executors make of a DataFrame, or read as one: no process holds all of it. To write, each row goes
to the subtask that owns its key group; one task per subtask makes the state, writes its file and returns the name; only
returned names count. The rows of a key keep their order, however often a task runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

from penstock.common.extras import pyspark
from penstock.common.jobs.job_control import JobControl
from penstock.common.typeinfo import TypeInformation, Types
from penstock.connectors.spark.spark_types import data_type, schema_of
from penstock.errors import PenstockError, SavepointError
from penstock.job.folder.manifest import OperatorState
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.keygroups import key_group_of_hash
from penstock.savepoints.bootstrap import Columns, Key, KeyedStateBootstrapFunction, getter, keyed_state, shaped
from penstock.savepoints.operator_state import Subtask, descriptions_of, write_state
from penstock.savepoints.table import StateTable
from penstock.storage.stores import configured, options_now, storage_of

_Options = Mapping[str, Mapping[str, Any]]
_BATCH = 10_000


@dataclass(frozen=True)
class Filling:
    """Keyed state to be made of a DataFrame."""

    frame: Any
    key: Key
    key_type: TypeInformation[Any] | None
    function: KeyedStateBootstrapFunction | Columns


class _Refused(Exception):
    """The reason why there is no state, which travels among the rows and results."""


def is_distributed(data: Any) -> bool:
    """Whether something is a Spark DataFrame whose executors can run functions of rows, which Spark Connect cannot."""
    return hasattr(data, "toLocalIterator") and hasattr(data, "rdd") and ".connect." not in type(data).__module__


def write_on_spark(
    filling: Filling, folder: str, operator_id: str, state: OperatorState, subtasks: Sequence[Subtask], version: int
) -> Any:
    """Have executors write the files of an operator: a shuffle of the rows; a subtask's state fits a task's memory."""
    _equip(filling.frame.sparkSession)
    sent = replace(filling, frame=None)  # a DataFrame cannot be sent
    write = partial(_write, sent, folder, (operator_id, state, version), subtasks, options_now())
    try:
        rows = filling.frame.rdd.mapPartitionsWithIndex(partial(_rows_by_subtask, sent, state))
        parts = rows.repartitionAndSortWithinPartitions(state.parallelism, partitionFunc=itemgetter(0))
        series_by_subtask: dict[int, Any] = dict(parts.mapPartitionsWithIndex(write).collect())
    except Exception as error:
        raise SavepointError(f"The state of {state.name!r} could not be made on Spark: {error}") from error
    for _, series in sorted(series_by_subtask.items()):
        if isinstance(series, _Refused):
            raise SavepointError(str(series))
    all_series = tuple(series_by_subtask[index] for index in range(state.parallelism))
    _check_files(folder, operator_id, all_series)
    return replace(state, subtasks=all_series)


def _equip(session: Any) -> None:
    from penstock.spark.shipped_code import equip

    equip(session, session, JobControl("savepoint"))


def _rows_by_subtask(filling: Filling, state: OperatorState, index: int, rows: Iterable[Any]) -> Iterator[Any]:
    groups = state.max_parallelism
    get, hashed = getter(filling.key), KeyHash(filling.key_type).hash
    for number, row in enumerate(rows):
        value = row.asDict(recursive=True)
        try:
            key = shaped(get(value), filling.key_type)
            group = key_group_of_hash(hashed(key), groups)
        except PenstockError as error:
            yield (0, -1, index), _Refused(f"The row {value!r} has no key: {error}")
            return
        yield (group * state.parallelism // groups, index, number), value


def _write(
    filling: Filling,
    folder: str,
    target: tuple[str, OperatorState, int],
    subtasks: Sequence[Subtask],
    options: _Options,
    index: int,
    rows: Iterable[tuple[Any, Any]],
) -> Iterator[tuple[int, tuple[StateFile, ...] | _Refused]]:
    operator_id, state, version = target
    try:
        keyed = keyed_state(_values(rows), filling.key, filling.key_type, filling.function, state.max_parallelism)
        with configured(options):
            about = descriptions_of(operator_id, state)[index]
            yield index, write_state(folder, about, replace(subtasks[index], keyed=keyed), version)
    except _Refused as refused:
        yield index, refused
    except PenstockError as error:
        yield index, _Refused(str(error))


def _values(rows: Iterable[tuple[Any, Any]]) -> Iterator[Any]:
    for _, value in rows:
        if isinstance(value, _Refused):
            raise value
        yield value


def _check_files(folder: str, operator_id: str, all_series: Sequence[tuple[StateFile, ...]]) -> None:
    storage = storage_of(folder)
    entries = {entry.path.rpartition("/")[2]: entry for entry in storage.list(folder)}
    named = {file.name: file for series in all_series for file in series}
    for name, file in named.items():
        if name not in entries or entries[name].size != file.bytes:
            raise SavepointError(
                f"An executor has written the state file {name!r} to {folder!r}, and it cannot be seen here. Choose a "
                "place that this process and all executors share: a mounted folder, or a store."
            )
    prefix = f"{operator_id}-"
    storage.delete([entry.path for name, entry in entries.items() if name.startswith(prefix) and name not in named])


def frame_of(
    spark: Any, columns: Sequence[tuple[str, TypeInformation[Any]]], subtasks: int, read: Callable[[int], StateTable]
) -> Any:
    """A DataFrame that executors fill from a savepoint."""
    names, types = [name for name, _ in columns], [declared for _, declared in columns]
    schema = schema_of(Types.ROW_NAMED(names, types))
    if schema is None:
        raise SavepointError(
            f"Not all of {types} are types of Spark's columns. Read the state here, read(…).to_spark(spark), which "
            "infers the types."
        )
    pyspark("Savepoint.to_spark() makes a DataFrame of Spark")
    from penstock.spark.inside_pyspark import struct_of, without_pandas

    _equip(spark)
    task = partial(_read, read, tuple(names), [field["type"] for field in schema["fields"]], options_now())
    with without_pandas():
        return spark.range(0, subtasks, 1, subtasks).mapInArrow(task, struct_of(schema))


def _read(
    read: Callable[[int], StateTable],
    names: Sequence[str],
    types: Sequence[Any],
    options: _Options,
    batches: Iterable[Any],
) -> Iterator[Any]:
    import pyarrow as pa

    from penstock.runtime.columns.arrow import SPARK, arrow_type

    columns = zip(names, map(data_type, types), strict=True)
    schema = pa.schema([pa.field(name, arrow_type(column, SPARK)) for name, column in columns])
    for batch in batches:
        for index in batch.column(0).to_pylist():
            with configured(options):
                for table in read(index).to_batches(_BATCH):
                    yield from table.cast(schema).to_batches(_BATCH) if len(table) else ()
