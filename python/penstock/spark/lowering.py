"""From a deployment to DataFrames: one ``mapInArrow`` per level, one exact shuffle between two levels.

Level k runs slot i in partition i. A row of the exchange carries the slot that consumes it, and a ``hop`` that brings
it there (:mod:`penstock.spark.placement`). A row for a later level, or for the driver, passes the levels between as
bytes: only its ``hop`` is rewritten.

Spark copies each byte of a row some ten times between two workers. Where all tasks are on one machine, large buffers
are in files (:mod:`penstock.runtime.buffers.buffer_files`), and rows say where.
"""

from __future__ import annotations

import os
import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.errors import InvalidProgramError, JobExecutionError, StateError
from penstock.runtime.buffers.buffer_files import LEAST, BufferFile, Place
from penstock.runtime.buffers.row import Row
from penstock.runtime.config.steps import ONLY_STEP, Assignment
from penstock.runtime.config.tasks import JobConfig, VertexConfig, in_slot
from penstock.runtime.exchange.gate import DRIVER
from penstock.runtime.exchange.sorted_rows import SORTED
from penstock.runtime.task.batch_task import task_of
from penstock.runtime.usercode.interpreter import fewer_collections
from penstock.runtime.usercode.shipped import shipped
from penstock.spark.attempts import Attempt
from penstock.spark.failures import remote_failure
from penstock.spark.frames import read, spark_schema, unpacking
from penstock.spark.inside_pyspark import struct_of, without_pandas
from penstock.spark.placement import hops, placed
from penstock.spark.step_level import PROPERTY, keep, step_task

if TYPE_CHECKING:
    from penstock.job.deployment import Deployment, Table
    from penstock.job.steps.progress import Progress

ROW = {
    "hop": "integer",
    "level": "integer",
    "slot": "integer",
    "edge": "integer",
    "sender": "integer",
    "sequence": "long",
    "data": "binary",
    "place": "long",
    "attempt": "long",
}
"""A :class:`~penstock.runtime.buffers.row.Row`, by the types of its columns. ``hop`` brings it to its partition in the
next level. If the buffer is in a file, ``place`` is where it begins, and ``data`` has its size and path; otherwise
``place`` is :data:`_HERE`. ``attempt`` is for :mod:`penstock.spark.attempts`."""

_HERE = -1
_SIZE = struct.Struct(">Q")

BATCH_BYTES = 8 << 20
BATCH_ROWS = 512
_LONGEST = 100  # characters of a name that fit on Spark's pages


def lower(
    session: Any,
    deployment: Deployment,
    table: Table | None = None,
    counts: Any = None,
    frames: Mapping[int, Any] | None = None,
    only: Assignment = ONLY_STEP,
    attempt: int = 0,
    folder: str | None = None,
    assigned: str | None = None,
) -> Any:
    """The DataFrame whose rows are those for the driver and of tables, or of ``table`` alone, typed. ``frames`` are the
    DataFrames that sources read, by index of their vertex; None for the deployment's. ``only``: what all tasks are to
    do if the job is one step. ``attempt`` is that of tasks which Spark tries for the first time. ``folder`` is for
    the files of buffers, and all tasks can read it; None: there are none. ``assigned`` says what tasks are to do in a
    step if no property of Spark's job says it."""
    frames = deployment.frames if frames is None else frames
    frame: Any = None
    path = tuple(os.path.abspath(entry) for entry in sys.path)
    mark = deployment.mark if table is None else None
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in ROW.items()]
    row = struct_of({"type": "struct", "fields": fields})  # of a text Spark would make that, by a call
    for index, vertices in enumerate(deployment.levels):
        following = deployment.slots(index + 1) if index + 1 < len(deployment.levels) else 1
        job, steps = deployment.job, deployment.steps
        facts = steps, counts, mark, only, attempt, folder, assigned
        level = Level(index, vertices, hops(following), job, path, *facts)
        run, schema = level_function(level), row
        if table is not None and index == len(deployment.levels) - 1:
            run, schema = unpacking(table, run), spark_schema(table)
        if index > 0:
            frame = placed(frame, deployment.slots(index), "hop")
        if any(edge.sorted for vertex in vertices for edge in vertex.inputs):  # an external sort, buffer by buffer
            frame = frame.sortWithinPartitions("sequence", "data")
        with without_pandas():
            frame = frame.mapInArrow(run, schema) if index > 0 else read(session, deployment, run, schema, frames)
    return frame


@dataclass(frozen=True)
class Level:
    """One level, as it travels to the executors."""

    index: int
    vertices: tuple[VertexConfig, ...]  # that run in it, in order of their slots
    hops: Sequence[int]  # by slot of the next level, of which there is 1 after the last
    job: JobConfig  # what all tasks share
    path: tuple[str, ...]  # the driver's module path, for functions in modules beside the program
    steps: bool = False  # whether the job runs in steps
    counts: Any = None  # the accumulator to which its tasks add what they have counted
    mark: str | None = None  # written before a failure for the driver; None where the user of the DataFrame reads it
    only: Assignment = ONLY_STEP  # what a task is to do in a job of one step
    attempt: int = 0  # how often the job was run again before; Spark's own attempts are added
    folder: str | None = None  # for the files of buffers
    assigned: str | None = None  # what each task is to do in the step; None if a property of Spark's job says it

    def hop(self, slot: int) -> int:
        """The entry that brings a row to its slot, or to a fixed one if the next level does not have it."""
        return self.hops[slot % len(self.hops)]


def shortened(names: Sequence[str]) -> str:
    """The names of the chains of a level for Spark's pages."""
    text = " | ".join(names)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def level_function(level: Level) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The function that ``mapInArrow`` runs in each partition; Spark shows its name, in a DataFrame of the user's with
    that of the program."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        return run_level(level, batches)

    names = shortened([vertex.name for vertex in level.vertices])
    run.__name__ = names if level.mark is not None else shortened([f"{level.job.name}: {names}"])
    return run


def run_level(level: Level, batches: Iterable[Any]) -> Iterator[Any]:
    """Run the slot of this partition over its Arrow batches."""
    from pyspark import SparkFiles, TaskContext

    known = set(sys.path)
    sys.path.extend(entry for entry in level.path if entry not in known and os.path.exists(entry))
    context = TaskContext.get()
    assert context is not None
    slot, attempt = context.partitionId(), level.attempt + context.attemptNumber()
    vertex, subtask = in_slot(level.vertices, slot)
    try:
        archive = level.job.shipped
        with shipped(None if archive is None else SparkFiles.get(archive)), fewer_collections():
            task: Any
            if level.steps:
                assigned = level.assigned or context.getLocalProperty(PROPERTY) or ""
                task = step_task(vertex, subtask, assigned, attempt, level.job)
            else:
                task = task_of(vertex, subtask, attempt, level.job, presorted=True)
                task.begin(level.only)
            spoken = getattr(task, "spoken", None) if level.job.settings.pyflink else None
            with nullcontext() if spoken is None else spoken.listening():  # what user code prints goes to the driver
                yield from _run_task(task, level, slot, batches)
            if level.counts is not None and not level.steps:
                level.counts.add([(level.job.job_id, vertex.index, subtask, task.counters())])
            if level.steps:
                keep(task, vertex, subtask, level.job)
    except (JobExecutionError, InvalidProgramError, StateError) as error:
        raise remote_failure(error, level.mark) from None


def _run_task(task: Any, level: Level, slot: int, batches: Iterable[Any]) -> Iterator[Any]:
    if level.index == 0:
        task.read(batches)  # of a DataFrame, if the task's source reads one
        batches = ()
    attempt = Attempt()
    with nullcontext() if level.folder is None else closing(BufferFile(level.folder)) as file:
        for batch in batches:
            received, passing = _split(batch, level, attempt)
            _check_slot(received, slot)
            del batch  # as large as the rows, which are copies
            if passing is not None:
                yield passing
                del passing
            yield from _batched(task.receive(received), level, slot, file, attempt)
        yield from _batched(task.finish(), level, slot, file, attempt)


def _split(batch: Any, level: Level, attempt: Attempt) -> tuple[list[Row], Any]:
    """The rows that this level consumes, and a batch of those that pass through, with their next hop. Without
    ``pyarrow.compute``, which would import pandas, if it is there, into every worker."""
    levels = batch.column("level").to_pylist()
    others = [index for index, number in enumerate(levels) if number != level.index]
    passing = None
    if others:  # rarely; otherwise there is no copy
        passing = batch.take(_integers(others, pa.int32(), "i"))
        following = map(level.hop, passing.column("slot").to_pylist())
        passing = passing.set_column(0, batch.schema.field(0), _integers(following, pa.int32(), "i"))
        consumed = (index for index, number in enumerate(levels) if number == level.index)
        batch = batch.take(_integers(consumed, pa.int32(), "i"))
    attempt.receive(batch.column("attempt").to_pylist())
    rows = list(map(Row, *(batch.column(name).to_pylist() for name in Row._fields)))
    for index, offset in enumerate(batch.column("place").to_pylist()):
        if offset != _HERE:
            data = rows[index].data
            place = Place(data[_SIZE.size :].decode(), offset, *_SIZE.unpack_from(data))
            rows[index] = rows[index]._replace(data=place)
    return rows, passing


def _check_slot(rows: Iterable[Row], slot: int) -> None:
    """Rather no result than a wrong one."""
    others = {row.slot for row in rows} - {slot}
    if others:
        raise JobExecutionError(
            f"The task of slot {slot} has got rows of slot {min(others)}: this Spark does not place rows as Apache's "
            "does. The likely cause is an accelerator that has replaced its shuffle; switch it off for this job."
        )


def _batched(rows: Iterator[Row], level: Level, slot: int, file: BufferFile | None, attempt: Attempt) -> Iterator[Any]:
    """Rows of the task in Arrow batches of bounded size."""
    waiting: list[Row] = []
    size = 0
    for row in rows:
        if file is not None and _goes_into_a_file(row, level):
            row = row._replace(data=file.put(row.data))
        else:
            size += len(row.data)
        waiting.append(row)
        if size >= BATCH_BYTES or len(waiting) >= BATCH_ROWS:
            batch = _arrow(waiting, level, slot, attempt)
            del row, waiting  # as large as the batch
            yield batch
            del batch
            waiting, size = [], 0
    if waiting:
        yield _arrow(waiting, level, slot, attempt)


def _goes_into_a_file(row: Row, level: Level) -> bool:
    """Not if it leads back, as the driver may keep it then, or if it is sorted, as Spark looks into its data."""
    return len(row.data) >= LEAST and row.level > level.index and row.sequence < SORTED


def _arrow(rows: list[Row], level: Level, slot: int, attempt: Attempt) -> Any:
    *numbers, sequence, data = zip(*rows, strict=True)
    hop = [level.hop(slot if row.level == DRIVER else row.slot) for row in rows]
    places = [item.offset if isinstance(item, Place) else _HERE for item in data]
    packed = [_SIZE.pack(item.size) + item.path.encode() if isinstance(item, Place) else item for item in data]
    arrays = [_integers(values, pa.int32(), "i") for values in (hop, *numbers)]
    arrays += [_integers(sequence, pa.int64(), "q"), _bytes(packed)]
    arrays += [_integers(values, pa.int64(), "q") for values in (places, attempt.send(rows))]
    return pa.RecordBatch.from_arrays(arrays, names=list(ROW))


def _integers(values: Iterable[int], kind: Any, code: str) -> Any:
    """An Arrow array by its memory: ``pyarrow.array`` would import pandas, if it is there, in every worker."""
    numbers = array(code, values)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])


def _bytes(values: Sequence[bytes]) -> Any:
    ends = array("i", accumulate(map(len, values), initial=0))
    return pa.Array.from_buffers(pa.binary(), len(values), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(values))])


Counted = tuple[str, int, int, tuple[Any, ...]]  # job, vertex, subtask, counters by operator

FOLLOWED: dict[str, Progress] = {}  # on the driver, who follows a job, by its ID


class Tellers:
    """Joins lists in tasks, and reports them on the driver. The names are those of pyspark's ``AccumulatorParam``."""

    def zero(self, value: list[Counted]) -> list[Counted]:
        return []

    def addInPlace(self, value1: list[Counted], value2: list[Counted]) -> list[Counted]:
        for counted in value2:
            job, vertex, subtask, counters = counted
            if job not in FOLLOWED:  # in a task, or too late
                value1.append(counted)
            else:
                with suppress(Exception):  # an error would end what serves all accumulators
                    FOLLOWED[job].sample(vertex, subtask, counters)
        return value1
