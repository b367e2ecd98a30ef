"""A sequence of numbers (PyFlink: ``pyflink.datastream.connectors.number_seq``)."""

from __future__ import annotations

from penstock.common import TypeInformation, Types, checks
from penstock.datastream.connectors.pacing import NumbersSource, RateLimiterStrategy, limit_of, ranges
from penstock.runtime.io.splits import Split


class NumberSequenceSource(NumbersSource[int]):
    """The integers from ``start`` to ``end``, both included, each subtask a range of them, in order (Flink:
    ``NumberSequenceSource``).

    Args:
        start: the first.
        end: the last.
        rate_limiter_strategy: how fast; None for as fast as it goes. With a limit the program is read in steps and runs
            in STREAMING mode, and subtasks take numbers in turn.

    Raises:
        InvalidProgramError: no integers, or the end lies before the start; no RateLimiterStrategy.
    """

    produced_type: TypeInformation[object] | None = Types.LONG()

    def __init__(self, start: int, end: int, rate_limiter_strategy: RateLimiterStrategy | None = None) -> None:
        self.start: int = checks.integer(start, "NumberSequenceSource", "start")
        self.end: int = checks.integer(end, "NumberSequenceSource", "end")
        if start > end:
            checks.illegal_argument(
                f"NumberSequenceSource({start}, {end}): the start lies behind the end. Swap them; the end is included."
            )
        super().__init__(end + 1 - start, limit_of(rate_limiter_strategy, "NumberSequenceSource"))

    def __repr__(self) -> str:
        return f"NumberSequenceSource({self.start}, {self.end})"

    def splits(self, parallelism: int) -> list[Split]:
        """As many ranges as subtasks, of equal length up to one; fewer where there are fewer numbers."""
        return ranges(self.start, self.end + 1, parallelism) if self.bounded else super().splits(parallelism)

    def made(self, numbers: range) -> range:
        """The numbers themselves; those of a limited source are counted from its first."""
        first = 0 if self.bounded else self.start
        return range(numbers.start + first, numbers.stop + first, numbers.step)
