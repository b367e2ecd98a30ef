"""Generated records (Flink: ``DataGeneratorSource``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from penstock.common import TypeInformation, checks
from penstock.datastream.connectors.pacing import NumbersSource, RateLimiterStrategy, limit_of
from penstock.runtime.usercode.binding import bind

T = TypeVar("T", covariant=True)


class DataGeneratorSource(NumbersSource[T]):
    """What a function makes of 0, 1, …, each number in one subtask.

    Args:
        generator_function: a callable, or an object with ``map``, from the number to the record. It is called in tasks,
            again when a task is tried again, so it should make the same record of the same number.
        count: how many records; 0 or more. None makes records without end.
        type_info: type of the records; None leaves them undeclared.
        rate_limiter_strategy: how fast; None for as fast as it goes. With a limit the program is read in steps and runs
            in STREAMING mode, also if it ends.

    Raises:
        InvalidProgramError: no function, a count below 0, or no RateLimiterStrategy.
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
            checks.illegal_argument(
                f"DataGeneratorSource(count={count}): it makes 0 or more records. Give the number of records, or None "
                "for no end."
            )
        checks.type_info(type_info, "DataGeneratorSource", "type_info")
        super().__init__(count, limit_of(rate_limiter_strategy, "DataGeneratorSource"))
        self.generator_function: Callable[[int], T] = generator_function
        self.count: int | None = count
        self.produced_type: TypeInformation[object] | None = type_info

    def __repr__(self) -> str:
        return f"<DataGeneratorSource of {'endless' if self.count is None else self.count} records>"

    def made(self, numbers: range) -> list[T]:
        """What the function makes of some numbers."""
        generate: Callable[[int], T] = bind(self.generator_function, "map")
        return [generate(number) for number in numbers]
