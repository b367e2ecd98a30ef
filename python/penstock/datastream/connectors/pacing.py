"""How fast a source of made-up records may be (Flink: ``RateLimiterStrategy``), and its numbers as splits.

The driver says before each step how far the numbers go by now: subtasks do not wait, and a step that is repeated reads
what it had read. The clock is that of the driver; after a restart it begins anew at the number that had been reached,
so nothing is made up for.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from penstock.common import checks
from penstock.runtime.io.splits import Records, Source, Split

T = TypeVar("T", covariant=True)

_BATCH = 2_000
now = time.monotonic
"""The clock, in seconds."""


@dataclass(frozen=True)
class RateLimiterStrategy:
    """How many records a source makes in a time, all its subtasks together. Made by its static methods.

    Attributes:
        second: per second; None for no such limit.
        step: per step, which is a checkpoint here; None for no such limit.
    """

    second: float | None = None
    step: int | None = None

    @staticmethod
    def per_second(records_per_second: float) -> RateLimiterStrategy:
        """So many records per second of the driver's clock. A step that takes long is followed by one with more.

        Args:
            records_per_second: above 0.

        Raises:
            InvalidProgramError: no such number.
        """
        if isinstance(records_per_second, bool) or not isinstance(records_per_second, int | float):
            checks.refuse(f"per_second() was given {checks.shown(records_per_second)}. Give a number above 0.")
        if not 0 < records_per_second < math.inf:
            checks.illegal_argument(f"per_second({records_per_second}): a rate is above 0. Give records per second.")
        return RateLimiterStrategy(second=float(records_per_second))

    @staticmethod
    def per_checkpoint(records_per_checkpoint: int) -> RateLimiterStrategy:
        """So many records in each step, after which results are committed.

        Args:
            records_per_checkpoint: 1 or more.

        Raises:
            InvalidProgramError: no such number.
        """
        if checks.integer(records_per_checkpoint, "per_checkpoint", "number of records") < 1:
            checks.illegal_argument(f"per_checkpoint({records_per_checkpoint}): give 1 or more records.")
        return RateLimiterStrategy(step=records_per_checkpoint)

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """As fast as it goes."""
        return RateLimiterStrategy()


def limit_of(strategy: RateLimiterStrategy | None, call: str) -> RateLimiterStrategy | None:
    """What a source was given as its limit.

    Raises:
        InvalidProgramError: something else.
    """
    hint = "Give RateLimiterStrategy.per_second(1000), say."
    return None if strategy is None else checks.instance(strategy, call, RateLimiterStrategy, hint)


class Pace:
    """How far a source has got by now, on the driver; a copy begins anew.

    Args:
        strategy: the limit.
        count: how many numbers there are; None for no end.
    """

    def __init__(self, strategy: RateLimiterStrategy, count: int | None) -> None:
        self.strategy = strategy
        self.count = count
        self._begun: tuple[float, int] | None = None
        self._made = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return Pace, (self.strategy, self.count)

    def reached(self, made: int) -> int | None:
        """How many numbers may be made by now; None for any.

        Args:
            made: how many have been.
        """
        if self.strategy.step is not None:
            return self._capped(made + self.strategy.step)
        if self.strategy.second is None:
            return self.count
        if self._begun is None or made < self._made:  # in another job it begins anew
            self._begun = now(), made
        self._made = made
        begun, before = self._begun
        return self._capped(max(made, before + int((now() - begun) * self.strategy.second)))

    def _capped(self, reached: int) -> int:
        return reached if self.count is None else min(reached, self.count)


class NumbersSource(Source[T], Generic[T]):
    """Base of sources that make records of 0, 1, 2, …

    Without a limit, and with an end, each split is a range. Otherwise split ``2/4`` has the numbers 2, 6, 10, … and its
    positions count them.

    Args:
        count: how many numbers; None for no end.
        strategy: how fast; None for as fast as it goes.

    Attributes:
        bounded: whether there is an end and no limit: what is limited by the clock is read in steps, and then it ends.
    """

    def __init__(self, count: int | None, strategy: RateLimiterStrategy | None) -> None:
        self.bounded: bool = count is not None and strategy in (None, RateLimiterStrategy())
        self._pace = Pace(strategy or RateLimiterStrategy(), count)
        self._all = False

    def made(self, numbers: range) -> Sequence[T]:
        """The records of some numbers."""
        raise NotImplementedError(f"{type(self).__name__}.made")

    def splits(self, parallelism: int) -> list[Split]:
        """As many as subtasks; fewer where there are fewer numbers."""
        if self.bounded:
            return ranges(0, self._pace.count or 0, parallelism)
        return self._woven(parallelism, {})

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> Sequence[Split]:
        """The numbers that may be made by now. There are as many splits as subtasks at the first step, for ever."""
        if self.bounded:
            return super().pending(parallelism, positions, over)
        ways = int(next(iter(positions)).partition("/")[2]) if positions else parallelism
        return [split for split in self._woven(ways, positions) if split.start != split.end]

    def _woven(self, ways: int, positions: Mapping[str, int]) -> list[Split]:
        """A split for each of so many ways, from where it has been left to what is reached."""
        starts = {f"{way}/{ways}": 0 for way in range(ways)} | dict(positions)
        reached = self._pace.reached(sum(starts.values()))
        self._all = reached is not None and reached == self._pace.count
        return [
            Split(name, start, None if reached is None else max(start, -(-(reached - way) // ways)))
            for way, (name, start) in enumerate(starts.items())
        ]

    def ended(self) -> bool:
        """Whether the last number may be made by now."""
        return self.bounded or self._all

    def limited(self, split: Split, records: int) -> Split:
        """Exactly so many numbers."""
        end = split.start + records
        return split if split.end is not None and split.end <= end else replace(split, end=end)

    def read(self, split: Split) -> Iterator[Records[T]]:
        """The records of a split."""
        if self.bounded:
            return (Records(self.made(numbers), numbers.stop) for numbers in batches(split))
        return self._read_woven(split)

    def _read_woven(self, split: Split) -> Iterator[Records[T]]:
        way, ways = map(int, split.id.split("/"))
        end = split.start + _BATCH if split.end is None else split.end
        for numbers in batches(replace(split, end=end)):
            yield Records(self.made(range(way + numbers.start * ways, way + numbers.stop * ways, ways)), numbers.stop)


def ranges(start: int, stop: int, parts: int) -> list[Split]:
    """Splits of the integers from start up to stop, in order.

    Args:
        start, stop: as of ``range``.
        parts: how many at most.
    """
    length, longer = divmod(stop - start, parts)
    splits: list[Split] = []
    for index in range(min(parts, stop - start)):
        end = start + length + (index < longer)
        splits.append(Split(str(index), start, end, end - start))
        start = end
    return splits


def batches(split: Split) -> Iterator[range]:
    """The integers of a split, some at a time."""
    numbers: Sequence[int] = range(split.start, split.end)
    for first in numbers[::_BATCH]:
        yield range(first, min(first + _BATCH, split.end))
