"""More than one driver with one checkpoint directory: one works, the others end and say why, whenever they wake up."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.chaos.job import GO
from tests.chaos.lives import Life, check
from tests.effort import one_of

pytestmark = pytest.mark.slow

SETTINGS = {"penstock.executor": "local", "penstock.step.records": "5"}
WAITS = {**SETTINGS, GO: "yes"}
"""With these the job does not end before the file is there, however late it is paused."""


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("lease", [None, 60.0], ids=["known by a lock", "known by a lease"])
def test_the_second_driver_is_refused_and_told_who_has_the_folder(root, tmp_path, lease):
    first = Life(root, WAITS, lease=lease)
    assert first.until(2)
    os.kill(first.process.pid, signal.SIGSTOP)
    second = Life(root, WAITS, tmp_path / "second.log", lease=lease)
    while lease is not None and not second.over and "Waiting for that." not in second.log.read_text():
        time.sleep(0.05)
    if lease is not None:  # it waits until the first one is heard of again
        os.kill(first.process.pid, signal.SIGCONT)
    assert second.end() == 1
    os.kill(first.process.pid, signal.SIGCONT)
    (root / GO).touch()
    assert f"process {first.process.pid}" in second.log.read_text()
    assert "is held by the job 'chaos'" in second.log.read_text()
    assert first.end() == 0
    check(root, SETTINGS)


MOMENTS = [(0, 5), (1, 1000), (2, 5), (2, 1000), (1, 5), (0, 1000)]
"""After how many twenties of steps it is paused, and of how many steps of its successor it wakes up: while that one
works, or when it has ended."""


@pytest.mark.parametrize(("steps", "others"), MOMENTS[: len(MOMENTS) // one_of(3)])
def test_a_driver_that_wakes_up_after_its_successor_has_started_commits_nothing(root, tmp_path, steps, others):
    paused = Life(root, WAITS, tmp_path / "paused.log", lease=0.5)
    assert paused.until(2 + 20 * steps)
    time.sleep(0.013 * steps)
    os.kill(paused.process.pid, signal.SIGSTOP)
    (root / GO).touch()
    time.sleep(0.6)  # its lease is over
    successor = Life(root, WAITS, lease=0.5)
    successor.until(others)
    os.kill(paused.process.pid, signal.SIGCONT)
    assert paused.end() == 1
    assert "was taken over by the job 'chaos'" in paused.log.read_text()
    assert f"process {successor.process.pid}" in paused.log.read_text()
    assert successor.end() == 0
    assert Life(root, WAITS, lease=0).end() == 0  # removes what the late one has left
    check(root, SETTINGS)
