"""A sequence of numbers (PyFlink: ``pyflink.datastream.connectors.number_seq``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.common import TypeInformation, Types, checks
from penstock.runtime.io.splits import Records, Source, Split

_BATCH = 2_000


class NumberSequenceSource(Source[int]):
    """The integers from ``start`` to ``end``, both included, each subtask a range of them, in order (Flink:
    ``NumberSequenceSource``).

    Args:
        start: the first.
        end: the last.

    Raises:
        InvalidProgramError: no integers, or the end lies before the start.
    """

    produced_type: TypeInformation[object] | None = Types.LONG()

    def __init__(self, start: int, end: int) -> None:
        self.start: int = checks.integer(start, "NumberSequenceSource", "start")
        self.end: int = checks.integer(end, "NumberSequenceSource", "end")
        if start > end:
            checks.illegal_argument(
                f"NumberSequenceSource({start}, {end}): the start lies behind the end. Swap them; the end is included."
            )

    def __repr__(self) -> str:
        return f"NumberSequenceSource({self.start}, {self.end})"

    def splits(self, parallelism: int) -> list[Split]:
        """As many ranges as subtasks, of equal length up to one; fewer where there are fewer numbers."""
        return ranges(self.start, self.end + 1, parallelism)

    def read(self, split: Split) -> Iterator[Records[int]]:
        """The numbers of a range."""
        return (Records(numbers, numbers.stop) for numbers in batches(split))


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
