"""What a worker process does between two tasks of a job that runs in steps."""

from __future__ import annotations

import gc
import weakref

import pytest

from penstock.spark import step_level


class Cycle:
    def __init__(self):
        self.own = self


@pytest.fixture(autouse=True)
def _thawed(monkeypatch):
    monkeypatch.setattr(step_level, "_looked", [0, 0])
    gc.disable()  # so that nobody else looks
    yield
    gc.enable()
    gc.unfreeze()


def test_cycles_are_found_after_some_tasks():
    cycle = weakref.ref(Cycle())
    found = []
    for _ in range(step_level._BETWEEN):
        found.append(cycle() is None)
        step_level._look_for_cycles(large=False)
    assert found == [False] * step_level._BETWEEN
    assert cycle() is None


def test_what_a_large_task_leaves_behind_is_found_at_once(monkeypatch):
    cycle = weakref.ref(Cycle())
    step_level._look_for_cycles(large=True)  # none was made
    assert cycle() is not None
    monkeypatch.setattr(step_level.TASKS, "made", 1)
    step_level._look_for_cycles(large=True)
    assert cycle() is None


def test_what_is_kept_is_not_looked_through_again():
    step_level._look_for_cycles(large=False)
    assert gc.get_freeze_count() > 1_000
    assert len(gc.get_objects()) < 1_000
