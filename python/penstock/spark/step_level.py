"""A level of a job that runs in steps, on executors: the tasks of a partition, kept from step to step.

What each is to do comes as a local property of Spark's job, as the plan is the same for all steps. Spark Connect has no
such properties; there it is in the plan, which is made for each step."""

from __future__ import annotations

import base64
import gc
import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from typing import Any

from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.buffers.row import Row
from penstock.runtime.config.steps import Assignment
from penstock.runtime.config.tasks import JobConfig, VertexConfig
from penstock.runtime.task.task import Task
from penstock.runtime.task.worker_tasks import MEMORY, LivingTasks
from penstock.storage.stores import configured, storage_of

PROPERTY = "penstock.step"
INLINE = 64 << 10  # bytes of assignments that go along with each task; more are in a file

_SLOT = struct.Struct(">QQ")  # where an assignment begins in the file, and how long it is
_BETWEEN = 64  # tasks that are run without looking for cycles
_looked = [0, 0]  # how many had been made the last time, and tasks since

Place = tuple[int, int]
TASKS = LivingTasks()  # of this worker process


def encoded(assignments: Mapping[Place, Assignment], path: str) -> tuple[str, bytes | None]:
    """A text that says what each task is to do in a step, and the data for the file at ``path`` if it is in that."""
    pickled = {place: dumps(assignment) for place, assignment in assignments.items()}
    data = dumps(pickled)
    if len(data) <= INLINE:
        return "=" + base64.b64encode(data).decode("ascii"), None
    slots = _slots_of(pickled)
    return json.dumps({"file": path, "slots": slots}), _indexed(pickled, slots)


def _slots_of(places: Iterable[Place]) -> dict[int, tuple[int, int]]:
    """The slots of each vertex in a file of assignments: the first, and how many. There is one for each subtask."""
    counts: dict[int, int] = {}
    for vertex, subtask in places:
        counts[vertex] = max(counts.get(vertex, 0), subtask + 1)
    firsts = accumulate(counts.values(), initial=0)
    return {vertex: (first, count) for first, (vertex, count) in zip(firsts, counts.items(), strict=False)}


def _indexed(pickled: Mapping[Place, bytes], slots: Mapping[int, tuple[int, int]]) -> bytes:
    """A file in which a task finds its assignment by two small reads: slots, which say where assignments lie, then the
    assignments. The slot of a subtask without one is empty."""
    head = bytearray(_SLOT.size * sum(count for _, count in slots.values()))
    position = len(head)
    for (vertex, subtask), data in pickled.items():
        _SLOT.pack_into(head, _SLOT.size * (slots[vertex][0] + subtask), position, len(data))
        position += len(data)
    return b"".join((head, *pickled.values()))


def assignment_of(text: str, place: Place, job: JobConfig) -> Assignment | None:
    """The assignment of a task; None if it has ended."""
    if text.startswith("="):
        data = decode_value(base64.b64decode(text[1:])).get(place)
    else:
        with configured(job.settings.storage_options):
            data = _part(place, **json.loads(text))
    return None if data is None else decode_value(data)


def _part(place: Place, file: str, slots: Mapping[str, tuple[int, int]]) -> bytes | None:
    """The pickled assignment of a task in a file of them."""
    vertex, subtask = place
    first, count = slots.get(str(vertex), (0, 0))
    if subtask >= count:
        return None
    storage = storage_of(file)
    start, length = _SLOT.unpack(storage.part(file, _SLOT.size * (first + subtask), _SLOT.size))
    return storage.part(file, start, length) if length else None


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
