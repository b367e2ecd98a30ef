"""Drivers in processes of their own that are paused while another one takes their job over, on a real broker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from tests.chaos.lives import progress, tail
from tests.kafka.counting import Counting, numbered
from tests.kafka.topics import Topics

pytestmark = pytest.mark.spark

LEASE = 1.0
SECONDS = 240.0


class Driver:
    """A process that runs the program, and is paused at a point.

    Args:
        stack: ends it.
        log: takes what it says.
        program: what it runs.
        point: a moment in its life, which comes for the count-th time; "" for none.
        count: see there.
    """

    def __init__(self, stack: ExitStack, log, program: Counting, point: str = "never", count: int = 1) -> None:
        self.log = log
        command = [sys.executable, "-m", "tests.kafka.counting", program.text(), point, str(count), str(LEASE)]
        with open(log, "wb") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)

    def paused(self) -> bool:
        with open(f"/proc/{self.process.pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "T"

    def pause(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)

    def wake(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)


def wait_until(happened, *drivers: Driver) -> None:
    end = time.monotonic() + SECONDS
    while not happened():
        assert time.monotonic() < end, "\n".join(tail(driver.log) for driver in drivers)
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("point", "count"),
    [("init_transactions", 2), ("begin_transaction", 1), ("send_offsets_to_transaction", 2), ("commit_transaction", 2)],
)
def test_a_driver_that_wakes_up_does_not_stop_its_successor(broker: Topics, tmp_path, point, count) -> None:
    """The first moment is between the last look at the checkpoint directory and the taking over of the transactional
    id."""
    topic, target = broker.new_topic(2), broker.new_topic(1)
    program = Counting(broker.servers, [[topic]], target, str(tmp_path / "job"), available_now=False)
    values = [f"key-{number % 3}" for number in range(40)]
    broker.fill(topic, values)
    with ExitStack() as stack:
        first = Driver(stack, tmp_path / "first.log", program, point, count)
        wait_until(first.paused, first)
        time.sleep(1.5 * LEASE)
        second = Driver(stack, tmp_path / "second.log", program)
        wait_until(lambda: broker.values(target, settled=False) == numbered(values), second)
        first.wake()
        wait_until(lambda: first.process.poll() is not None, first)
        assert "FencedError" in first.log.read_text()
        broker.fill(topic, values)
        wait_until(lambda: broker.values(target, settled=False) == numbered(values * 2), second)
        assert second.process.poll() is None
    assert progress(tmp_path) > 0
