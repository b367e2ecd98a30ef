"""RestartStrategies: what happens when a job fails. Source of the names: ``pyflink.common.RestartStrategies``."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import ConfigurationError, InvalidProgramError, UnsupportedError

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
        """The strategy in a configuration; none if there is none. By default one attempt after a second, as in Flink.

        Raises:
            UnsupportedError: another strategy than ``none`` and ``fixed-delay``.
            ConfigurationError: attempts or delay are no number of 0 or more.
        """
        name = settings.get(STRATEGY, "none")
        if name == "none":
            return RestartStrategy(0)
        if name != "fixed-delay":
            raise UnsupportedError(f'{STRATEGY} is "{name}"; supported are "none" and "fixed-delay".')
        return RestartStrategy(_number(settings, ATTEMPTS, "1"), _number(settings, DELAY, "1000"))


def _number(settings: dict[str, str], key: str, default: str) -> int:
    text = settings.get(key, default)
    if not text.strip().isdecimal():
        raise ConfigurationError(f'{key} is "{text}", expected a whole number of 0 or more (milliseconds for a delay).')
    return int(text)


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
