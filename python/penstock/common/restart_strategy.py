"""RestartStrategies: what happens when a job fails. Source of the names: ``pyflink.common.RestartStrategies``."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import InvalidProgramError

STRATEGY = "restart-strategy"
ATTEMPTS = "restart-strategy.fixed-delay.attempts"
DELAY = "restart-strategy.fixed-delay.delay"


@dataclass(frozen=True)
class RestartStrategy:
    """How often a job is run again after a failure.

    Attributes:
        attempts: 0 for never.
        delay_ms: pause before each.
    """

    attempts: int
    delay_ms: int = 0

    def settings(self) -> dict[str, str]:
        """The strategy as settings of a configuration, with Flink's keys."""
        if self.attempts == 0:
            return {STRATEGY: "none"}
        return {STRATEGY: "fixed-delay", ATTEMPTS: str(self.attempts), DELAY: str(self.delay_ms)}

    @staticmethod
    def of(settings: dict[str, str]) -> RestartStrategy:
        """The strategy in a configuration; none unless there is one."""
        if settings.get(STRATEGY, "none") == "none":
            return RestartStrategy(0)
        return RestartStrategy(int(settings[ATTEMPTS]), int(settings[DELAY]))


class RestartStrategies:
    """Makes strategies."""

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
        if restart_attempts < 0 or delay_between_attempts < 0:
            raise InvalidProgramError(
                f"fixed_delay_restart({restart_attempts}, {delay_between_attempts}): neither can be negative.",
                flink_class="java.lang.IllegalArgumentException",
            )
        return RestartStrategy(restart_attempts, delay_between_attempts)
