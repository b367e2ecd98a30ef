"""Which of the tasks that a worker keeps goes on, and which hands its state over."""

from __future__ import annotations

from weakref import WeakSet

import pytest

from penstock.common import Configuration, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.job.folder.lease import JobFolder
from penstock.runtime.config.steps import Assignment
from penstock.runtime.state.disk import memory
from penstock.runtime.task import batch_task
from penstock.runtime.task.task import Task as StepTask
from penstock.runtime.task.worker_tasks import LivingTasks
from tests.running import collected


class Task:
    def __init__(self, volatile=b"", size=0, version=0):
        self.volatile, self.size, self.inherited, self.closed = volatile, size, None, False
        self.version = version

    def inherit(self, other):
        self.inherited = other

    def bytes(self):
        return self.size

    def close(self):
        self.closed = True


def name(subtask):
    return "folder", 0, subtask


def test_one_that_has_run_the_last_step_goes_on():
    tasks, task = LivingTasks(), Task(b"after 3")
    tasks.put(name(0), task)
    assert tasks.take(name(0), Assignment(3, volatile=b"after 3"), Task) is task
    assert tasks.take(name(0), Assignment(3, volatile=b"after 3"), Task) is not task  # it is out
    assert (tasks.kept, tasks.built) == (1, 1)


def test_one_that_has_run_another_step_hands_its_state_over():
    tasks, task = LivingTasks(), Task(b"after 3")
    tasks.put(name(0), task)
    new = tasks.take(name(0), Assignment(5, volatile=b"after 5"), Task)
    assert new.inherited is task
    assert tasks.repaired == 1
    assert tasks.take(name(1), Assignment(5, volatile=b"after 5"), Task).inherited is None


def test_the_first_step_goes_on_from_nothing():
    tasks = LivingTasks()
    tasks.put(name(0), Task(b"of a job with this name before"))
    assert tasks.take(name(0), Assignment(0), Task).inherited is not None
    assert tasks.kept == 0


def test_those_not_used_for_longest_go_first():
    tasks = LivingTasks(limit=100)
    kept = [Task(b"x", 40) for _ in range(3)]
    for subtask, task in enumerate(kept):
        tasks.put(name(subtask), task)
    assert [task.closed for task in kept] == [True, False, False]
    large = Task(b"x", 1000)
    tasks.put(name(3), large)
    assert [task.closed for task in (*kept, large)] == [True, True, True, False]
    tasks.put(name(3), Task(b"y", 1))
    assert large.closed


def test_of_those_that_run_elsewhere_only_much_state_is_kept():
    """A task of the step before may still have its turn."""
    tasks, large, other = LivingTasks(), Task(size=1 << 20, version=3), Task(version=1)
    older, again, newer = (Task(version=version) for version in (3, 4, 4))
    for subtask, task in enumerate([large, older, newer]):
        tasks.put(name(subtask), task)
    tasks.put(("another run", 0, 0), other)
    tasks.put(name(3), again)
    assert not any(task.closed for task in (large, older, other, again, newer))
    tasks.put(name(4), Task(version=5))
    assert [task.closed for task in (large, older, other, again, newer)] == [False, True, False, False, False]


@pytest.mark.parametrize(("backend", "most"), [("memory", 8 * 10**9), ("disk", 1 << 20)])
def test_what_lies_on_disk_counts_as_the_memory_that_it_may_have(tmp_path, monkeypatch, backend, most):
    sizes = []
    monkeypatch.setattr(memory, "_USERS", WeakSet())  # other tests may have left some

    class Weighed(StepTask):
        def finish(self):
            yield from super().finish()
            sizes.append(self.bytes())

    monkeypatch.setattr(batch_task, "Task", Weighed)
    settings = {
        "penstock.state.backend": backend,
        "penstock.state.memory": "1mb",
        "penstock.native": "off",  # native tables say what they take
        "execution.checkpointing.dir": str(tmp_path),
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings), executor="local")
    numbers = env.set_parallelism(1).from_collection([(f"key {n}" * 10, n) for n in range(5_000)])
    collected(numbers.key_by(lambda pair: pair[0], Types.STRING()).sum(1))
    written = sum(file.bytes for file in JobFolder(str(tmp_path)).newest().state_files())
    assert 8 * written > 1 << 20
    assert max(sizes) == min(8 * written, most)
