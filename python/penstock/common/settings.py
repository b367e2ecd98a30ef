"""All settings of a program, parsed: each field of :class:`Settings` is one line of the table. Those for what
PyFlink does otherwise than Flink are in a base of it, those of programs that never end in another.

A new setting is a field here. From it follow the check of its value, the page ``docs/settings.md``, and for those that
change no result what the matrix tests vary (``tests/matrix/knobs.py``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, Literal

from penstock.common.cores import cores
from penstock.common.execution_mode import RuntimeExecutionMode
from penstock.common.flink_keys import class_paths, is_flinks, is_flinks_jar
from penstock.common.hints import STATE_BACKEND
from penstock.common.pyflink_settings import PyFlinkSettings
from penstock.common.restart_strategy import (
    FailureRateRestart,
    FallbackRestart,
    FixedDelayRestart,
    NoRestart,
    RestartStrategyConfiguration,
)
from penstock.common.setting import (
    OURS,
    Choice,
    Files,
    Flag,
    Pairs,
    Setting,
    Size,
    Span,
    Text,
    Texts,
    Whole,
    line,
)
from penstock.common.step_settings import StepSettings
from penstock.common.store_options import Stores
from penstock.errors import ConfigurationError

SPARKS = "spark."
"""Keys that begin like this are passed on to Spark."""
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
_AUTO_OR_OFF = Choice({"auto": True, "off": False})


@dataclass(frozen=True)
class Settings(PyFlinkSettings, StepSettings):
    """The settings of a program: parsed when its environment is made, changed by the environment's methods, handed over
    with the plan, and carried to the tasks.

    Attributes:
        given: the texts as they were given, by key, those of Spark and of nobody too.
    """

    # A table: first what is parsed, then what is said of it.
    # fmt: off
    # --- who runs it ---
    executor: str | None = line(
        "penstock.executor", Choice.of("spark", "local"), None, "executor",
        "Who runs the program; unset, what the environment variable `PENSTOCK_EXECUTOR` says, or Spark.",
    )
    restart_strategy: str | None = line(
        "restart-strategy", _RESTARTS, None, "executor",
        "Whether a job that failed is run again: from its newest version, if it runs in steps; else locally only. "
        "Unset: none, but in steps with checkpoints until it fails five times in a row.", "restart-strategy.type",
    )
    restart_attempts: int = line(
        "restart-strategy.fixed-delay.attempts", Whole(0, _LARGEST_INT), 1, "executor",
        "How often it is run again, if the strategy is fixed-delay.",
    )
    restart_delay: int = line(
        "restart-strategy.fixed-delay.delay", Span(), 1000, "executor", "How long to wait before each of these times."
    )
    restart_rate: int = line(
        "restart-strategy.failure-rate.max-failures-per-interval", Whole(1, _LARGEST_INT), 1, "executor",
        "How often it may fail in an interval and is run again, if the strategy is failure-rate.",
    )
    restart_rate_interval: int = line(
        "restart-strategy.failure-rate.failure-rate-interval", Span(1), 60_000, "executor", "Length of that interval."
    )
    restart_rate_delay: int = line(
        "restart-strategy.failure-rate.delay", Span(), 1000, "executor", "How long to wait before each of these times."
    )

    jars: tuple[str, ...] = line(
        "pipeline.jars", Texts(), (), "executor",
        "URLs of jars for Spark, where Penstock starts it. Flink's own are left out, and named in a warning.",
    )
    classpaths: tuple[str, ...] = line(
        "pipeline.classpaths", Texts(), (), "executor",
        "URLs of jars and folders that are there on all machines already, for the class path of Spark.",
    )

    python_files: tuple[str, ...] = line(
        "python.files", Texts(","), (), "executor",
        "Modules, packages, folders and zips that tasks can import from.",
    )
    python_archives: tuple[str, ...] = line(
        "python.archives", Texts(","), (), "executor",
        "Zips and tars that tasks find unpacked in their current folder, in one of the name after a #, or else of "
        "their own name.",
    )
    python_requirements: str | None = line(
        "python.requirements", Text(), None, "executor",
        "A file of requirements for pip, which tasks can import; a folder with the packages may follow after a #.",
    )
    python_executable: str | None = line(
        "python.executable", Text(), None, "executor",
        "The Python that runs tasks on the Spark that Penstock starts; elsewhere another one is refused.",
    )
    cached_files: tuple[tuple[str, str, bool], ...] = line(
        "pipeline.cached-files", Files(), (), "executor", "Files that functions find by name in the distributed cache.",
    )
    shared_folders: tuple[str, ...] = line(
        "penstock.files.shared-folders", Texts(), (), "executor", "Local folders that are the same on all hosts.",
    )

    # --- the plan ---
    flink: Literal["1.11", "2.3"] = line(
        "penstock.flink", Choice.of("1.11", "2.3"), "1.11", "plan", "The Flink version to plan as."
    )
    name: str = line(
        "pipeline.name", Text(), "Flink Streaming Job", "plan", "The job's name, unless `execute()` is given one."
    )
    parallelism: int = line(
        "parallelism.default", Whole(1, _LARGEST_INT, or_unset=True), 1, "plan",
        "Subtasks of operators that do not say how many; the default is 1 on every machine.",
    )
    max_parallelism: int = line(
        "pipeline.max-parallelism", Whole(1, 32_768, or_unset=True), -1, "plan",
        "Key groups of operators that do not say how many; -1 for as many as Flink takes by the parallelism.",
    )
    chaining: bool = line(
        "pipeline.operator-chaining", Flag(), True, "plan",
        "Whether operators may share a task.", "pipeline.operator-chaining.enabled",
    )
    buffer_timeout: int = line(
        "execution.buffer-timeout", Span(or_unset=True), -1, "plan",
        "The buffer timeout of edges in the plan; -1 for the default of the Flink version. Nothing waits for it here.",
        "execution.buffer-timeout.interval",
    )
    checkpoint_interval: int | None = line(
        "execution.checkpointing.interval", Span(10), None, "plan",
        "Enables checkpoints in the plan; the least time between two steps, where sources have little.",
    )
    checkpointing_mode: Literal["EXACTLY_ONCE", "AT_LEAST_ONCE"] = line(
        "execution.checkpointing.mode", _CHECKPOINTS, "EXACTLY_ONCE", "plan",
        "What a restored job would guarantee, in the plan.",
    )
    generated_uids: bool = line(
        "pipeline.auto-generate-uids", Flag(), True, "plan",
        "Whether operators may do without a uid; if not, one that has neither uid nor uid hash is refused.",
    )
    time_characteristic: Literal["ProcessingTime", "IngestionTime", "EventTime"] = line(
        "pipeline.time-characteristic", _TIMES, "ProcessingTime", "plan",
        "What time means to `time_window` and interval joins (Flink 1.11).",
    )

    # --- the runtime ---
    runtime_mode: RuntimeExecutionMode = line(  # noqa: RUF009 - it is a field
        "execution.runtime-mode", _MODES, RuntimeExecutionMode.STREAMING, "runtime",
        "STREAMING emits every update, BATCH what is known at a key's end; AUTOMATIC is BATCH if every source has an "
        "end.",
    )
    object_reuse: bool = line(
        "pipeline.object-reuse", Flag(), False, "runtime",
        "Whether the operators of a chain hand records on without a copy.",
    )
    watermark_interval: int = line(
        "pipeline.auto-watermark-interval", Span(), 200, "runtime",
        "With 0 periodic watermark generators are asked at the end of the input only. All other values are the same "
        "here: generators are asked after numbers of records, and at the end of a step.",
    )
    parameters: tuple[tuple[str, str], ...] = line(
        "pipeline.global-job-parameters", Pairs(), (), "runtime",
        "What functions read by `get_job_parameter`; they can read the other keys of the configuration, too.",
    )
    latency_interval: int = line(
        "metrics.latency.interval", Span(), 0, "runtime", "Time between two latency markers of a source; 0 for none."
    )
    form: Literal["fused", "listed"] = line(
        "penstock.runtime.form", Choice.of("fused", "listed"), "fused", "runtime",
        "A chain of operators as one generated function, or as an object per output, as in Flink.",
    )
    native: bool = line(
        "penstock.runtime.native", _AUTO_OR_OFF, True, "runtime",
        "Native functions where there are some, or Python's alone.",
    )
    codec: Literal["auto", "pickle", "columns"] = line(
        "penstock.exchange.codec", Choice.of("auto", "pickle", "columns"), "auto", "runtime",
        "How records between tasks are written; auto takes columns where native code writes them and the type allows.",
    )
    buffer_records: int = line(
        "penstock.exchange.buffer-records", Whole(1, 1_000_000), 2_000, "runtime",
        "Records in a buffer between two tasks, at the most; 1,000 to 2,000 measured best.",
    )
    combine: bool = line(
        "penstock.exchange.combine", _AUTO_OR_OFF, True, "runtime",
        "Whether records of a key may be combined before they are sent, where that changes no result.",
    )
    imports: tuple[str, ...] = line(
        "penstock.runtime.imports", Texts(","), (), "runtime",
        "Modules that every task imports before it reads a program's functions.",
    )

    state_kept: Literal["memory", "disk"] | None = line(
        "penstock.state.backend", Choice.of("memory", "disk"), None, "runtime",
        "Where tasks hold keyed state in STREAMING mode: in memory, or as much as fits and the rest in a local file; "
        "unset, on disk if `state.backend` is rocksdb.",
    )
    state_memory: int = line(
        "penstock.state.memory", Size(1 << 10), 256 << 20, "runtime",
        "Memory of each process that runs tasks for keyed state, if the rest is on disk.",
    )
    storage_options: Mapping[str, Mapping[str, Any]] = line(
        "penstock.storage.options", Stores(), Stores().parse("{}"), "runtime",
        "How the driver and tasks reach stores: keys, endpoints. No plan and no message shows them.",
    )
    types_check: bool = line("penstock.types.check", Flag(), False, "runtime",
        "Whether records that leave a task, are printed or collected are checked for their type: 90 ns for a pair.")

    # fmt: on
    given: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Settings:
        """The settings in a configuration. Keys of nobody are kept and mean nothing: :func:`without_effect`.

        Args:
            given: texts by key.

        Raises:
            ConfigurationError: a key of ours that does not exist, or a value that makes no sense.
            UnsupportedError: a value that Flink has and we do not support.
        """
        settings = cls().updated(given)
        if settings.pyflink_cores and "parallelism.default" not in given:
            return replace(settings, parallelism=1 if settings.batch else cores())
        return settings

    def updated(self, given: Mapping[str, str]) -> Settings:
        """These settings, and others over them; see :meth:`of`."""
        values: dict[str, Any] = {}
        for key, text in given.items():
            setting = find(key)
            if setting is not None:
                value = setting.parse(key, text)
                if values.setdefault(_ATTRIBUTES[setting.key], value) != value:
                    raise ConfigurationError(
                        f"{' and '.join(setting.keys)} are two names of one setting, and the configuration gives them "
                        "different values. Leave one out."
                    )
        return replace(self, **values, given={**self.given, **given})

    @property
    def batch(self) -> bool:
        """Whether the program runs in BATCH mode."""
        return self.runtime_mode.batch

    @property
    def disk_state(self) -> bool:
        """Whether keyed state is on disk as far as memory does not hold it."""
        if self.state_kept is None:
            return "rocksdb" in (self.hint(STATE_BACKEND) or "").lower() and not self.batch
        return self.state_kept == "disk" and not self.batch

    @property
    def restart(self) -> RestartStrategyConfiguration:
        """How often a failed job is run again."""
        if self.restart_strategy == "fixed-delay":
            return FixedDelayRestart(self.restart_attempts, self.restart_delay)
        if self.restart_strategy == "failure-rate":
            return FailureRateRestart(self.restart_rate, self.restart_rate_interval, self.restart_rate_delay)
        return NoRestart()

    def restarting(self, strategy: RestartStrategyConfiguration) -> Settings:
        """These settings with another restart strategy."""
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
            given = Settings.of(self.given)
            return replace(self.restarting(given.restart), restart_strategy=given.restart_strategy)
        return replace(self, restart_strategy="none")

    def hint(self, hint: Setting) -> Any:
        """What was given for an option of :mod:`penstock.common.hints`, or else its default.

        Raises:
            ConfigurationError: a text that makes no sense.
        """
        found = [(key, self.given[key]) for key in hint.keys if key in self.given]
        return hint.parse(*found[-1]) if found else hint.default

    def hinted(self, hint: Setting, value: object) -> Settings:
        """These settings with another value of such an option; None forgets it."""
        given = {key: text for key, text in self.given.items() if key not in hint.keys}
        return replace(self, given=given if value is None else {**given, hint.key: hint.kind.text(value)})

    @property
    def spark(self) -> dict[str, str]:
        """Those that are passed on to Spark, jars and class paths among them."""
        found = sparks(self.given)
        for key, separator, more in (
            ("spark.jars", ",", [jar for jar in self.jars if not is_flinks_jar(jar)]),
            ("spark.driver.extraClassPath", os.pathsep, class_paths(self.classpaths)),
            ("spark.executor.extraClassPath", os.pathsep, class_paths(self.classpaths)),
        ):
            if more:
                found[key] = separator.join(dict.fromkeys([*filter(None, found.get(key, "").split(separator)), *more]))
        return found

    def parameter(self, key: str, default: str) -> str:
        """A job parameter, or else the text of a key of the configuration, or else the default."""
        return dict(self.parameters).get(key, self.given.get(key, default))


_PARSED = [each for each in fields(Settings) if "setting" in each.metadata]
_LINES = sorted(_PARSED, key=lambda each: each.name not in Settings.__annotations__)  # what bases have comes last
_ATTRIBUTES = {each.metadata["setting"].key: each.name for each in _LINES}
TABLE: tuple[Setting, ...] = tuple(each.metadata["setting"] for each in _LINES)
"""All settings, in the order of their attributes."""
_BY_KEY = {key: setting for setting in TABLE for key in setting.keys}
SECRETS = frozenset(key for key, setting in _BY_KEY.items() if setting.secret)
"""Keys of settings whose values nobody is to see."""
PYFLINKS = tuple(setting.key for setting in TABLE if setting.key.startswith(f"{OURS}pyflink."))
"""The switches for what PyFlink does otherwise than Flink."""


def find(key: str) -> Setting | None:
    """The setting with a key, or None: it is Spark's, or Flink's without a meaning here, or nobody's.

    Raises:
        ConfigurationError: the key begins like ours and is none.
    """
    setting = _BY_KEY.get(key)
    if setting is None and key.startswith(OURS):
        ours = (each.removeprefix(OURS) for each in _BY_KEY if each.startswith(OURS))
        near = _near(key.removeprefix(OURS), ours, f" Did you mean {OURS}{{}}?", cutoff=0.5)
        raise ConfigurationError(f"There is no setting {key}.{near} docs/settings.md lists them all.")
    return setting


def sparks(given: Mapping[str, str]) -> dict[str, str]:
    """The settings that are passed on to Spark."""
    return {key: text for key, text in given.items() if key.startswith(SPARKS)}


def without_effect(keys: Iterable[str]) -> list[str]:
    """What there is to say of keys that mean nothing here: a sentence on Flink's, and one on nobody's."""
    flinks: list[str] = []
    nobodys: list[str] = []
    for key in sorted(keys):
        if key not in _BY_KEY and not key.startswith(SPARKS):
            near = _near(key, _BY_KEY, " (did you mean {}?)", cutoff=0.9)
            (flinks if is_flinks(key) else nobodys).append(key + near)
    said: list[str] = []
    if flinks:
        said.append(f"These settings of Flink have no effect in Penstock: {', '.join(flinks)}")
    if nobodys:
        said.append(
            "These settings are neither Penstock's nor Flink's nor Spark's, and are read by nobody but functions that "
            f"ask for them by get_job_parameter(): {', '.join(nobodys)}"
        )
    return said


def _near(key: str, keys: Iterable[str], text: str, cutoff: float) -> str:
    near = get_close_matches(key, list(keys), 1, cutoff)
    return text.format(near[0]) if near else ""
