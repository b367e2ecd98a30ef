"""Sources of generated records, with rate limits (Flink: ``RateLimiterStrategy``).

Before each step the driver determines by its clock how many numbers are due: subtasks do not wait, and a step that is
repeated reads the same numbers. After a restart it begins at the number reached: lost time is not made up for.
"""

# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from penstock.common import TypeInformation, Types, checks
from penstock.runtime.io.splits import Records, Source, Split
from penstock.runtime.usercode.functions import bind

T = TypeVar("T", covariant=True)

_BATCH = 2_000
now = time.monotonic
"""The clock, in seconds."""


@dataclass(frozen=True)
class RateLimiterStrategy:
    """How many records all subtasks of a source make per second or per checkpoint. Made by its static methods."""

    second: float | None = None
    step: int | None = None

    @staticmethod
    def per_second(records_per_second: float) -> RateLimiterStrategy:
        """A number of records above 0 per second of the driver's clock. After a slow step the next one makes more."""
        if isinstance(records_per_second, bool) or not isinstance(records_per_second, int | float):
            checks.refuse(f"per_second() was given {checks.shown(records_per_second)}. Give a number above 0.")
        if not 0 < records_per_second < math.inf:
            checks.illegal_argument(f"per_second({records_per_second}): a rate is above 0. Give records per second.")
        return RateLimiterStrategy(second=float(records_per_second))

    @staticmethod
    def per_checkpoint(records_per_checkpoint: int) -> RateLimiterStrategy:
        """A number of records, 1 or more, between two checkpoints; without a checkpoint interval each step is one."""
        return RateLimiterStrategy(step=checks.positive(records_per_checkpoint, "per_checkpoint", "number of records"))

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """No limit."""
        return RateLimiterStrategy()


def _limit(strategy: RateLimiterStrategy | None, call: str) -> RateLimiterStrategy | None:
    hint = "Give RateLimiterStrategy.per_second(1000), say."
    return None if strategy is None else checks.instance(strategy, call, RateLimiterStrategy, hint)


class Pace:
    """The progress of a source, on the driver; a copy starts from nothing."""

    def __init__(self, strategy: RateLimiterStrategy, count: int | None) -> None:
        self.strategy = strategy
        self.count = count
        self._begun: tuple[float, int] | None = None
        self._emitted = 0
        self._durable: int | None = None  # how many at the last checkpoint; None where nobody says

    def __reduce__(self) -> tuple[Any, ...]:
        return Pace, (self.strategy, self.count)

    def reached(self, emitted: int) -> int | None:
        """How many numbers are due when so many are emitted; None for any number."""
        if self.strategy.step is not None:
            return self._capped((emitted if self._durable is None else self._durable) + self.strategy.step)
        if self.strategy.second is None:
            return self.count
        if self._begun is None or emitted < self._emitted:  # in another job it begins anew
            self._begun = now(), emitted
        self._emitted = emitted
        begun, before = self._begun
        return self._capped(max(emitted, before + int((now() - begun) * self.strategy.second)))

    def durable(self, emitted: int) -> None:
        """Record how many numbers were emitted by a checkpoint, or before the job resumed from one."""
        self._durable = emitted

    def _capped(self, reached: int) -> int:
        return reached if self.count is None else min(reached, self.count)


class NumbersSource(Source[T], Generic[T]):
    """Base of sources that make records of 0, 1, 2, … A bounded source without a limit has one range per split.
    Otherwise split ``2/4`` has the numbers 2, 6, 10, … and its positions count them."""

    def __init__(self, count: int | None, strategy: RateLimiterStrategy | None) -> None:
        self.bounded: bool = count is not None and strategy in (None, RateLimiterStrategy())
        self._pace = Pace(strategy or RateLimiterStrategy(), count)
        self._all = False

    def records(self, numbers: range) -> Sequence[T]:
        """The records of some numbers."""
        raise NotImplementedError(f"{type(self).__name__}.records")

    def splits(self, parallelism: int) -> list[Split]:
        if self.bounded:
            return ranges(0, self._pace.count or 0, parallelism)
        return self._woven(parallelism, {})

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> Sequence[Split]:
        if self.bounded:
            return super().pending(parallelism, positions, over)
        ways = int(next(iter(positions)).partition("/")[2]) if positions else parallelism
        return [split for split in self._woven(ways, positions) if split.start != split.end]

    def resume(self, positions: Mapping[str, Any] | None) -> None:
        if not self.bounded:
            self._pace.durable(sum((positions or {}).values()))

    def committed(self, positions: Mapping[str, Any]) -> None:
        self.resume(positions)

    def _woven(self, ways: int, positions: Mapping[str, int]) -> list[Split]:
        """A split for each of ``ways``, from its position to the number that is due."""
        starts = {f"{way}/{ways}": 0 for way in range(ways)} | dict(positions)
        reached = self._pace.reached(sum(starts.values()))
        self._all = reached is not None and reached == self._pace.count
        return [
            Split(name, start, None if reached is None else max(start, -(-(reached - way) // ways)))
            for way, (name, start) in enumerate(starts.items())
        ]

    def ended(self) -> bool:
        return self.bounded or self._all

    def limited(self, split: Split, records: int) -> Split:
        """Exactly so many numbers."""
        end = split.start + records
        return split if split.end is not None and split.end <= end else replace(split, end=end)

    def records_in(self, splits: Iterable[Split]) -> int | None:
        """How many numbers are due; None without a rate limit and an end."""
        lengths = [None if split.end is None else split.end - split.start for split in splits]
        return None if None in lengths else sum(filter(None, lengths))

    def read(self, split: Split) -> Iterator[Records[T]]:
        if self.bounded:
            yield from (Records(self.records(numbers), numbers.stop) for numbers in batches(split))
            return
        way, ways = map(int, split.id.split("/"))
        end = split.start + _BATCH if split.end is None else split.end
        for numbers in batches(replace(split, end=end)):
            share = range(way + numbers.start * ways, way + numbers.stop * ways, ways)
            yield Records(self.records(share), numbers.stop)


def ranges(start: int, stop: int, parts: int) -> list[Split]:
    """Splits of the integers from start up to stop, in order, at most ``parts``."""
    length, longer = divmod(stop - start, parts)
    splits: list[Split] = []
    for index in range(min(parts, stop - start)):
        end = start + length + (index < longer)
        splits.append(Split(str(index), start, end, end - start))
        start = end
    return splits


def batches(split: Split) -> Iterator[range]:
    """The integers of a split in batches."""
    numbers: Sequence[int] = range(split.start, split.end)
    for first in numbers[::_BATCH]:
        yield range(first, min(first + _BATCH, split.end))


class DataGeneratorSource(NumbersSource[T]):
    """Records that a function makes of 0, 1, …; each number in one subtask.

    Args:
        generator_function: a callable, or an object with ``map``, from the number to the record. It is called again
            when a task is tried again, so it should make the same record of the same number.
        count: how many records; None makes records without end.
        type_info: None leaves the records undeclared.
        rate_limiter_strategy: None for as fast as it goes. With a limit the program is read in steps and runs in
            STREAMING mode, also if it ends.
    """

    def __init__(
        self,
        generator_function: Callable[[int], T],
        count: int | None,
        type_info: TypeInformation[Any] | None = None,
        rate_limiter_strategy: RateLimiterStrategy | None = None,
    ) -> None:
        checks.function(generator_function, "DataGeneratorSource", "map")
        if count is not None and checks.integer(count, "DataGeneratorSource", "count") < 0:
            checks.illegal_argument(f"DataGeneratorSource(count={count}): give 0 or more records, or None for no end.")
        checks.type_info(type_info, "DataGeneratorSource", "type_info")
        super().__init__(count, _limit(rate_limiter_strategy, "DataGeneratorSource"))
        self.generator_function: Callable[[int], T] = generator_function
        self.count: int | None = count
        self.produced_type: TypeInformation[object] | None = type_info

    def __repr__(self) -> str:
        return f"<DataGeneratorSource of {'endless' if self.count is None else self.count} records>"

    def records(self, numbers: range) -> list[T]:
        generate: Callable[[int], T] = bind(self.generator_function, "map")
        return [generate(number) for number in numbers]


class NumberSequenceSource(NumbersSource[int]):
    """The integers from ``start`` to ``end``, both included, each subtask a range of them, in order. With a rate limit
    the program is read in steps and runs in STREAMING mode, and subtasks take numbers in turn."""

    produced_type: TypeInformation[object] | None = Types.LONG()

    def __init__(self, start: int, end: int, rate_limiter_strategy: RateLimiterStrategy | None = None) -> None:
        self.start: int = checks.integer(start, "NumberSequenceSource", "start")
        self.end: int = checks.integer(end, "NumberSequenceSource", "end")
        if start > end:
            checks.illegal_argument(
                f"NumberSequenceSource({start}, {end}): the start lies behind the end. Swap them; the end is included."
            )
        super().__init__(end + 1 - start, _limit(rate_limiter_strategy, "NumberSequenceSource"))

    def __repr__(self) -> str:
        return f"NumberSequenceSource({self.start}, {self.end})"

    def splits(self, parallelism: int) -> list[Split]:
        return ranges(self.start, self.end + 1, parallelism) if self.bounded else super().splits(parallelism)

    def records(self, numbers: range) -> range:
        first = 0 if self.bounded else self.start
        return range(numbers.start + first, numbers.stop + first, numbers.step)
