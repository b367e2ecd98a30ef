"""Which of the tasks that a worker keeps goes on, and which hands its state over."""

from __future__ import annotations

from penstock.runtime.config.steps import Assignment
from penstock.runtime.task.living import LivingTasks


class Task:
    def __init__(self, volatile=b"", size=0):
        self.volatile, self.size, self.inherited, self.closed = volatile, size, None, False

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
    assert (tasks.kept, tasks.made) == (1, 1)


def test_one_that_has_run_another_step_hands_its_state_over():
    tasks, task = LivingTasks(), Task(b"after 3")
    tasks.put(name(0), task)
    new = tasks.take(name(0), Assignment(5, volatile=b"after 5"), Task)
    assert new.inherited is task
    assert tasks.mended == 1
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
