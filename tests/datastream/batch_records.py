"""The records of the programs in BATCH mode, and what such a program is."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import KeyedStream, StreamExecutionEnvironment

Record = tuple[str, int, int]
RECORD = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
MIN, MAX = -(2**63), 2**63 - 1
KEYS = ["plumless", "buckeroo", "codding", "gnu", "Aa", "BB", "c", "d", "e", "a longer key"]
"""The first ones have equal ranks by twos, the next two equal Java hashes."""


def some_records(count: int = 400, seed: int = 7) -> list[Record]:
    draw = random.Random(seed)
    times = draw.sample(range(count * 3), count)
    return [(draw.choice(KEYS), draw.randint(-20, 20), time) for time in times]


RECORDS = some_records()
OTHERS = [(key, number, time + 5000) for key, number, time in some_records(150, 8)]


def by_time() -> dict[str, list[Record]]:
    """The records of each key, in order of time."""
    ordered = sorted(RECORDS, key=lambda record: (record[0], record[2]))
    return {key: list(group) for key, group in groupby(ordered, key=lambda record: record[0])}


@dataclass
class Program:
    build: Callable[[StreamExecutionEnvironment, int], Any]
    expected: Callable[[], list[Any]]


def stamped(env: StreamExecutionEnvironment, p: int, records: list[Record] = RECORDS) -> Any:
    """The records with timestamps, spread over subtasks, with watermarks that would make many of them late."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[2])
    source = env.from_collection(records, type_info=RECORD)
    return source.rebalance().map(lambda v: v, RECORD).set_parallelism(p).assign_timestamps_and_watermarks(strategy)


def keyed(env: StreamExecutionEnvironment, p: int, records: list[Record] = RECORDS) -> KeyedStream:
    return stamped(env, p, records).key_by(lambda value: value[0], key_type=Types.STRING())
