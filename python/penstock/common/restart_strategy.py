"""RestartStrategies: what happens when a job fails. Source of the names: ``pyflink.common.RestartStrategies``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from penstock.common import checks


class RestartStrategyConfiguration(ABC):
    """How often a failed job is run again."""

    @abstractmethod
    def delay_after(self, failures: Sequence[float]) -> int | None:
        """Milliseconds to wait before the job is run again, None if it has failed for good. O(1).

        Args:
            failures: when it has failed so far, in seconds of a clock that never goes back, the last one included.
        """

    @abstractmethod
    def get_description(self) -> str:
        """The strategy in words."""

    @property
    def restarts(self) -> bool:
        """Whether a job can be run again at all."""
        return self.delay_after([0.0]) is not None


@dataclass(frozen=True)
class NoRestart(RestartStrategyConfiguration):
    """A failure fails the job."""

    def delay_after(self, failures: Sequence[float]) -> int | None:
        return None

    def get_description(self) -> str:
        return "no restarts"


@dataclass(frozen=True)
class FallbackRestart(NoRestart):
    """The strategy of the program's configuration."""

    def get_description(self) -> str:
        return "as configured"


@dataclass(frozen=True)
class FixedDelayRestart(RestartStrategyConfiguration):
    """So many times, after a fixed delay."""

    attempts: int  # 0 for never
    delay_ms: int = 0  # pause before each

    def delay_after(self, failures: Sequence[float]) -> int | None:
        return self.delay_ms if len(failures) <= self.attempts else None

    def get_description(self) -> str:
        return f"up to {self.attempts} restarts, each after {self.delay_ms} ms"

    def get_restart_attempts(self) -> int:
        """How often the job is run again."""
        return self.attempts

    def get_delay_between_attempts_interval(self) -> timedelta:
        """The pause before each time."""
        return timedelta(milliseconds=self.delay_ms)


@dataclass(frozen=True)
class FailureRateRestart(RestartStrategyConfiguration):
    """As long as it does not fail too often. Flink 1.11 tolerates one failure less; later versions count as here."""

    rate: int  # failures that are tolerated in an interval
    interval_ms: int  # its length
    delay_ms: int  # pause before each restart

    def delay_after(self, failures: Sequence[float]) -> int | None:
        if len(failures) > self.rate and (failures[-1] - failures[-1 - self.rate]) * 1000 <= self.interval_ms:
            return None
        return self.delay_ms

    def get_description(self) -> str:
        return f"up to {self.rate} failures in {self.interval_ms} ms, each restart after {self.delay_ms} ms"

    def get_max_failure_rate(self) -> int:
        """Failures that are tolerated in an interval."""
        return self.rate

    def get_failure_interval(self) -> timedelta:
        """Length of the interval."""
        return timedelta(milliseconds=self.interval_ms)

    def get_delay_between_attempts_interval(self) -> timedelta:
        """The pause before each restart."""
        return timedelta(milliseconds=self.delay_ms)


class RestartStrategies:
    """Makes strategies."""

    NoRestartStrategyConfiguration = NoRestart
    FallbackRestartStrategyConfiguration = FallbackRestart
    FixedDelayRestartStrategyConfiguration = FixedDelayRestart
    FailureRateRestartStrategyConfiguration = FailureRateRestart

    @staticmethod
    def no_restart() -> NoRestart:
        """A failure fails the job."""
        return NoRestart()

    @staticmethod
    def fall_back_restart() -> FallbackRestart:
        """The strategy that ``restart-strategy`` of the program's configuration names, if it is set."""
        return FallbackRestart()

    @staticmethod
    def fixed_delay_restart(restart_attempts: int, delay_between_attempts: int) -> FixedDelayRestart:
        """The job is run again at most so many times, 0 or more, after so many milliseconds each."""
        checks.at_least(0, restart_attempts, "fixed_delay_restart", "number of attempts")
        checks.at_least(0, delay_between_attempts, "fixed_delay_restart", "delay in milliseconds")
        return FixedDelayRestart(restart_attempts, delay_between_attempts)

    @staticmethod
    def failure_rate_restart(failure_rate: int, failure_interval: int, delay_interval: int) -> FailureRateRestart:
        """The job is run again, each time after ``delay_interval`` milliseconds, until it has failed more than
        ``failure_rate`` times within ``failure_interval`` milliseconds; both are 1 or more."""
        checks.at_least(1, failure_rate, "failure_rate_restart", "number of failures")
        checks.at_least(1, failure_interval, "failure_rate_restart", "interval in milliseconds")
        checks.at_least(0, delay_interval, "failure_rate_restart", "delay in milliseconds")
        return FailureRateRestart(failure_rate, failure_interval, delay_interval)
