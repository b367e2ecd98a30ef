"""Writes numbers to Kafka and dies: ``python -m tests.kafka.dying SERVERS TOPIC FOLDER FIRST POINT COUNT``."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.kafka.points import Step, at, die, stepping, watch_sending

RECORDS = 18
POINTS = (
    ("packed", 2), ("manifest", 1), ("manifested", 1), ("init_transactions", 1), ("init_transactions", 2),
    ("begin_transaction", 1), ("produce", 3), ("produce", 13), ("send_offsets_to_transaction", 2),
    ("commit_transaction", 2), ("committed", 1), ("committed", 3), ("remove", 1),
)  # fmt: skip
"""While a task writes a file, around the commit of the job, while the files are sent, and after it."""
HAPPENED = "happened"
"""The file beside the folder that says which jobs have been committed: the first number of each."""


def write(topics: Any, topic: str, folder: object, first: int, parallelism: int = 2, executor: Any = "local") -> None:
    """Write some numbers, from a first one on."""
    from penstock.common import Types
    from penstock.datastream.connectors import DeliveryGuarantee
    from tests.running import environment

    env = environment(parallelism, executor)
    sink = topics.sink(topic, DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("mine/…")
    sink.set_property("penstock.folder", str(folder))
    values = [str(number) for number in range(first, first + RECORDS)]
    env.from_collection(values, Types.STRING()).rebalance().sink_to(sink.build())
    env.execute()


def _small_transactions() -> None:
    from penstock.connectors.kafka import records, transactions

    clock = itertools.count(0, 1_000)
    records.RECORDS = 5
    transactions.time = SimpleNamespace(monotonic=lambda: next(clock))  # type: ignore[assignment]


def _watch(step: Step, job: str, log: Path) -> None:
    from penstock.job.folder.single import SingleCommit

    def commit(*args: Any) -> None:
        original(*args)
        with open(log, "a") as file:
            print(job, file=file)

    original = SingleCommit.commit
    SingleCommit.commit = stepping(step, commit, "manifest", "manifested")  # type: ignore[method-assign]
    SingleCommit.remove = stepping(step, SingleCommit.remove, "remove")  # type: ignore[method-assign]
    watch_sending(step)


def main(servers: str, topic: str, folder: str, first: str, point: str, count: str) -> None:
    from tests.kafka.topics import Topics

    _small_transactions()
    _watch(at(point, int(count), die), first, Path(folder).with_name(HAPPENED))
    write(Topics(servers), topic, folder, int(first))


if __name__ == "__main__":
    main(*sys.argv[1:])
