"""Channel selectors: which channels a record leaves through, as Flink's ``*Partitioner`` classes (1.11) choose.

Where Flink draws at random (the start of REBALANCE, every record of SHUFFLE) the number comes from a seed of the plan,
so a retried task and a repeated job send every record the same way.
"""

from __future__ import annotations

import contextlib
import hashlib
import operator
import random
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from penstock.errors import InvalidProgramError
from penstock.runtime.buffers.columns import UNKNOWN
from penstock.runtime.config.tasks import POINTWISE, NetworkOutput, pointwise_consumers
from penstock.runtime.keys.expressions import keys_by
from penstock.runtime.keys.field_selectors import field_of
from penstock.runtime.keys.key_types import KeyHash, native_code
from penstock.runtime.keys.keygroups import ChannelAssigner
from penstock.runtime.keys.partition import CustomPartition, KeyPartition
from penstock.runtime.usercode.failure import failure_of
from penstock.runtime.usercode.functions import bind

Selector = Callable[[Any], int]
Times = Any  # a list of timestamps, or None
Split = tuple[Iterable[tuple[int, list[Any], Times]], int]
"""Channels and their records, in order, with their timestamps, if any were given; and which field of each record is
its key (:mod:`.columns`)."""
Splitter = Callable[[list[Any], Times], Split]
ColumnParts = tuple[Iterable[tuple[int, Any]], int]
"""The same with a batch of columns for each channel."""
ColumnSplitter = Callable[[Any], "ColumnParts | None"]


def seed_of(*parts: object) -> int:
    """A 64-bit seed that depends on the parts alone (not on the process, the clock, or the attempt)."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8], "big")


class RoundRobin:
    """REBALANCE and RESCALE: channel ``start`` first, then the next one modulo the number of channels."""

    __slots__ = ("_channels", "channel")

    def __init__(self, channels: int, start: int) -> None:
        self._channels = channels
        self.channel = start - 1  # the last one

    def __call__(self, value: Any) -> int:
        self.channel = channel = self.channel + 1 if self.channel + 1 < self._channels else 0
        return channel

    def split(self, values: list[Any], times: Times) -> Split:
        step, turns = self._channels, self._turns(len(values))
        return [(channel, values[i::step], times and times[i::step]) for i, channel in turns], UNKNOWN

    def split_columns(self, batch: Any) -> ColumnParts:
        count, step = len(batch), self._channels
        return [(channel, batch.take(range(i, count, step))) for i, channel in self._turns(count)], UNKNOWN

    def _turns(self, count: int) -> Iterable[tuple[int, int]]:
        """The first records of so many, and their channels."""
        channels, first = self._channels, self.channel + 1
        self.channel = (self.channel + count) % channels
        return [(i, (first + i) % channels) for i in range(min(channels, count))]


class Shuffle:
    """SHUFFLE: a channel at random for each record, from a seed."""

    __slots__ = ("_channels", "_draw", "_seed")

    def __init__(self, channels: int, seed: int) -> None:
        self._channels, self._seed = channels, seed
        self._draw = random.Random(seed).random

    def __call__(self, value: Any) -> int:
        return int(self._draw() * self._channels)

    def begin_step(self, version: int) -> None:
        """Draw as always in the step from this version."""
        self._draw = random.Random(seed_of(self._seed, version) if version else self._seed).random


def hashed(partition: KeyPartition, max_parallelism: int, channels: int) -> Selector:
    """HASH: the subtask that owns the key group of the record's key."""
    key_of = partition.selector()
    assigner = ChannelAssigner(KeyHash(partition.key_type), max_parallelism, channels)
    cached, assign = assigner.cache.get, assigner.assign

    def select(value: Any) -> int:
        try:
            key = key_of(value)
            if type(key) is str:  # the usual key, without another call
                channel = cached(key)
                if channel is not None:
                    return channel
            return assign(key)
        except Exception as error:
            raise partition.failure(error, "behind") from error

    return select


def custom(partition: CustomPartition, channels: int) -> Selector:
    """CUSTOM: what the user's partitioner returns for (key, channels), called for each record; InvalidProgramError
    if that is not a channel."""
    choose = bind(partition.partitioner, "partition")
    key_of = bind(partition.key_selector, "get_key")

    def select(value: Any) -> int:
        try:
            key = key_of(value)
        except Exception as error:
            raise failure_of(f"key selector of {partition.call}", "behind", error) from error
        try:
            channel = choose(key, channels)
            if type(channel) is int and 0 <= channel < channels:
                return channel
            return _checked(channel, key, channels)
        except Exception as error:
            raise failure_of(f"partitioner of {partition.call}", "behind", error) from error

    return select


def _checked(channel: Any, key: Any, channels: int) -> int:
    try:
        index = operator.index(channel)
    except TypeError:
        index = -1
    if 0 <= index < channels:
        return index
    raise InvalidProgramError(
        f"The custom partitioner returned {channel!r} for the key {key!r}; it must return a channel from 0 to "
        f"{channels - 1}. Take the result modulo its second argument, the number of partitions.",
        flink_class="java.lang.ArrayIndexOutOfBoundsException",
    )


def receivers(output: NetworkOutput, parallelism: int, subtask: int) -> list[int]:
    """The subtasks that the channels of a sender lead to, in order."""
    if output.partitioner in POINTWISE:
        return pointwise_consumers(parallelism, output.parallelism, subtask, exact=output.exact_shares)
    return list(range(output.parallelism))


def channel_selector(kind: str, partition: Any, max_parallelism: int, channels: int, seed: int) -> Selector:
    """The selector of a partitioner kind; BROADCAST selects every channel and has no selector. ``partition`` is a
    KeyPartition for HASH, a CustomPartition for CUSTOM; ``seed`` is for REBALANCE and SHUFFLE."""
    if kind in ("FORWARD", "GLOBAL"):
        return lambda _: 0
    if kind == "REBALANCE":
        return RoundRobin(channels, seed % channels)
    if kind == "RESCALE":
        return RoundRobin(channels, 0)
    if kind == "SHUFFLE":
        return Shuffle(channels, seed)
    if kind == "HASH":
        return hashed(partition, max_parallelism, channels)
    if kind == "CUSTOM":
        return custom(partition, channels)
    raise InvalidProgramError(f"There is no channel selector for the partitioner {kind!r}.")


def splitter(
    kind: str, partition: Any, max_parallelism: int, channels: int, select: Selector, functions: ModuleType | None
) -> Splitter:
    """How to distribute a batch of records as a selector distributes them one by one."""
    if isinstance(select, RoundRobin):
        return select.split
    code = native_code(partition.key_type) if kind == "HASH" else None
    if functions is not None and code is not None:
        return _by_key(partition, max_parallelism, channels, functions.KeyRouter(code, max_parallelism, channels))
    if kind == "HASH":
        return _by_hash(partition, max_parallelism, channels)

    def split(values: list[Any], times: Times) -> Split:
        chosen = list(map(select, values))
        parts, stamps = _parted(chosen, values), _parted(chosen, times or ())
        return [(channel, part, stamps.get(channel)) for channel, part in parts.items()], UNKNOWN

    return split


def _by_hash(partition: KeyPartition, max_parallelism: int, channels: int) -> Splitter:
    """As :func:`_by_key`, without native code."""
    key_of = partition.selector()
    quick_keys_of, assigner = keys_by(key_of), ChannelAssigner(KeyHash(partition.key_type), max_parallelism, channels)

    def keys_of(values: list[Any]) -> list[Any]:
        if quick_keys_of is not None:
            with contextlib.suppress(Exception):  # raised again, if it is, in the user's own line
                return quick_keys_of(values)
        keys: list[Any] = []
        try:
            keys += map(key_of, values)
        except Exception:
            assigner.assign_all(keys)  # one before may be refused
            raise
        return keys

    def split(values: list[Any], times: Times) -> Split:
        try:
            chosen = assigner.assign_all(keys_of(values))
        except Exception as error:
            raise partition.failure(error, "behind") from error
        if channels == 1 and values:
            return [(0, values, times)], UNKNOWN
        parts, stamps = _parted(chosen, values), _parted(chosen, times or ())
        return [(channel, part, stamps.get(channel)) for channel, part in parts.items()], UNKNOWN

    return split


def _parted(channels: list[int], values: Iterable[Any]) -> dict[int, list[Any]]:
    parts: dict[int, list[Any]] = {}
    for channel, value in zip(channels, values, strict=False):
        parts.setdefault(channel, []).append(value)
    return parts


def column_splitter(
    kind: str, partition: Any, max_parallelism: int, channels: int, select: Selector, functions: ModuleType | None
) -> ColumnSplitter | None:
    """How to distribute a batch of columns; None where only objects can be. It returns None for a batch with a key that
    native code cannot vouch for, and has done nothing then."""
    if functions is None:
        return None
    if isinstance(select, RoundRobin):
        return select.split_columns
    code = native_code(partition.key_type) if kind == "HASH" else None
    program = None if code is None else partition.key_program(functions)
    if program is None:
        return None
    router, field = functions.ColumnRouter(program, code, max_parallelism, channels), field_of(partition.selector())

    def split(batch: Any) -> ColumnParts | None:
        parts = router.split(batch)
        return None if parts is None else (parts, UNKNOWN if field is None else field)

    return split


def _by_key(partition: KeyPartition, max_parallelism: int, channels: int, router: Any) -> Splitter:
    key_of, split_by = partition.selector(), router.split
    field, quick_keys_of = field_of(key_of), keys_by(key_of)
    assign = ChannelAssigner(KeyHash(partition.key_type), max_parallelism, channels).assign

    def split(values: list[Any], times: Times) -> Split:
        try:
            parts = None if field is None else router.split_by_field(field, values, assign, times)
            if field is not None and parts is not None:
                return parts, field
            keys = None
            with contextlib.suppress(Exception):  # raised again, if it is, in the user's own line
                keys = None if quick_keys_of is None else quick_keys_of(values)
            return split_by(list(map(key_of, values)) if keys is None else keys, values, assign, times)
        except Exception as error:
            raise partition.failure(error, "behind") from error

    return split
