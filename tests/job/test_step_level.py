"""What a worker process does between two tasks of a job that runs in steps."""

from __future__ import annotations

import gc
import random
import weakref

import pytest

from penstock.runtime.config.steps import Assignment, Reading
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.io.splits import Split
from penstock.runtime.operators.elementwise import StreamMap
from penstock.runtime.task.worker_tasks import LivingTasks
from penstock.spark import step_level
from penstock.storage.storage import LocalStorage
from tests.job.programs import Program
from tests.job.steps.looping import in_steps


class Cycle:
    def __init__(self):
        self.itself = self


@pytest.fixture(autouse=True)
def _thawed(monkeypatch):
    monkeypatch.setattr(step_level, "_looked", [0, 0])
    gc.disable()  # so that nobody else looks
    yield
    gc.enable()  # what is frozen stays so: tests/conftest.py has frozen the most of it, for all tests


@pytest.mark.slow
def test_cycles_are_found_after_some_tasks():
    cycle = weakref.ref(Cycle())
    gone = []
    for _ in range(step_level._BETWEEN):
        gone.append(cycle() is None)
        step_level._look_for_cycles(large=False)
    assert gone == [False] * step_level._BETWEEN
    assert cycle() is None


@pytest.mark.slow
def test_what_a_large_task_leaves_behind_is_found_at_once(monkeypatch):
    cycle = weakref.ref(Cycle())
    step_level._look_for_cycles(large=True)  # none was made
    assert cycle() is not None
    monkeypatch.setattr(step_level.TASKS, "built", 1)
    step_level._look_for_cycles(large=True)
    assert cycle() is None


def test_what_is_kept_is_not_looked_through_again():
    step_level._look_for_cycles(large=False)
    assert gc.get_freeze_count() > 1_000
    assert len(gc.get_objects()) < 1_000


def deployed(folder, job_id=None, *, function=abs):
    """A run of a job, with a checkpoint directory."""
    program = Program()
    program.collect(program.add(StreamMap(function), program.source([-1, -2, -3])))
    return in_steps(program.pipeline(), folder, job_id=job_id)


def task_of(deployment):
    """The task of its source, about to begin the step after version 0; what the version is does not tell runs apart."""
    vertex = deployment.vertices[0]
    reading = Reading((Split("0", 0, 3),))
    assigned, _ = step_level.encoded({(0, 0): Assignment(0, None, reading=reading)}, "")
    return step_level.step_task(vertex, 0, assigned, 0, deployment.job), vertex


def test_two_jobs_in_one_worker_have_nothing_of_each_other(tmp_path, monkeypatch):
    """Not even two runs with one checkpoint directory: the functions of the second may be others."""
    monkeypatch.setattr(step_level, "TASKS", LivingTasks())
    first, second = deployed(tmp_path), deployed(tmp_path, function=str)
    for deployment in (first, second):
        task, vertex = task_of(deployment)
        task.volatile = b""  # as is said in the first step of any job
        step_level.keep(task, vertex, 0, deployment.job)
    assert (step_level.TASKS.built, step_level.TASKS.kept, step_level.TASKS.repaired) == (2, 0, 0)
    kept = [task_of(deployment)[0] for deployment in (second, first)]
    assert step_level.TASKS.kept == 2
    assert [task._job.job_id for task in kept] == [second.job.job_id, first.job.job_id]


class Counting(LocalStorage):
    """A storage that counts the bytes of the parts that are read, and gives no more than parts."""

    def __init__(self):
        super().__init__()
        self.parts = []

    def part(self, path, start, length):
        self.parts.append(length)
        return super().part(path, start, length)

    def get(self, path):
        raise AssertionError("the whole file is read")


def test_a_task_reads_its_own_assignment_and_no_other(tmp_path, monkeypatch):
    """Of any number of subtasks: some have ended, as all of a vertex may have."""
    storage, job, path = Counting(), deployed(tmp_path).job, str(tmp_path / "step-7")
    monkeypatch.setattr(step_level, "storage_of", lambda _: storage)
    lengths = {}
    for count in (500, 10_000):
        places = [(vertex, subtask) for vertex in (5, 0, 2) for subtask in range(count) if subtask % 10 != 3]
        random.Random(count).shuffle(places)
        assignments = {place: Assignment(7, "state", volatile=repr(place).encode() * 9) for place in places}
        text, data = step_level.encoded(assignments, path)
        assert len(text) < 1_000
        storage.put(path, data)
        step_level._shared.cache_clear()
        for place in ((vertex, subtask) for vertex in range(7) for subtask in (0, 1, 3, 42, 493, count - 1, count)):
            storage.parts.clear()
            assert step_level.assignment_of(text, place, job) == assignments.get(place)
            lengths.setdefault(place, []).append(sum(storage.parts))
    assert max(map(max, lengths.values())) < 1_000
    assert lengths[0, 42][0] == lengths[0, 42][1] > 32


def test_what_all_subtasks_have_is_there_once_for_each_vertex(tmp_path, monkeypatch):
    """A subtask may need those of any other. Neither the file nor what a worker reads grows with the square."""
    storage, job, path = Counting(), deployed(tmp_path).job, str(tmp_path / "step-7")
    monkeypatch.setattr(step_level, "storage_of", lambda _: storage)
    step_level._shared.cache_clear()
    count = 2_000
    series = [
        {"sum": tuple((StateFile("sum", f"{vertex}-{i}", "snapshot", i, "0" * 32, i),) for i in range(count))}
        for vertex in (0, 1)
    ]
    statuses = [{}, {3: tuple((i, True) for i in range(count))}]
    places = [(vertex, i) for vertex in (0, 1) for i in range(count)]
    assignments = {place: Assignment(7, "state", series[place[0]], statuses[place[0]]) for place in places}
    text, data = step_level.encoded(assignments, path)
    assert len(data) < 500 * len(assignments)
    storage.put(path, data)
    assert all(step_level.assignment_of(text, place, job) == assignments[place] for place in assignments)
    assert sum(storage.parts) < len(data) + 1


def test_few_assignments_go_along_with_each_task(tmp_path):
    assignments = {(0, subtask): Assignment(7, "state") for subtask in range(0, 20, 2)}
    text, data = step_level.encoded(assignments, "no file")
    job = deployed(tmp_path).job
    assert data is None
    places = [(vertex, subtask) for vertex in (0, 1) for subtask in range(20)]
    assert [step_level.assignment_of(text, place, job) for place in places] == [*map(assignments.get, places)]
