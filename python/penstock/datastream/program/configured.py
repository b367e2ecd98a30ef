"""A program with what its environment knows of configurations: the objects by which PyFlink's users set it up."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from penstock.common import Configuration, checks, hints
from penstock.common.execution_config import ExecutionConfig
from penstock.common.savepoint_restore_settings import SavepointRestoreSettings
from penstock.datastream.program.checkpoint_config import CheckpointConfig
from penstock.datastream.program.configuring import warn_of, warn_of_jars
from penstock.datastream.program.program import CheckpointingMode, Program
from penstock.datastream.slot_sharing_group import SlotSharingGroup
from penstock.datastream.state_backend import StateBackend, named

_Self = TypeVar("_Self", bound="ConfiguredProgram")


class ConfiguredProgram(Program):
    """A :class:`Program` that can be set up by a configuration, and by the objects that stand for parts of it."""

    def configure(self, configuration: Configuration) -> None:
        """Take over settings; those that it does not name stay as they are. Operators that exist already keep their
        parallelism.

        Args:
            configuration: settings, of Flink, of Spark (``spark.*``) and our own. Those without effect are named in a
                warning.

        Raises:
            ConfigurationError: a setting is there under two names with two values.
        """
        hint = "Make one: Configuration.from_dict({'parallelism.default': '2'})."
        checks.instance(configuration, "configure", Configuration, hint, ", which is no Configuration")
        warn_of(configuration, stacklevel=3)
        self.settings = self.settings.updated(configuration.to_dict())

    def get_config(self) -> ExecutionConfig:
        """Settings of the program in one object; what is set there counts for the program."""
        return ExecutionConfig(self)

    def add_jars(self, *jars_path: str) -> None:
        """Give jars to the Spark that Penstock starts, such as a driver of a database. Those of Flink have no effect,
        and are named in a warning.

        Args:
            jars_path: URLs, such as ``file:///lib/postgresql.jar``. In a Spark that runs already they must be there.
        """
        self._add_jars(jars_path, "jars", "add_jars")

    def add_classpaths(self, *classpaths: str) -> None:
        """Give jars and folders that are there on all machines to the class path of the Spark that Penstock starts.

        Args:
            classpaths: URLs, as for :meth:`add_jars`.
        """
        self._add_jars(classpaths, "classpaths", "add_classpaths")

    def _add_jars(self, urls: tuple[str, ...], setting: str, call: str) -> None:
        for url in urls:
            if "://" not in checks.text(url, call, "URL") and not url.startswith("file:"):
                checks.refuse(f"{call}() was given {url!r}, which is no URL. Give file:///the/path.jar.")
        warn_of_jars(urls, stacklevel=4)
        known: tuple[str, ...] = getattr(self.settings, setting)
        self.settings = replace(self.settings, **{setting: tuple(dict.fromkeys([*known, *urls]))})

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """True: operators are chained whatever their max parallelism."""
        return True

    def register_slot_sharing_group(self: _Self, slot_sharing_group: SlotSharingGroup) -> _Self:
        """Say what the slots of a group need, for operators that are put into it by its name. It is kept: Spark gives
        every task what its executors have.

        Args:
            slot_sharing_group: replaces one of the same name that was registered before.
        """
        hint = "Make one: SlotSharingGroup.builder('name').set_cpu_cores(1).set_task_heap_memory_mb(100).build()."
        checks.instance(slot_sharing_group, "register_slot_sharing_group", SlotSharingGroup, hint)
        self.slot_sharing_groups[slot_sharing_group.name] = slot_sharing_group
        return self

    # --- checkpoints and state: kept ----------------------------------------------------------------------------------

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Settings of checkpoints in one object. Interval and mode enter the plan; all else is kept."""
        return CheckpointConfig(self)

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        """The checkpointing mode (Flink 2.x)."""
        return self.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """See :meth:`CheckpointConfig.enable_unaligned_checkpoints`."""
        return self.get_checkpoint_config().is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """See :meth:`CheckpointConfig.set_force_unaligned_checkpoints`."""
        return self.get_checkpoint_config().is_force_unaligned_checkpoints()

    def set_state_backend(self: _Self, state_backend: StateBackend) -> _Self:
        """Say where tasks hold state (1.x): with RocksDB's backends in files, as far as memory does not hold it
        (``penstock.state.backend``), with the others in memory."""
        hint = "Give HashMapStateBackend(), say."
        self._state_backend = checks.instance(state_backend, "set_state_backend", StateBackend, hint)
        self.settings = replace(self.settings, state_kept="disk" if state_backend.on_disk else "memory")
        return self

    def get_state_backend(self) -> StateBackend | None:
        """What was set, or what the configuration names; None at first (1.x)."""
        if self._state_backend is not None:
            return self._state_backend
        name = self.settings.hint(hints.STATE_BACKEND)
        return None if name is None else named(name)

    def enable_changelog_state_backend(self: _Self, enabled: bool) -> _Self:
        """Keep whether changes of state are written as they happen."""
        given = checks.boolean(enabled, "enable_changelog_state_backend", "enabled")
        self.settings = self.settings.hinted(hints.CHANGELOG, given)
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """What was set; None at first."""
        return self.settings.hint(hints.CHANGELOG)

    def set_savepoint_restore_settings(self: _Self, settings: SavepointRestoreSettings) -> _Self:
        """Say what a new job begins from: a savepoint, or a version of a job folder. Its own job folder is to be a new
        one; run again, it goes on from there.

        Args:
            settings: made by ``SavepointRestoreSettings.for_path(…)``.
        """
        hint = "Make one: SavepointRestoreSettings.for_path('/data/savepoint')."
        given = checks.instance(settings, "set_savepoint_restore_settings", SavepointRestoreSettings, hint)
        path, allow = given.get_restore_path(), given.allow_non_restored_state()
        self.settings = replace(self.settings, savepoint=path, ignore_unclaimed=allow)
        return self

    def set_default_savepoint_directory(self: _Self, directory: str) -> _Self:
        """Say where savepoints go for which no folder is said."""
        given = checks.text(directory, "set_default_savepoint_directory", "folder")
        self.settings = self.settings.updated({"state.savepoints.dir": given})
        return self

    def get_default_savepoint_directory(self) -> str | None:
        """What was set; None at first."""
        return self.settings.savepoints
