"""Retries of asynchronous calls: after which results or exceptions a call is made again, how often, and when.

Sources: ``pyflink.datastream.async_retry_strategies``, ``AsyncRetryStrategies`` (Flink 2.3). The wait depends on the
number of the attempt alone; in Flink all records of a subtask share the last wait of an exponential backoff.
"""

# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from penstock.common import checks

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    V = TypeVarWithDefault("V", default=object)

__all__ = [
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "ExponentialBackoffDelayRetryStrategy",
    "FixedDelayRetryStrategy",
    "NoRetryStrategy",
    "RetryPredicate",
]

T = TypeVar("T", contravariant=True)


class AsyncRetryPredicate(ABC, Generic[T]):
    """After which results and exceptions a call is made again."""

    @abstractmethod
    def result_predicate(self) -> Callable[[list[T]], bool] | None:
        """Takes the results of a call: whether to make it again. None: never."""

    @abstractmethod
    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Takes what a call has raised: whether to make it again. None: never."""


class AsyncRetryStrategy(ABC, Generic[T]):
    """How often a call is made again, and after which wait."""

    @abstractmethod
    def can_retry(self, current_attempts: int) -> bool:
        """Whether a call may be made again that was made so often, from 1."""

    @abstractmethod
    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Milliseconds to wait after an attempt, counted from 1."""

    @abstractmethod
    def get_retry_predicate(self) -> AsyncRetryPredicate[T]:
        """Which results and exceptions call for it."""

    @staticmethod
    def no_restart() -> NoRetryStrategy:
        """No call is made again."""
        return NoRetryStrategy()

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[V]], bool] | None = None,
        exception_predicate: Callable[[Exception], bool] | None = None,
    ) -> FixedDelayRetryStrategy[V]:
        """The same wait before each retry. Without predicates no call is made again.

        Args:
            max_attempts: how many retries at most: 1 or more.
            backoff_time_millis: milliseconds to wait before each.
            result_predicate: takes the list of results; true asks for a retry.
            exception_predicate: takes the exception; true asks for a retry.
        """
        call = "AsyncRetryStrategy.fixed_delay"
        return FixedDelayRetryStrategy(
            checks.positive(max_attempts, call, "number of attempts"),
            checks.positive(backoff_time_millis, call, "wait in milliseconds"),
            _predicate(call, result_predicate, exception_predicate),
        )

    @staticmethod
    def exponential_backoff(
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[V]], bool] | None = None,
        exception_predicate: Callable[[Exception], bool] | None = None,
    ) -> ExponentialBackoffDelayRetryStrategy[V]:
        """A wait that is multiplied after each retry; otherwise as :meth:`fixed_delay`.

        Args:
            initial_delay: milliseconds to wait before the first.
            max_retry_delay: the longest wait in milliseconds.
            multiplier: of the wait, from one retry to the next.
        """
        call = "AsyncRetryStrategy.exponential_backoff"
        if isinstance(multiplier, bool) or not isinstance(multiplier, (int, float)) or not multiplier > 0:
            checks.illegal_argument(
                f"{call}() was given the multiplier {checks.shown(multiplier)}. Give a number above 0, such as 1.5."
            )
        return ExponentialBackoffDelayRetryStrategy(
            checks.positive(max_attempts, call, "number of attempts"),
            checks.positive(initial_delay, call, "first wait in milliseconds"),
            checks.positive(max_retry_delay, call, "longest wait in milliseconds"),
            multiplier,
            _predicate(call, result_predicate, exception_predicate),
        )


def _predicate(
    call: str, of_results: Callable[[list[V]], bool] | None, of_exception: Callable[[Exception], bool] | None
) -> RetryPredicate[V]:
    for function in (of_results, of_exception):
        if function is not None and not callable(function):
            checks.refuse(
                f"{call}() was given {checks.shown(function)} as predicate. Give a function of one argument that "
                "returns whether to call again, or None."
            )
    return RetryPredicate(of_results, of_exception)


@dataclass(frozen=True)
class RetryPredicate(AsyncRetryPredicate[T]):
    """A predicate made of two functions."""

    of_results: Callable[[list[T]], bool] | None  # takes the results of a call, or None
    of_exception: Callable[[Exception], bool] | None  # takes what a call has raised, or None

    def result_predicate(self) -> Callable[[list[T]], bool] | None:
        return self.of_results

    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        return self.of_exception


@dataclass(frozen=True)
class NoRetryStrategy(AsyncRetryStrategy[object]):
    """No call is made again."""

    def can_retry(self, current_attempts: int) -> bool:
        return False

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        return -1

    def get_retry_predicate(self) -> AsyncRetryPredicate[object]:
        return RetryPredicate(None, None)


@dataclass(frozen=True)
class FixedDelayRetryStrategy(AsyncRetryStrategy[T]):
    """The same wait before each retry."""

    max_attempts: int  # how often a call is made again at most
    backoff_time_millis: int  # the wait
    retry_predicate: AsyncRetryPredicate[T]  # which results and exceptions call for it

    def can_retry(self, current_attempts: int) -> bool:
        return current_attempts <= self.max_attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        return self.backoff_time_millis

    def get_retry_predicate(self) -> AsyncRetryPredicate[T]:
        return self.retry_predicate


@dataclass(frozen=True)
class ExponentialBackoffDelayRetryStrategy(AsyncRetryStrategy[T]):
    """A wait that is multiplied after each retry."""

    max_attempts: int  # how often a call is made again at most
    initial_delay: int  # the first wait
    max_retry_delay: int  # the longest
    multiplier: float  # of the wait, from one retry to the next
    retry_predicate: AsyncRetryPredicate[T]  # which results and exceptions call for it

    def can_retry(self, current_attempts: int) -> bool:
        return current_attempts <= self.max_attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        if current_attempts <= 1:
            return self.initial_delay
        try:
            grown = self.initial_delay * float(self.multiplier) ** (current_attempts - 1)
        except OverflowError:
            return self.max_retry_delay
        return int(min(grown, self.max_retry_delay))

    def get_retry_predicate(self) -> AsyncRetryPredicate[T]:
        return self.retry_predicate
