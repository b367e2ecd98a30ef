"""Brings each row of an exchange to the partition that its sender has named, and each partition to a task.

From 4.1 on Spark has ``repartitionById`` for it. Before, a column of ints decides by its hash, and Spark runs as many
tasks as it is asked for. So a row carries, in the place of a partition, an int whose hash falls on it. The hash is that
of ``bucketBy``, which Spark cannot change. Source of the semantics: ``Murmur3_x86_32.hashInt``, ``HashPartitioning``
(Spark 3.5)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache
from typing import Any

_MASK = 0xFFFFFFFF
_SEED = 42
_MIXED = -1  # where no number has been found yet


def hops(partitions: int) -> Sequence[int]:
    """By partition, what a row has in the column that :func:`placed` goes by. Asked for on the driver, whose Spark
    knows: workers may have another one's Python code."""
    return range(partitions) if _by_id() else numbers_by_partition(partitions)


def placed(frame: Any, partitions: int, column: str) -> Any:
    """A DataFrame with so many partitions, each of the rows whose ``column`` is its entry of :func:`hops`."""
    return frame.repartitionById(partitions, column) if _by_id() else frame.repartition(partitions, column)


@cache
def _by_id() -> bool:
    from pyspark.sql import DataFrame

    return hasattr(DataFrame, "repartitionById")


@cache
def numbers_by_partition(partitions: int) -> Sequence[int]:
    """For each partition the smallest number, from 0 on, whose hash falls on it; 0.2 s for 10,000 partitions."""
    numbers, missing, number = array("i", [_MIXED]) * partitions, partitions, 0
    while missing:
        partition = hash_of(number) % partitions
        if numbers[partition] == _MIXED:
            numbers[partition] = number
            missing -= 1
        number += 1
    return numbers


def hash_of(number: int) -> int:
    """The value of Spark's ``hash()`` for an int that is not negative."""
    k = number * 0xCC9E2D51 & _MASK
    k = (k << 15 | k >> 17) * 0x1B873593 & _MASK
    h = _SEED ^ k
    h = ((h << 13 | h >> 19) * 5 + 0xE6546B64 & _MASK) ^ 4
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    h ^= h >> 16
    return h - (h >> 31 << 32)
