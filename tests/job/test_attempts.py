"""Rows of several attempts of a task in one step are noticed, whichever way they come."""

from __future__ import annotations

import random

import pytest

from penstock.runtime.buffers.row import Row
from penstock.runtime.exchange.gate import DRIVER, PRINT, REPORT
from penstock.spark.attempts import Attempt, imbalance, wrapped

SENDERS, RECEIVERS = 3, 4


class Sender:
    """An attempt that sends some rows to each receiver, some to the driver, and its report."""

    def __init__(self, chance: random.Random) -> None:
        attempt = Attempt()
        rows = [Row(1, slot, 0, 0, 0, b"") for slot in range(RECEIVERS) for _ in range(chance.randrange(3))]
        rows += [Row(0, 0, 0, 0, 0, b"")] * chance.randrange(2)  # leads back, by way of the driver
        rows += [Row(DRIVER, 0, PRINT, 0, 0, b"")] * chance.randrange(2)
        rows.append(Row(DRIVER, 0, REPORT, 0, 0, b""))
        numbers = attempt.send(rows[:2]) + attempt.send(rows[2:])
        self.rows = list(zip(rows, numbers, strict=True))

    def for_receiver(self, slot: int) -> list[int]:
        return [number for row, number in self.rows if (row.level, row.slot) == (1, slot)]

    def for_driver(self) -> list[tuple[Row, int]]:
        return [(row, number) for row, number in self.rows if row.level != 1]


def off(came: list[tuple[Row, int]]) -> int:
    return wrapped(sum(imbalance(row, number) for row, number in came))


def read(senders: list[Sender]) -> list[tuple[Row, int]]:
    """What receivers send to the driver that read these attempts."""
    came = []
    for slot in range(RECEIVERS):
        receiver = Attempt()
        for sender in senders:
            receiver.receive(sender.for_receiver(slot))
        rows = [Row(DRIVER, 1, PRINT, slot, 0, b""), Row(DRIVER, 1, REPORT, slot, 1, b"")]
        came += zip(rows, receiver.send(rows), strict=True)
    return came


@pytest.mark.parametrize("seed", range(20))
def test_one_attempt_of_each_task_is_balanced(seed):
    chance = random.Random(seed)
    senders = [Sender(chance) for _ in range(SENDERS)]
    assert off([*read(senders), *(row for sender in senders for row in sender.for_driver())]) == 0


@pytest.mark.parametrize("seed", range(20))
def test_a_receiver_of_another_attempt_is_noticed(seed):
    """One receiver has read the rows of an attempt whose report is lost."""
    chance = random.Random(seed)
    senders = [Sender(chance) for _ in range(SENDERS)]
    again = Sender(chance)
    while not again.for_receiver(0) or not senders[0].for_receiver(0):
        senders[0], again = Sender(chance), Sender(chance)
    came = read(senders)
    came[:2] = read([again, *senders[1:]])[:2]
    assert off([*came, *(row for sender in senders for row in sender.for_driver())]) != 0


def test_the_rows_for_the_driver_count_too():
    """A printed line and the report come from the same attempt."""
    chance = random.Random(1)
    one, other = Sender(chance), Sender(chance)
    while len(one.for_driver()) < 3 or len(other.for_driver()) < 3:
        one, other = Sender(chance), Sender(chance)
    came = [row for slot in range(RECEIVERS) for row in read([one])[2 * slot : 2 * slot + 2]]
    assert off([*came, *one.for_driver()]) == 0
    assert off([*came, *other.for_driver()[:-1], one.for_driver()[-1]]) != 0
