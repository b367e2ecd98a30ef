"""A fixed loop of plain Python: how long it takes says how fast a machine is, so that figures of two can be held
beside each other."""

from __future__ import annotations

import statistics
import time

ROUNDS = 5


def seconds() -> float:
    """CPU seconds of the loop, the median of some rounds."""
    return statistics.median(_loop() for _ in range(ROUNDS))


def _loop() -> float:
    before, total = time.process_time(), 0
    for number in range(500_000):
        total += number * number % 7
    return time.process_time() - before
