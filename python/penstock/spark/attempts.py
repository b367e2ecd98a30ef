"""Whether all rows of a step come from one attempt of each task.

If Spark loses what a stage has sent, it runs the stage again. A task need not send the same records again, and some
receivers may have read those of the attempt before. So each attempt draws a number, which all its rows carry. Its
report carries the *balance* instead: the numbers of the rows it has sent, less those of the rows it has received. In
each step the balances that reach the driver equal the numbers of the other rows that reach it, unless somebody has read
an attempt whose report is not there; then they are equal by a chance of 1 in 2**64. Cost: linear in the rows."""

from __future__ import annotations

import os
from collections.abc import Iterable

from penstock.runtime.buffers.row import Row
from penstock.runtime.exchange.gate import DRIVER, REPORT

_BITS = 64
_HALF = 1 << (_BITS - 1)


def wrapped(number: int) -> int:
    """A number modulo 2**64, as a column of Spark's type ``long`` has it."""
    return (number + _HALF) % (1 << _BITS) - _HALF


def _is_report(row: Row) -> bool:
    """Whether a row is the report of a task, its last row."""
    return row.level == DRIVER and row.kind == REPORT


class Attempt:
    """An attempt of a task to run a step."""

    def __init__(self) -> None:
        self._number = int.from_bytes(os.urandom(_BITS // 8), "little", signed=True)
        self._balance = 0

    def receive(self, numbers: Iterable[int]) -> None:
        """Take note of rows by their numbers."""
        self._balance -= sum(numbers)

    def send(self, rows: Iterable[Row]) -> list[int]:
        """The numbers that rows are to carry, in the order in which the task sends them."""
        numbers: list[int] = []
        for row in rows:
            if _is_report(row):
                numbers.append(wrapped(self._balance))
            else:
                self._balance += self._number
                numbers.append(self._number)
        return numbers


def imbalance(row: Row, number: int) -> int:
    """The balance, if a row that has reached the driver is a report, or minus its number."""
    return number if _is_report(row) else -number
