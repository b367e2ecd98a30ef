"""A level of a job that runs in steps, on executors: the tasks of a partition, kept from step to step.

What each is to do comes as a local property of Spark's job, as the plan is the same for all steps. Spark Connect has no
such properties; there it is in the plan, which is made for each step."""

from __future__ import annotations

import base64
import gc
import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.buffers.row import Row
from penstock.runtime.config.steps import Assignment, BySender, Series
from penstock.runtime.config.tasks import JobConfig, VertexConfig
from penstock.runtime.task.task import Task
from penstock.runtime.task.worker_tasks import MEMORY, LivingTasks
from penstock.storage.stores import configured, storage_of

PROPERTY = "penstock.step"
INLINE = 64 << 10  # bytes of assignments that go along with each task; more are in a file

_SLOT = struct.Struct(">QQQQ")  # where an assignment begins, and how long it is; the same of what its vertex shares
_BETWEEN = 64  # tasks that are run without looking for cycles
_looked = [0, 0]  # how many had been made the last time, and tasks since

Place = tuple[int, int]
TASKS = LivingTasks()  # of this worker process


def encoded(assignments: Mapping[Place, Assignment], path: str) -> tuple[str, bytes | None]:
    """A text that says what each task is to do in a step, and the data for the file at ``path`` if it is in that."""
    counts: dict[int, int] = {}  # of subtasks, by vertex
    for vertex, subtask in assignments:
        counts[vertex] = max(counts.get(vertex, 0), subtask + 1)
    firsts = accumulate(counts.values(), initial=0)
    slots = {vertex: (first, count) for first, (vertex, count) in zip(firsts, counts.items(), strict=False)}
    data = _indexed(assignments, slots)
    if len(data) > INLINE:
        return json.dumps({"slots": slots, "file": path}), data
    return json.dumps({"slots": slots, "data": base64.b64encode(data).decode("ascii")}), None


def _indexed(assignments: Mapping[Place, Assignment], slots: Mapping[int, tuple[int, int]]) -> bytes:
    """Bytes in which a task finds its assignment by few small reads: a slot for each subtask, which says where its
    assignment lies and where what its vertex shares, then these. What they share, series and statuses of senders, is
    there once for each vertex. The slot of a subtask without an assignment is empty."""
    head = bytearray(_SLOT.size * sum(count for _, count in slots.values()))
    position, parts = len(head), list[bytes]()
    shared: dict[tuple[int, int], tuple[int, int]] = {}  # where it lies, by identity
    for (vertex, subtask), assignment in assignments.items():
        identity = id(assignment.series), id(assignment.statuses)
        if identity not in shared:
            parts.append(dumps((dict(assignment.series), dict(assignment.statuses))))
            shared[identity] = position, len(parts[-1])
            position += len(parts[-1])
        parts.append(dumps(replace(assignment, series={}, statuses={})))
        lies = position, len(parts[-1]), *shared[identity]
        _SLOT.pack_into(head, _SLOT.size * (slots[vertex][0] + subtask), *lies)
        position += len(parts[-1])
    return b"".join((head, *parts))


def assignment_of(text: str, place: Place, job: JobConfig) -> Assignment | None:
    """The assignment of a task; None if it has ended."""
    described = json.loads(text)
    first, count = described["slots"].get(str(place[0]), (0, 0))
    if place[1] >= count:
        return None
    slot = _SLOT.size * (first + place[1]), _SLOT.size
    if "data" in described:
        data = base64.b64decode(described["data"])
        start, length, shared, _ = _SLOT.unpack_from(data, slot[0])
        return _with(decode_value(data[start:]), decode_value(data[shared:])) if length else None
    with configured(job.settings.storage_options):
        storage = storage_of(described["file"])
        start, length, *shared = _SLOT.unpack(storage.part(described["file"], *slot))
        if not length:
            return None
        assignment = decode_value(storage.part(described["file"], start, length))
        return _with(assignment, _shared(described["file"], *shared))


Shared = tuple[Mapping[str, tuple[Series, ...]], Mapping[int, BySender]]


@lru_cache(4)
def _shared(file: str, start: int, length: int) -> Shared:
    """The series of a vertex, and the statuses of its senders, which the tasks of a worker share: there are as many as
    there are subtasks."""
    return decode_value(storage_of(file).part(file, start, length))


def _with(assignment: Assignment, shared: Shared) -> Assignment:
    series, statuses = shared
    return replace(assignment, series=series, statuses=statuses)


class EndedTask:
    """A task that has ended in an earlier step: nothing comes, and nothing leaves."""

    def read(self, batches: Iterable[Any]) -> None:
        pass

    def receive(self, rows: Iterable[Row]) -> Iterator[Row]:
        return iter(())

    def finish(self) -> Iterator[Row]:
        return iter(())


def step_task(vertex: VertexConfig, subtask: int, text: str, attempt: int, job: JobConfig) -> Task | EndedTask:
    """The task of a partition, about to begin its step, as the text of :func:`encoded` says."""
    assignment = assignment_of(text, (vertex.index, subtask), job)
    if assignment is None:
        return EndedTask()
    make = partial(Task, vertex, subtask, attempt, job)
    task = TASKS.take(_name(job, vertex, subtask), assignment, make)
    task.begin(assignment)
    return task


def keep(task: Task | EndedTask, vertex: VertexConfig, subtask: int, job: JobConfig) -> None:
    """The task has run its step."""
    if isinstance(task, Task):
        TASKS.put(_name(job, vertex, subtask), task)
        _look_for_cycles(task.bytes() > MEMORY // 16)


def _look_for_cycles(large: bool) -> None:
    """After some tasks, and at once where one that was made again leaves much behind: kept state, which has no cycles,
    is not looked through after each task."""
    tasks, since = TASKS.built + TASKS.repaired, _looked[1] + 1
    if since >= _BETWEEN or (large and tasks != _looked[0]):
        gc.unfreeze()
        gc.collect()
        _looked[:] = tasks, 0
    else:
        _looked[1] = since
    gc.freeze()


def _name(job: JobConfig, vertex: VertexConfig, subtask: int) -> tuple[str, int, int]:
    """By which a worker finds the task again: another run may have other functions, another plan other chains."""
    return f"{job.job_id}-{job.times}", vertex.index, subtask
