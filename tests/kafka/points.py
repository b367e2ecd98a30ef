"""Moments in the life of a driver that writes to Kafka, at which something is to happen: it dies, say."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from typing import Any

Step = Callable[[str], object]
"""Is told the name of each moment when it comes."""


def at(point: str, count: int, happens: Callable[[], object]) -> Step:
    """Have something happen when a moment comes for the count-th time."""
    passed = itertools.count(1)

    def step(name: str) -> None:
        if name == point and next(passed) == count:
            happens()

    return step


def die() -> None:
    """End this process as the kernel does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def pause() -> None:
    """Do nothing more until another process sends SIGCONT."""
    os.kill(os.getpid(), signal.SIGSTOP)


def stepping(step: Step, function: Any, before: str = "", after: str = "") -> Any:
    """A function that tells when it is called, and when it has come to its end."""

    def call(*args: Any, **more: Any) -> Any:
        step(before)
        result = function(*args, **more)
        step(after)
        return result

    return call


def watch_sending(step: Step, put: Callable[[Any, str, Any], object] = setattr) -> None:
    """Have the moments told in which records are put into files and sent."""
    import confluent_kafka

    from penstock.connectors.kafka import records

    class Producer(confluent_kafka.Producer):
        commit_transaction = stepping(
            step, confluent_kafka.Producer.commit_transaction, "commit_transaction", "committed"
        )

    for name in ("init_transactions", "begin_transaction", "produce", "send_offsets_to_transaction"):
        setattr(Producer, name, stepping(step, getattr(confluent_kafka.Producer, name), name))
    put(confluent_kafka, "Producer", Producer)
    put(records, "packed", stepping(step, records.packed, "packed"))
