"""Generated records (Flink: ``DataGeneratorSource``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from penstock.common import TypeInformation, checks
from penstock.datastream.connectors.number_seq import batches, ranges
from penstock.runtime.io.splits import Records, Source, Split
from penstock.runtime.usercode.binding import bind

T = TypeVar("T", covariant=True)


class DataGeneratorSource(Source[T]):
    """What a function makes of 0, 1, …, each number in one subtask.

    Args:
        generator_function: a callable, or an object with ``map``, from the number to the record. It is called in tasks,
            again when a task is tried again, so it should make the same record of the same number.
        count: how many records; 0 or more.
        type_info: type of the records; None leaves them undeclared.

    Raises:
        InvalidProgramError: no function, or a count below 0.
    """

    def __init__(
        self, generator_function: Callable[[int], T], count: int, type_info: TypeInformation[Any] | None = None
    ) -> None:
        checks.function(generator_function, "DataGeneratorSource", "map")
        if checks.integer(count, "DataGeneratorSource", "count") < 0:
            checks.illegal_argument(
                f"DataGeneratorSource(count={count}): it makes 0 or more records. Give the number of records."
            )
        checks.type_info(type_info, "DataGeneratorSource", "type_info")
        self.generator_function: Callable[[int], T] = generator_function
        self.count: int = count
        self.produced_type: TypeInformation[object] | None = type_info

    def __repr__(self) -> str:
        return f"<DataGeneratorSource of {self.count} records>"

    def splits(self, parallelism: int) -> list[Split]:
        """As many ranges of numbers as subtasks."""
        return ranges(0, self.count, parallelism)

    def read(self, split: Split) -> Iterator[Records[T]]:
        """The records of a range of numbers."""
        generate: Callable[[int], T] = bind(self.generator_function, "map")
        return (Records([generate(number) for number in numbers], numbers.stop) for numbers in batches(split))
