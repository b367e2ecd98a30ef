"""All settings of a program, parsed: each field of :class:`Settings` is one line of the table.

To add a setting, add a field here. Its check, its line in ``docs/settings.md`` and, where it changes no result, its
values in the matrix tests (``tests/matrix/knobs.py``) follow from the field.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal

from penstock.common.restart_strategy import (
    FailureRateRestart,
    FallbackRestart,
    FixedDelayRestart,
    NoRestart,
    RestartStrategyConfiguration,
)
from penstock.common.settings.cores import cores
from penstock.common.settings.flink_keys import (
    CHECKPOINT_DIRECTORY,
    STORAGES,
    STORES_KEYS,
    class_paths,
    is_flinks,
    is_flinks_jar,
)
from penstock.common.settings.setting import (
    OURS,
    Backend,
    Choice,
    Files,
    Flag,
    Pairs,
    Ports,
    Setting,
    Size,
    Span,
    Stores,
    Text,
    Texts,
    Whole,
    line,
)
from penstock.errors import ConfigurationError


class RuntimeExecutionMode(Enum):
    """STREAMING: every update is emitted; BATCH: one result per key; AUTOMATIC: BATCH if all sources have an end."""

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2

    @property
    def batch(self) -> bool:
        """Whether a program runs in BATCH mode; under AUTOMATIC it does unless one of its sources never ends."""
        return self is not RuntimeExecutionMode.STREAMING


PYFLINK = "penstock.pyflink"
SPARKS = "spark."
"""The prefix of keys that are passed on to Spark."""
_LARGEST_INT = 2**31 - 1

_MODES = Choice({mode.name: mode for mode in RuntimeExecutionMode})
_TIMES = Choice.of("ProcessingTime", "IngestionTime", "EventTime")
_CHECKPOINTS = Choice.of("EXACTLY_ONCE", "AT_LEAST_ONCE")
_RESTARTS = Choice(
    {
        "none": "none",
        "fixed-delay": "fixed-delay",
        "failure-rate": "failure-rate",
        "off": "none",
        "disable": "none",
        "fixeddelay": "fixed-delay",
        "failurerate": "failure-rate",
    },
    unsupported=("exponential-delay", "exponentialdelay"),
)
_PYFLINKS_WAYS = (
    *("cores", "count-windows", "floats", "keyed-rows", "keys", "prints", "rows", "side-outputs", "timestamps"),
    *("values", "writes-in-open"),
)
_AUTO_OR_OFF = Choice({"auto": True, "off": False})


@dataclass(frozen=True)
class Settings:
    """The parsed settings of a program: made and changed by the environment, carried to the tasks by the plan."""

    # fmt: off
    executor: str | None = line(
        "penstock.executor", Choice.of("spark", "local"), None, "executor",
        "The executor of the program. Unset: `PENSTOCK_EXECUTOR` of the environment, or Spark.",
    )
    restart_strategy: str | None = line(
        "restart-strategy", _RESTARTS, None, "executor",
        "Whether a failed job is run again; one of a single step only locally. Unset: only jobs in steps with "
        "checkpoints, until they fail five times in a row.",
        "restart-strategy.type",
    )
    restart_attempts: int = line(
        "restart-strategy.fixed-delay.attempts", Whole(0, _LARGEST_INT), 1, "executor",
        "How often fixed-delay restarts a job.",
    )
    restart_delay: int = line(
        "restart-strategy.fixed-delay.delay", Span(), 1000, "executor", "Its wait before a restart."
    )
    restart_rate: int = line(
        "restart-strategy.failure-rate.max-failures-per-interval", Whole(1, _LARGEST_INT), 1, "executor",
        "How many failures in an interval failure-rate allows.",
    )
    restart_rate_interval: int = line(
        "restart-strategy.failure-rate.failure-rate-interval", Span(1), 60_000, "executor", "That interval."
    )
    restart_rate_delay: int = line(
        "restart-strategy.failure-rate.delay", Span(), 1000, "executor", "Its wait before a restart."
    )

    prometheus_ports: tuple[int, int] | None = line(
        "penstock.metrics.prometheus.port", Ports(), None, "executor",
        "The port of the driver that serves Prometheus: the first free one of a range, 0 for any.",
        "metrics.reporter.prom.port",
    )
    prometheus_address: str = line(
        "penstock.metrics.prometheus.address", Text(), "127.0.0.1", "executor",
        "The address that serves Prometheus: by default for this machine only; 0.0.0.0 for all.",
    )

    jars: tuple[str, ...] = line(
        "pipeline.jars", Texts(), (), "executor",
        "URLs of jars for a Spark that Penstock starts. Flink's own are left out, with a warning.",
    )
    classpaths: tuple[str, ...] = line(
        "pipeline.classpaths", Texts(), (), "executor",
        "URLs of jars and folders on all machines, for the class path of Spark.",
    )

    python_files: tuple[str, ...] = line(
        "python.files", Texts(","), (), "executor",
        "Modules, packages, folders and zips that tasks can import from.",
    )
    python_archives: tuple[str, ...] = line(
        "python.archives", Texts(","), (), "executor",
        "Zips and tars that are unpacked where tasks run, in a folder named after the # or the archive.",
    )
    python_requirements: str | None = line(
        "python.requirements", Text(), None, "executor",
        "A file of requirements for pip; a folder with the packages may follow a #.",
    )
    python_executable: str | None = line(
        "python.executable", Text(), None, "executor",
        "The Python of tasks, on a Spark that Penstock starts.",
    )
    cached_files: tuple[tuple[str, str, bool], ...] = line(
        "pipeline.cached-files", Files(), (), "executor", "Files of the distributed cache.",
    )
    shared_folders: tuple[str, ...] = line(
        "penstock.files.shared-folders", Texts(), (), "executor", "Local folders that are the same on all hosts.",
    )

    flink: Literal["1.11", "2.3"] = line(
        "penstock.flink", Choice.of("1.11", "2.3"), "1.11", "plan", "The Flink version to plan as."
    )
    name: str = line(
        "pipeline.name", Text(), "Flink Streaming Job", "plan", "The job's name, unless `execute()` is given one."
    )
    parallelism: int = line(
        "parallelism.default", Whole(1, _LARGEST_INT, or_unset=True), 1, "plan",
        "The parallelism of operators that do not set their own.",
    )
    max_parallelism: int = line(
        "pipeline.max-parallelism", Whole(1, 32_768, or_unset=True), -1, "plan",
        "The number of key groups of operators that do not set their own; -1: from the parallelism, as Flink.",
    )
    chaining: bool = line(
        "pipeline.operator-chaining", Flag(), True, "plan",
        "Whether operators may share a task.", "pipeline.operator-chaining.enabled",
    )
    buffer_timeout: int = line(
        "execution.buffer-timeout", Span(or_unset=True), -1, "plan",
        "The buffer timeout in the plan, and nothing else; -1 for the default of the Flink version.",
        "execution.buffer-timeout.interval",
    )
    checkpoint_interval: int | None = line(
        "execution.checkpointing.interval", Span(10), None, "plan",
        "How often a program in steps saves its state and commits its sinks. Unset: in each step.",
    )
    checkpointing_mode: Literal["EXACTLY_ONCE", "AT_LEAST_ONCE"] = line(
        "execution.checkpointing.mode", _CHECKPOINTS, "EXACTLY_ONCE", "plan",
        "The guarantee in the plan.",
    )
    generated_uids: bool = line(
        "pipeline.auto-generate-uids", Flag(), True, "plan",
        "Whether operators may be without uid and uid hash.",
    )
    time_characteristic: Literal["ProcessingTime", "IngestionTime", "EventTime"] = line(
        "pipeline.time-characteristic", _TIMES, "ProcessingTime", "plan",
        "The time that `time_window` and interval joins use (Flink 1.11).",
    )

    runtime_mode: RuntimeExecutionMode = line(  # noqa: RUF009 - it is a field
        "execution.runtime-mode", _MODES, RuntimeExecutionMode.STREAMING, "runtime",
        "STREAMING emits every update, BATCH one result per key; AUTOMATIC is BATCH if every source has an end.",
    )
    object_reuse: bool = line(
        "pipeline.object-reuse", Flag(), False, "runtime",
        "Whether operators of a chain pass records without a copy.",
    )
    watermark_interval: int = line(
        "pipeline.auto-watermark-interval", Span(), 200, "runtime",
        "0 calls periodic watermark generators only at the end of the input. Other values mean the same.",
    )
    parameters: tuple[tuple[str, str], ...] = line(
        "pipeline.global-job-parameters", Pairs(), (), "runtime",
        "Parameters that functions read with `get_job_parameter`.",
    )
    latency_interval: int = line(
        "metrics.latency.interval", Span(), 0, "runtime", "Time between two latency markers of a source; 0 for none."
    )
    form: Literal["fused", "listed"] = line(
        "penstock.runtime.form", Choice.of("fused", "listed"), "fused", "runtime",
        "Run a chain of operators as one generated function, or as an object per output, as in Flink.", internal=True,
    )
    native: bool = line(
        "penstock.runtime.native", _AUTO_OR_OFF, True, "runtime",
        "Whether native functions are used where there are any.", internal=True,
    )
    native_plane: bool = line(
        "penstock.native", _AUTO_OR_OFF, True, "runtime",
        "Whether functions are compiled and records travel as columns; results are the same with off.",
    )
    codec: Literal["auto", "pickle", "columns"] = line(
        "penstock.exchange.codec", Choice.of("auto", "pickle", "columns"), "auto", "runtime",
        "How records between tasks are encoded; auto is columns where native code and the type allow it.",
        internal=True,
    )
    buffer_records: int | None = line(
        "penstock.exchange.buffer-records", Whole(1, 1_000_000), None, "runtime",
        "The most records in a buffer between two tasks; unset, 8,000 of a declared type that can be columns, and "
        "2,000 of others.", internal=True,
    )
    combine: bool = line(
        "penstock.exchange.combine", _AUTO_OR_OFF, True, "runtime",
        "Whether records of a key are combined before they are sent, where that changes no result.", internal=True,
    )
    batch_size: int = line(
        "penstock.batches.size", Whole(1, _LARGEST_INT), 1_000, "runtime",
        "The most records of a batch that a function of batches is called with, unless its operator has a size.",
        "python.fn-execution.arrow.batch.size",
    )
    imports: tuple[str, ...] = line(
        "penstock.runtime.imports", Texts(","), (), "runtime",
        "Modules that every task imports before it unpickles the program's functions.",
    )

    state_kept: Literal["memory", "disk"] | None = line(
        "penstock.state.backend", Choice.of("memory", "disk"), None, "runtime",
        "Where tasks keep keyed state in STREAMING mode; with disk, what does not fit into memory is in a local file.",
    )
    state_backend: Literal["memory", "disk"] | None = line(
        "state.backend", Backend(), None, "runtime",
        "`rocksdb` means disk, other names memory, if `penstock.state.backend` is unset.",
        "state.backend.type",
    )
    state_memory: int = line(
        "penstock.state.memory", Size(1 << 10), 256 << 20, "runtime",
        "The memory for keyed state of a process that runs tasks, if the rest is on disk.",
    )
    storage_options: Mapping[str, Mapping[str, Any]] = line(
        "penstock.storage.options", Stores(), Stores().parse("{}"), "runtime",
        "Options for stores, such as keys and endpoints, which are never shown.",
    )
    types_check: bool = line("penstock.types.check", Flag(), False, "runtime",
        "Whether types of records are checked when they leave a task, are printed or collected.")

    checkpoint_directory: str | None = line(
        "execution.checkpointing.dir", Text(), None, "steps",
        "The job's checkpoint directory, a path or URL, from which a program in steps resumes. Unset: a temporary "
        "folder.",
        "state.checkpoints.dir", retired=("penstock.job.folder",),
    )
    retained: int = line(
        "penstock.job.retained-manifests", Whole(1, _LARGEST_INT), 2, "steps",
        "How many of the newest checkpoints stay; JOB@VERSION names one.",
        "state.checkpoints.num-retained",
    )
    savepoints: str | None = line(
        "state.savepoints.dir", Text(), None, "steps",
        "Where savepoints go by default, a path or URL. A bounded job without a checkpoint directory has savepoints "
        "only if it is set, with the state of its end.", "execution.checkpointing.savepoint-dir",
    )
    savepoint_reference: bool = line(
        "penstock.savepoint.reference", Flag(), False, "steps",
        "Whether a savepoint refers to state in the checkpoint directory instead of copying it.",
    )
    savepoint: str | None = line(
        "execution.savepoint.path", Text(), None, "steps",
        "The beginning of a new job: a savepoint, also Flink's; `JOB` or `JOB@VERSION` for another job's checkpoint.",
        "execution.state-recovery.path",
    )
    ignore_unclaimed: bool = line(
        "execution.savepoint.ignore-unclaimed-state", Flag(), False, "steps",
        "Whether state of operators that the program does not have may be dropped.",
        "execution.state-recovery.ignore-unclaimed-state",
    )
    step_records: int = line(
        "penstock.step.records", Whole(0, _LARGEST_INT), 0, "steps",
        "The most records that a subtask of a source reads in a step; 0: as many as fit the target.",
    )
    step_target: int = line(
        "penstock.step.target", Span(1), 1_000, "steps", "How long a step should take while there is much to read."
    )
    file_commits: int = line(
        "penstock.files.commit-interval", Span(), 10_000, "steps",
        "The least time between two commits of a program with a FileSink and without a checkpoint interval; 0: each"
        " step.",
    )
    available_now: bool = line(
        "penstock.step.available-now", Flag(), False, "steps",
        "Whether the program ends when it has read what is available; open windows stay open.",
    )
    reactive: bool = line(
        "scheduler-mode", Choice({"default": False, "reactive": True}), False, "steps",
        "With reactive, operators that do not set their parallelism have as many subtasks as there are cores.",
    )

    pyflink: bool = line(
        "penstock.pyflink", Flag(), False, "plan",
        "Whether the program behaves as PyFlink where that differs from Flink; true for programs that import pyflink.",
        retired=tuple(f"penstock.pyflink.{name}" for name in _PYFLINKS_WAYS),
    )

    # fmt: on
    explicit: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @classmethod
    def of(
        cls,
        explicit: Mapping[str, str],
        imposed: Mapping[str, str] = MappingProxyType({}),
        values: Mapping[str, Any] | None = None,
    ) -> Settings:
        """The settings of a configuration, with those that a tool imposes over them. Unknown keys are only kept.
        ``values``: the result of :func:`parsed` for ``explicit``, where it is known."""
        settings = cls().updated(explicit, values).updated(imposed, imposed=True)
        if settings.pyflink and "parallelism.default" not in settings.explicit:
            return replace(settings, parallelism=1 if settings.batch else cores())
        return settings

    def updated(
        self, explicit: Mapping[str, str], values: Mapping[str, Any] | None = None, imposed: bool = False
    ) -> Settings:
        """These settings with others over them; see :meth:`of`."""
        values = parsed(explicit) if values is None else values
        pyflink = next((value for key, value in values.items() if _BY_KEY[key].key == PYFLINK), self.pyflink)
        if pyflink and not imposed:
            values = {key: value for key, value in values.items() if key not in SHARED_BY_JOBS}
        attributes: dict[str, tuple[str, Any]] = {}
        for key, value in values.items():
            first, other = attributes.setdefault(_ATTRIBUTES[_BY_KEY[key].key], (key, value))
            if other != value:
                raise ConfigurationError(
                    f"{first} and {key} are two names of one setting, and the configuration gives them different "
                    "values. Leave one out."
                )
        replaced = {name for key in explicit for name in names_of(key)}
        kept = {key: text for key, text in self.explicit.items() if key not in replaced}
        return replace(self, **{name: value for name, (_, value) in attributes.items()}, explicit={**kept, **explicit})

    @property
    def batch(self) -> bool:
        return self.runtime_mode.batch

    @property
    def disk_state(self) -> bool:
        """Whether keyed state that does not fit into memory is on disk."""
        return (self.state_kept or self.state_backend) == "disk" and not self.batch

    @property
    def restart(self) -> RestartStrategyConfiguration:
        if self.restart_strategy == "fixed-delay":
            return FixedDelayRestart(self.restart_attempts, self.restart_delay)
        if self.restart_strategy == "failure-rate":
            return FailureRateRestart(self.restart_rate, self.restart_rate_interval, self.restart_rate_delay)
        return NoRestart()

    def restarting(self, strategy: RestartStrategyConfiguration) -> Settings:
        if isinstance(strategy, FixedDelayRestart):
            attempts, delay = strategy.attempts, strategy.delay_ms
            return replace(self, restart_strategy="fixed-delay", restart_attempts=attempts, restart_delay=delay)
        if isinstance(strategy, FailureRateRestart):
            return replace(
                self,
                restart_strategy="failure-rate",
                restart_rate=strategy.rate,
                restart_rate_interval=strategy.interval_ms,
                restart_rate_delay=strategy.delay_ms,
            )
        if isinstance(strategy, FallbackRestart):
            configured = Settings.of(self.explicit)
            return replace(self.restarting(configured.restart), restart_strategy=configured.restart_strategy)
        return replace(self, restart_strategy="none")

    def hint(self, hint: Setting) -> Any:
        """The configured value of an option of :mod:`penstock.common.settings.hints`, or its default."""
        texts = [(key, self.explicit[key]) for key in hint.keys if key in self.explicit]
        return hint.parse(*texts[-1]) if texts else hint.default

    def explicit_text(self, key: str) -> str | None:
        """The text of the configuration for a setting, under any of its names; None if there is none."""
        return next((self.explicit[name] for name in names_of(key) if name in self.explicit), None)

    @property
    def checkpoint_key(self) -> str:
        """The key that sets the checkpoint directory in the configuration of this program; see :meth:`updated`."""
        setting = _BY_KEY[CHECKPOINT_DIRECTORY]
        return setting.retired[0] if self.pyflink else setting.key

    def hinted(self, hint: Setting, value: object) -> Settings:
        """These settings with another value for such an option; None removes it."""
        texts = {key: text for key, text in self.explicit.items() if key not in hint.keys}
        return replace(self, explicit=texts if value is None else {**texts, hint.key: hint.kind.text(value)})

    @property
    def spark(self) -> dict[str, str]:
        """The settings for Spark, including jars and class paths."""
        texts = sparks(self.explicit)
        for key, separator, more in (
            ("spark.jars", ",", [jar for jar in self.jars if not is_flinks_jar(jar)]),
            ("spark.driver.extraClassPath", os.pathsep, class_paths(self.classpaths)),
            ("spark.executor.extraClassPath", os.pathsep, class_paths(self.classpaths)),
        ):
            if more:
                texts[key] = separator.join(dict.fromkeys([*filter(None, texts.get(key, "").split(separator)), *more]))
        return texts

    def parameter(self, key: str, default: str) -> str:
        """A job parameter, or the text of a key of the configuration, or the default."""
        return dict(self.parameters).get(key, self.explicit.get(key, default))


_FIELDS = {attribute.name: attribute.metadata["setting"] for attribute in fields(Settings) if attribute.metadata}
_ATTRIBUTES = {setting.key: name for name, setting in _FIELDS.items()}
TABLE: tuple[Setting, ...] = tuple(_FIELDS.values())
"""All settings, in the order of the fields."""
_BY_KEY = {key: setting for setting in TABLE for key in setting.keys}
SECRETS = frozenset(key for key, setting in _BY_KEY.items() if setting.secret)
"""Keys of settings whose values must not be shown."""
SHARED_BY_JOBS = (_BY_KEY[CHECKPOINT_DIRECTORY].key, *_BY_KEY[CHECKPOINT_DIRECTORY].others)
"""Flink's keys of the folder in which jobs have their checkpoints, each in a folder of its own."""


def find(key: str) -> Setting | None:
    """The setting with a key; None if the key is Spark's, unknown, or one of Flink's without a meaning here."""
    setting = _BY_KEY.get(key)
    if setting is None and key.startswith(OURS):
        ours = (
            name.removeprefix(OURS)
            for name, known in _BY_KEY.items()
            if name.startswith(OURS) and name not in known.retired
        )
        near = _near(key.removeprefix(OURS), ours, f" Did you mean {OURS}{{}}?", cutoff=0.5)
        raise ConfigurationError(f"There is no setting {key}.{near} docs/settings.md lists them all.")
    return setting


def parsed(texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of texts by key, of those keys that are settings here; ConfigurationError for any other text."""
    return {key: setting.parse(key, text) for key, text in texts.items() if (setting := find(key)) is not None}


def names_of(key: str) -> tuple[str, ...]:
    """All names of the setting with a key; the key alone if there is no such setting."""
    return _BY_KEY[key].keys if key in _BY_KEY else (key,)


def sparks(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts with keys for Spark."""
    return {key: text for key, text in texts.items() if key.startswith(SPARKS)}


def retired(keys: Iterable[str], settings: Settings) -> list[str]:
    """A sentence for each key that has a new name."""
    former = [key for key in sorted(keys) if key in _BY_KEY and key in _BY_KEY[key].retired]
    names = {key: _BY_KEY[key].key for key in former if key != settings.checkpoint_key}
    return [f"{key} is the old name of the setting {name}: set {name}" for key, name in names.items()]


def instead_of_folder(settings: Settings) -> str:
    """How to give a program a checkpoint directory, in words."""
    if settings.pyflink:
        return (
            f"give the job a checkpoint directory of its own, from which it resumes, by `penstock run "
            f"--checkpoint-directory` or the setting {settings.checkpoint_key}"
        )
    return f"set {settings.checkpoint_key}, the job's own checkpoint directory, from which it resumes"


def without_effect(keys: Iterable[str], settings: Settings | None = None) -> list[str]:
    """Sentences about keys that have no effect: Flink's and unknown ones."""
    settings = Settings() if settings is None else settings
    sentences: list[str] = []
    flinks: list[str] = []
    unknown: list[str] = []
    for key in sorted(keys):
        if settings.pyflink and key in SHARED_BY_JOBS:
            sentences.append(f"{key} has no effect in a program written for PyFlink: {instead_of_folder(settings)}")
        elif key in STORAGES:
            if settings.checkpoint_directory is None:
                sentences.append(f"{key} has no effect in Penstock: {instead_of_folder(settings)}")
        elif key in STORES_KEYS:
            sentences.append(
                f"{key} has no effect in Penstock: set penstock.storage.options, keys and endpoints of stores"
            )
        elif key not in _BY_KEY and not key.startswith(SPARKS):
            near = _near(key, _BY_KEY, " (did you mean {}?)", cutoff=0.9)
            (flinks if is_flinks(key) else unknown).append(key + near)
    if flinks:
        sentences.append(f"These settings of Flink have no effect in Penstock: {', '.join(flinks)}")
    if unknown:
        sentences.append(
            "These settings are neither Penstock's nor Flink's nor Spark's; only functions that call "
            f"get_job_parameter() read them: {', '.join(unknown)}"
        )
    return sentences


def _near(key: str, keys: Iterable[str], text: str, cutoff: float) -> str:
    near = get_close_matches(key, list(keys), 1, cutoff)
    return text.format(near[0]) if near else ""
