"""Which keys of a Configuration a program understands."""

from __future__ import annotations

import re
import warnings

from penstock.common import Configuration, RuntimeExecutionMode
from penstock.datastream.program.program import Program
from penstock.errors import ConfigurationError

_MILLIS = {
    "": 1,
    "ms": 1,
    "milli": 1,
    "millis": 1,
    "s": 1000,
    "sec": 1000,
    "second": 1000,
    "seconds": 1000,
    "min": 60_000,
    "m": 60_000,
}
_PASSED_ON = "spark."
_UNDERSTOOD = (
    "penstock.exchange.buffer-records",
    "penstock.exchange.codec",
    "penstock.runtime.native",
    "penstock.exchange.combine",
    "penstock.executor",
    "penstock.flink",
    "penstock.runtime.form",
    "metrics.latency.interval",
    "parallelism.default",
    "pipeline.max-parallelism",
    "pipeline.name",
    "pipeline.object-reuse",
    "pipeline.operator-chaining",
    "execution.buffer-timeout",
    "execution.checkpointing.interval",
    "execution.runtime-mode",
)


def duration_ms(configuration: Configuration, key: str) -> int:
    """A duration setting in milliseconds: ``100``, ``100 ms``, ``2 s``, ``1 min``.

    Raises:
        ConfigurationError: the text is no duration.
    """
    text = configuration.get_string(key, "")
    match = re.fullmatch(r"\s*(-?\d+)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in _MILLIS:
        raise ConfigurationError(f"The setting {key} is {text!r}; a duration such as '100 ms' or '2 s' is needed.")
    return int(match[1]) * _MILLIS[match[2]]


def apply_configuration(program: Program, configuration: Configuration) -> None:
    """Take over the settings that have a method on the program, with the same checks; warn of keys nobody reads."""
    has = configuration.contains_key
    if has("parallelism.default"):
        program.set_parallelism(configuration.get_integer("parallelism.default", 1))
    if has("pipeline.max-parallelism") and (limit := configuration.get_integer("pipeline.max-parallelism", -1)) != -1:
        program.set_max_parallelism(limit)
    if not configuration.get_boolean("pipeline.operator-chaining", True):
        program.disable_operator_chaining()
    configuration.get_boolean("pipeline.object-reuse", False)  # the runtime reads it; here it is only checked
    if has("execution.buffer-timeout"):
        program.set_buffer_timeout(duration_ms(configuration, "execution.buffer-timeout"))
    if has("execution.checkpointing.interval"):
        program.enable_checkpointing(duration_ms(configuration, "execution.checkpointing.interval"))
    if has("execution.runtime-mode"):
        program.set_runtime_mode(_mode(configuration.get_string("execution.runtime-mode", "")))
    if has("penstock.flink"):
        _check_profile(configuration.get_string("penstock.flink", ""))
    program.job_name = configuration.get_string("pipeline.name", program.job_name)
    unread = sorted(key for key in configuration.key_set() if key not in _UNDERSTOOD and not key.startswith(_PASSED_ON))
    if unread:
        warnings.warn(f"These settings have no effect in Penstock: {', '.join(unread)}", stacklevel=4)


def _check_profile(flink: str) -> None:
    from penstock.plan import PROFILES

    if flink not in PROFILES:
        known = " or ".join(PROFILES)
        raise ConfigurationError(f"The setting penstock.flink is {flink!r}; a program is planned as Flink {known}.")


def _mode(text: str) -> RuntimeExecutionMode:
    try:
        return RuntimeExecutionMode[text.strip().upper()]
    except KeyError:
        raise ConfigurationError(
            f"The setting execution.runtime-mode is {text!r}; it can be STREAMING, BATCH or AUTOMATIC."
        ) from None
