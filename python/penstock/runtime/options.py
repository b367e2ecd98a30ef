"""Settings of the exchange, parsed and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.errors import ConfigurationError

BUFFER_RECORDS = "penstock.exchange.buffer-records"

MAX_RECORDS = 2_000
"""Records per buffer unless set: 1,000 to 2,000 measured best."""
_MOST_RECORDS = 1_000_000


@dataclass(frozen=True)
class ExchangeOptions:
    """How records travel between tasks.

    Attributes:
        buffer_records: how many records a buffer has at the most.
    """

    buffer_records: int = MAX_RECORDS

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> ExchangeOptions:
        """The options in a program's configuration.

        Raises:
            ConfigurationError: a value that makes no sense.
        """
        return cls(buffer_records=_records(settings.get(BUFFER_RECORDS, str(MAX_RECORDS))))


def _records(text: str) -> int:
    number = int(text) if text.strip().isdecimal() else 0
    if 1 <= number <= _MOST_RECORDS:
        return number
    raise ConfigurationError(
        f"The setting {BUFFER_RECORDS} is {text!r}, but a whole number from 1 to {_MOST_RECORDS} is needed there: the "
        "records of a buffer between two tasks."
    )
