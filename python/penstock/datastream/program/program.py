"""Program: the operators of a program so far, and its settings; the environment adds sources and execution. Source of
names, defaults and refusals: Flink 1.11 ``StreamExecutionEnvironment``, ``ExecutionConfig``."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from penstock.common import Configuration, JobExecutionResult, RuntimeExecutionMode, checks
from penstock.common.checks import LeftOpen
from penstock.common.execution_config import ExecutionConfig
from penstock.common.restart_strategy import RestartStrategyConfiguration
from penstock.common.savepoint_restore_settings import SavepointRestoreSettings
from penstock.common.settings import hints
from penstock.common.settings.settings import Settings
from penstock.datastream.program.checkpoint_config import CheckpointConfig, CheckpointingMode, CheckpointStorage
from penstock.datastream.program.setting_warnings import warn_of, warn_of_folder, warn_of_jars
from penstock.datastream.program.transformations import Transformation
from penstock.datastream.slot_sharing_group import SlotSharingGroup
from penstock.datastream.state_backend import StateBackend, named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Self


class TimeCharacteristic(Enum):
    """The time of operators without a time of their own (Flink 1.11; always event time in later versions)."""

    ProcessingTime = 0
    IngestionTime = 1
    EventTime = 2


class Program:
    """The operators registered so far, in the order of their calls, and the settings.

    The default parallelism is 1 (Flink's ``parallelism.default``), on every machine, so that a plan does not depend on
    where it is made. ``last_id`` is the last transformation id, 0 before the first.
    """

    def __init__(self, settings: Settings = Settings()) -> None:  # noqa: B008 - it is immutable
        self.settings: Settings = settings
        self.transformations: list[Transformation] = []
        self.last_id: int = 0
        self._collects = itertools.count(1)
        self._force_checkpointing = False
        self.checkpoint_storage: CheckpointStorage | None = None
        self._state_backend: StateBackend | None = None
        self.slot_sharing_groups: dict[str, SlotSharingGroup] = {}

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the program; implemented by the environment."""
        raise NotImplementedError(f"{type(self).__name__}.execute")

    def collected(self, job_name: str | None, sink_id: str) -> Iterable[Any]:
        """Run the program and return the records of a collecting sink; implemented by the environment."""
        raise NotImplementedError(f"{type(self).__name__}.collected")

    def frame_of(self, sink: Transformation) -> DataFrame:
        """The records of one sink as a DataFrame; implemented by the environment."""
        raise NotImplementedError(f"{type(self).__name__}.frame_of")

    def next_id(self) -> int:
        """The next transformation id, from 1."""
        self.last_id += 1
        return self.last_id

    def next_collect_number(self) -> int:
        """The next number of a collect sink, from 1."""
        return next(self._collects)

    def register(self, transformation: Transformation) -> None:
        """Add an operator or sink. The plan consists of these and their inputs."""
        self.transformations.append(transformation)

    @property
    def is_batch(self) -> bool:
        """Whether the settings ask for BATCH mode. AUTOMATIC counts as BATCH until the program is translated."""
        return self.settings.batch

    def plan_settings(self) -> dict[str, Any]:
        """Arguments of the planner's StreamGraphBuilder for the whole program."""
        settings: dict[str, Any] = {"chaining_enabled": self.settings.chaining}
        if self.settings.checkpoint_interval is not None:
            settings["checkpointing_enabled"] = True
            settings["checkpoint_interval"] = self.settings.checkpoint_interval
            settings["checkpointing_mode"] = self.settings.checkpointing_mode
            settings["force_checkpointing"] = self._force_checkpointing
        return settings

    def _set(self, **values: Any) -> Self:
        self.settings = replace(self.settings, **values)
        return self

    def _append(self, setting: str, *values: Any) -> None:
        self._set(**{setting: tuple(dict.fromkeys([*getattr(self.settings, setting), *values]))})

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the parallelism of operators added from now on: at least 1, or −1 to leave it open."""
        checks.integer(parallelism, "set_parallelism", "parallelism of the environment", bits=32)
        if parallelism < 1 and parallelism != -1:
            checks.illegal_argument(
                f"set_parallelism({parallelism}) on the environment: a parallelism is at least 1, or -1 for the "
                "system's default. Give a number of subtasks."
            )
        return self._set(parallelism=parallelism)

    def get_parallelism(self) -> int:
        """Parallelism of operators added from now on."""
        return self.settings.parallelism

    @property
    def parallelism_left_open(self) -> LeftOpen:
        """The parallelism for an operator that does not set its own, marked as such."""
        return LeftOpen(self.settings.parallelism)

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the max parallelism of all operators without their own: 1 to 32768 key groups."""
        checks.integer(max_parallelism, "set_max_parallelism", "max parallelism of the environment")
        if not 0 < max_parallelism <= checks.UPPER_BOUND_MAX_PARALLELISM:
            checks.illegal_argument(
                f"set_max_parallelism({max_parallelism}) on the environment: it lies between 1 and "
                f"{checks.UPPER_BOUND_MAX_PARALLELISM}. Leave the call out for Flink's default per operator."
            )
        return self._set(max_parallelism=max_parallelism)

    def get_max_parallelism(self) -> int:
        """Max parallelism of operators without their own, −1 when unset."""
        return self.settings.max_parallelism

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Set the buffer timeout of all operators without their own: milliseconds, or −1 for the default."""
        checks.integer(timeout_millis, "set_buffer_timeout", "timeout in milliseconds")
        if timeout_millis < -1:
            checks.illegal_argument(
                f"set_buffer_timeout({timeout_millis}) on the environment: it is negative. Give milliseconds, or -1."
            )
        return self._set(buffer_timeout=timeout_millis)

    def get_buffer_timeout(self) -> int:
        """Buffer timeout in milliseconds of operators without their own, −1 when unset."""
        return self.settings.buffer_timeout

    def disable_operator_chaining(self) -> Self:
        """Run every operator in a task of its own. Results do not change."""
        return self._set(chaining=False)

    def is_chaining_enabled(self) -> bool:
        """Whether operators may share a task."""
        return self.settings.chaining

    def enable_checkpointing(self, interval: int, mode: CheckpointingMode | None = None, force: bool = False) -> Self:
        """Take checkpoints at an interval. The settings enter the plan. A program that runs in steps makes its state
        durable, and commits what its sinks have written, once per interval. A bounded job that is one step takes none.

        Args:
            interval: milliseconds, at least 10.
            mode: EXACTLY_ONCE unless given.
            force: accept iterations, whose records in flight a checkpoint loses.
        """
        checks.integer(interval, "enable_checkpointing", "interval in milliseconds")
        checks.boolean(force, "enable_checkpointing", "force")
        if mode is not None:
            hint = "Use CheckpointingMode.EXACTLY_ONCE or AT_LEAST_ONCE."
            checks.instance(mode, "enable_checkpointing", CheckpointingMode, hint, " as mode")
        if interval < 10:
            checks.illegal_argument(
                f"enable_checkpointing({interval}): the interval is at least 10 ms. Without the call there are none."
            )
        self._force_checkpointing = force
        mode = mode or self.get_checkpointing_mode()
        return self._set(checkpoint_interval=interval, checkpointing_mode=mode.name)

    def get_checkpoint_interval(self) -> int:
        """Interval in milliseconds, −1 without checkpoints."""
        return self.settings.checkpoint_interval or -1

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """The checkpointing mode."""
        return CheckpointingMode[self.settings.checkpointing_mode]

    get_checkpointing_consistency_mode = get_checkpointing_mode  # the name in Flink 2.x

    def set_stream_time_characteristic(self, characteristic: TimeCharacteristic) -> Self:
        """Set the time that ``time_window`` and interval joins use; ProcessingTime unless set (Flink 1.11)."""
        hint = "Use TimeCharacteristic.EventTime or another."
        checks.instance(characteristic, "set_stream_time_characteristic", TimeCharacteristic, hint)
        return self._set(time_characteristic=characteristic.name)

    def get_stream_time_characteristic(self) -> TimeCharacteristic:
        """The time characteristic."""
        return TimeCharacteristic[self.settings.time_characteristic]

    def set_restart_strategy(self, restart_strategy: RestartStrategyConfiguration) -> Self:
        """Set what happens when the job fails: one of :class:`penstock.common.RestartStrategies`. A job in steps
        resumes from its newest checkpoint, on both executors; with checkpoints enabled also without a strategy, until
        it has failed five times in a row from one checkpoint. Any other job starts from the beginning, if a strategy is
        set, and on the local executor only: Spark retries tasks by its own settings."""
        hint = "Make one: RestartStrategies.fixed_delay_restart(3, 1000)."
        checks.instance(restart_strategy, "set_restart_strategy", RestartStrategyConfiguration, hint)
        self.settings = self.settings.restarting(restart_strategy)
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """The restart strategy: what happens when the job fails."""
        return self.settings.restart

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> Self:
        """Set the runtime mode. STREAMING (default): every update is emitted, as records come. BATCH: operators with a
        key process one key after the other, and emit the result at its end; a source that never ends is refused.
        AUTOMATIC is BATCH if every source has an end, and otherwise STREAMING."""
        hint = "Use RuntimeExecutionMode.STREAMING, BATCH or AUTOMATIC."
        checks.instance(execution_mode, "set_runtime_mode", RuntimeExecutionMode, hint)
        return self._set(runtime_mode=execution_mode)

    def configure(self, configuration: Configuration) -> None:
        """Change settings of Flink, of Spark (``spark.*``) and of Penstock; those not in the configuration stay as they
        are. A warning names those without effect. Existing operators keep their parallelism.

        Raises:
            ConfigurationError: two names of one setting, with different values.
        """
        hint = "Make one: Configuration.from_dict({'parallelism.default': '2'})."
        checks.instance(configuration, "configure", Configuration, hint, ", which is not a Configuration")
        self.settings = self.settings.updated(configuration.to_dict(), configuration.parsed)
        warn_of(configuration, self.settings, stacklevel=3)

    def get_config(self) -> ExecutionConfig:
        """The settings of the program in one object; changes there apply to the program."""
        return ExecutionConfig(self)

    def add_jars(self, *jars_path: str) -> None:
        """Add jars, by URLs such as ``file:///lib/postgresql.jar``, to the Spark that Penstock starts; one that is
        already running must have them. Flink's own jars have no effect; a warning names them."""
        self._add_jars(jars_path, "jars", "add_jars")

    def add_classpaths(self, *classpaths: str) -> None:
        """Add jars and folders that all machines have, by URLs, to the class path of the Spark that Penstock starts."""
        self._add_jars(classpaths, "classpaths", "add_classpaths")

    def _add_jars(self, urls: tuple[str, ...], setting: str, call: str) -> None:
        for url in urls:
            if "://" not in checks.text(url, call, "URL") and not url.startswith("file:"):
                checks.refuse(f"{call}() was given {url!r}, which is not a URL. Give file:///the/path.jar.")
        warn_of_jars(urls, stacklevel=4)
        self._append(setting, *urls)

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """True: operators are chained whatever their max parallelism."""
        return True

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> Self:
        """Register the resources of a slot sharing group, which operators can then join by its name; it replaces an
        earlier one of that name. They are only kept: every task on Spark has what its executor has."""
        hint = "Make one: SlotSharingGroup.builder('name').set_cpu_cores(1).set_task_heap_memory_mb(100).build()."
        checks.instance(slot_sharing_group, "register_slot_sharing_group", SlotSharingGroup, hint)
        self.slot_sharing_groups[slot_sharing_group.name] = slot_sharing_group
        return self

    def get_checkpoint_config(self) -> CheckpointConfig:
        """The settings of checkpoints in one object. Interval and mode enter the plan; the others are only kept."""
        return CheckpointConfig(self)

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """See :meth:`CheckpointConfig.enable_unaligned_checkpoints`."""
        return self.get_checkpoint_config().is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """See :meth:`CheckpointConfig.set_force_unaligned_checkpoints`."""
        return self.get_checkpoint_config().is_force_unaligned_checkpoints()

    def set_state_backend(self, state_backend: StateBackend) -> Self:
        """Choose where tasks hold state (1.x): RocksDB's backends use files for what memory does not hold
        (``penstock.state.backend``), the others memory only.

        The path of a backend does nothing: in Flink it is a parent of one folder per job, and no job resumes from it.
        Set ``execution.checkpointing.dir``; a warning says so if the program has not.
        """
        hint = "Give HashMapStateBackend(), say."
        self._state_backend = checks.instance(state_backend, "set_state_backend", StateBackend, hint)
        warn_of_folder(state_backend, self.settings, stacklevel=3)
        return self._set(state_kept="disk" if state_backend.on_disk else "memory")

    def get_state_backend(self) -> StateBackend | None:
        """The state backend that was set, or that the configuration names; None at first (1.x)."""
        if self._state_backend is not None:
            return self._state_backend
        name = self.settings.explicit_text("state.backend")
        return None if name is None else named(name)

    def enable_changelog_state_backend(self, enabled: bool) -> Self:
        """Set whether state changes are written as they happen. The value is only kept."""
        checks.boolean(enabled, "enable_changelog_state_backend", "enabled")
        self.settings = self.settings.hinted(hints.CHANGELOG, enabled)
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """The value of :meth:`enable_changelog_state_backend`; None at first."""
        return self.settings.hint(hints.CHANGELOG)

    def set_savepoint_restore_settings(self, settings: SavepointRestoreSettings) -> Self:
        """Start the job from a savepoint, or from a checkpoint in another job's checkpoint directory, by
        ``SavepointRestoreSettings.for_path(…)``. Give the job a new checkpoint directory of its own; started again, it
        resumes from there."""
        hint = "Make one: SavepointRestoreSettings.for_path('/data/savepoint')."
        checks.instance(settings, "set_savepoint_restore_settings", SavepointRestoreSettings, hint)
        return self._set(savepoint=settings.get_restore_path(), ignore_unclaimed=settings.allow_non_restored_state())

    def set_default_savepoint_directory(self, directory: str) -> Self:
        """Set where a savepoint goes if no folder is given for it."""
        checks.text(directory, "set_default_savepoint_directory", "folder")
        self.settings = self.settings.updated({"state.savepoints.dir": directory})
        return self

    def get_default_savepoint_directory(self) -> str | None:
        """The value of :meth:`set_default_savepoint_directory`; None at first."""
        return self.settings.savepoints

    def add_python_file(self, file_path: str) -> None:
        """Let user functions import from a module (``.py``), a package, a folder with modules, or a zip, on whatever
        machine they run. It is read when the program is executed."""
        self._append("python_files", _path(file_path, "add_python_file", ","))

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Unpack a zip or tar into the folder in which user functions run, there into ``target_dir`` or a folder with
        the archive's name: ``open("data.zip/words.txt")``."""
        path = _path(archive_path, "add_python_archive", ",#")
        target = "" if target_dir is None else _path(target_dir, "add_python_archive", ",#")
        self._append("python_archives", f"{path}#{target}" if target else path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Let user functions import the packages in a file of requirements. The driver installs them with pip, once per
        process, from a folder that ``pip download`` has made, if given, instead of an index."""
        path = _path(requirements_file_path, "set_python_requirements", "#")
        packages = requirements_cache_dir
        cached = "" if packages is None else f"#{_path(packages, 'set_python_requirements', '#')}"
        self._set(python_requirements=path + cached)

    def set_python_executable(self, python_exec: str) -> None:
        """Choose the Python that runs the tasks, on the Spark that Penstock starts: a path or a command that all
        machines have, with the driver's version and Penstock."""
        self._set(python_executable=checks.text(python_exec, "set_python_executable", "path"))

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Make a file or folder available to tasks: ``get_distributed_cache().get_file(name)`` of the runtime context.
        The first file with a name stays; ``executable`` lets tasks execute it."""
        path = _path(file_path, "register_cached_file", ",;")
        _path(name, "register_cached_file", ",;:")
        checks.boolean(executable, "register_cached_file", "executable")
        if all(name != known for known, _, _ in self.settings.cached_files):
            self._append("cached_files", (name, path, executable))


def _path(value: str, call: str, separators: str) -> str:
    checks.text(value, call, "path")
    if not value:
        checks.refuse(f"{call}() was given an empty text. Give a path or name.")
    for separator in separators:
        if separator in value:
            checks.refuse(f"{call}() was given {value!r}, which has a {separator!r} in it. Use a path or name without.")
    return value
