"""Settings of the runtime, parsed and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from penstock.errors import ConfigurationError
from penstock.runtime import native

BUFFER_RECORDS = "penstock.exchange.buffer-records"
CODEC = "penstock.exchange.codec"
NATIVE = "penstock.runtime.native"
AUTO, PICKLE, COLUMNS, OFF = "auto", "pickle", "columns", "off"

LATENCY_INTERVAL = "metrics.latency.interval"
FORM = "penstock.runtime.form"
FUSED, LISTED = "fused", "listed"
COMBINE = "penstock.exchange.combine"
MODE = "execution.runtime-mode"

MAX_RECORDS = 2_000
"""Records per buffer unless set: 1,000 to 2,000 measured best."""
_MOST_RECORDS = 1_000_000


@dataclass(frozen=True)
class ExchangeOptions:
    """How records travel between tasks.

    Attributes:
        buffer_records: how many records a buffer has at the most.
        codec: how buffers are written, ``auto``, ``pickle`` or ``columns``; every receiver reads them all.
        native: whether native functions are used where there are some.
        combine: whether records of a key may be combined before they leave, where that changes no result.
    """

    buffer_records: int = MAX_RECORDS
    codec: str = AUTO
    native: bool = True
    combine: bool = True

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> ExchangeOptions:
        """The options in a program's configuration.

        Raises:
            ConfigurationError: a value that makes no sense.
        """
        return cls(
            buffer_records=_records(settings.get(BUFFER_RECORDS, str(MAX_RECORDS))),
            codec=_choice(settings, CODEC, AUTO, PICKLE, COLUMNS),
            combine=_choice(settings, COMBINE, AUTO, OFF) == AUTO,
            native=_choice(settings, NATIVE, AUTO, OFF) == AUTO,
        )

    @property
    def functions(self) -> ModuleType | None:
        """The native functions, if they are wanted and there."""
        return native.functions() if self.native else None


def _choice(settings: Mapping[str, str], key: str, default: str, *others: str) -> str:
    value = settings.get(key, default).strip().lower()
    if value in (default, *others):
        return value
    raise ConfigurationError(
        f"The setting {key} is {settings[key]!r}; it can be {', '.join(others)}, or {default}, which is the default."
    )


def _records(text: str) -> int:
    number = int(text) if text.strip().isdecimal() else 0
    if 1 <= number <= _MOST_RECORDS:
        return number
    raise ConfigurationError(
        f"The setting {BUFFER_RECORDS} is {text!r}, but a whole number from 1 to {_MOST_RECORDS} is needed there: the "
        "records of a buffer between two tasks."
    )


def chain_form(settings: Mapping[str, str]) -> str:
    """The form of operator chains in a program's configuration: ``fused`` unless set, one generated function per chain;
    or ``listed``, an object per output, as in Flink.

    Raises:
        ConfigurationError: another value.
    """
    return _choice(settings, FORM, FUSED, LISTED)


def latency_interval(settings: Mapping[str, str]) -> int:
    """Milliseconds between two latency markers of a source; 0, the default, for none.

    Raises:
        ConfigurationError: no whole number.
    """
    text = settings.get(LATENCY_INTERVAL, "0").strip()
    if text.isdecimal():
        return int(text)
    raise ConfigurationError(
        f"The setting {LATENCY_INTERVAL} is {text!r}, but whole milliseconds are needed there, such as 1000; 0 for no "
        "latency markers."
    )


def check_settings(settings: Mapping[str, str]) -> None:
    """Look at all settings of the runtime.

    Raises:
        ConfigurationError: one has a value that makes no sense.
    """
    ExchangeOptions.of(settings)
    chain_form(settings)
    latency_interval(settings)
    is_batch(settings)


def is_batch(settings: Mapping[str, str]) -> bool:
    """Whether a program's configuration asks for BATCH mode; AUTOMATIC does, as every source has an end.

    Raises:
        ConfigurationError: another value than STREAMING, BATCH or AUTOMATIC.
    """
    return _choice(settings, MODE, "streaming", "batch", "automatic") != "streaming"
