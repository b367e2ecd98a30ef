"""RestartStrategies: what happens when a job fails. Source of the names: ``pyflink.common.RestartStrategies``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from penstock.common import checks
from penstock.errors import UnsupportedError


@dataclass(frozen=True)
class RestartStrategy:
    """How often a job is run again after a failure.

    Attributes:
        attempts: 0 for never.
        delay_ms: pause before each.
    """

    attempts: int
    delay_ms: int = 0


class RestartStrategies:
    """Makes strategies."""

    @staticmethod
    def failure_rate_restart(*_: object, **__: object) -> NoReturn:
        """Not supported: a job is bounded, and is run again from its start.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            "failure_rate_restart() is not supported: failures are counted, not measured over time. Use "
            "fixed_delay_restart(attempts, delay) or no_restart()."
        )

    @staticmethod
    def no_restart() -> RestartStrategy:
        """A failure fails the job."""
        return RestartStrategy(0)

    @staticmethod
    def fixed_delay_restart(restart_attempts: int, delay_between_attempts: int) -> RestartStrategy:
        """The job is run again from the start, at most so many times.

        Args:
            restart_attempts: 0 or more.
            delay_between_attempts: milliseconds before each.
        """
        checks.integer(restart_attempts, "fixed_delay_restart", "number of attempts")
        checks.integer(delay_between_attempts, "fixed_delay_restart", "delay in milliseconds")
        if restart_attempts < 0 or delay_between_attempts < 0:
            checks.illegal_argument(
                f"fixed_delay_restart({restart_attempts}, {delay_between_attempts}): neither can be negative. Give 0 "
                "or more."
            )
        return RestartStrategy(restart_attempts, delay_between_attempts)
