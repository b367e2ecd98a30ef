"""SavepointRestoreSettings: what a new job begins from. Source of the names: Flink's class of that name."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.common import checks
from penstock.common.configuration import Configuration

PATH = "execution.savepoint.path"
IGNORE = "execution.savepoint.ignore-unclaimed-state"


@dataclass(frozen=True)
class SavepointRestoreSettings:
    """A savepoint, and whether its state may be left behind. Made by :meth:`none` or :meth:`for_path`."""

    _path: str | None = None
    _allow: bool = False

    @staticmethod
    def none() -> SavepointRestoreSettings:
        """The job begins with nothing."""
        return SavepointRestoreSettings()

    @staticmethod
    def for_path(savepoint_path: str, allow_non_restored_state: bool = False) -> SavepointRestoreSettings:
        """The job begins from a savepoint.

        Args:
            savepoint_path: its folder, a path or URL; or ``JOB`` or ``JOB@VERSION``, a checkpoint directory or a
                version of it.
            allow_non_restored_state: whether state that no operator of the program takes may be left behind.
        """
        path = checks.text(savepoint_path, "for_path", "savepoint")
        return SavepointRestoreSettings(path, checks.boolean(allow_non_restored_state, "for_path", "allow"))

    @staticmethod
    def from_configuration(configuration: Configuration) -> SavepointRestoreSettings:
        """The settings of a configuration."""
        path = configuration.get_string(PATH, "")
        return SavepointRestoreSettings(path or None, configuration.get_boolean(IGNORE, False))

    @staticmethod
    def to_configuration(savepoint_restore_settings: SavepointRestoreSettings, configuration: Configuration) -> None:
        """Write settings into a configuration, which ``env.configure()`` or ``get_execution_environment()`` take."""
        configuration.set_boolean(IGNORE, savepoint_restore_settings.allow_non_restored_state())
        path = savepoint_restore_settings.get_restore_path()
        if path is not None:
            configuration.set_string(PATH, path)

    def restore_savepoint(self) -> bool:
        """Whether there is a savepoint."""
        return self._path is not None

    def get_restore_path(self) -> str | None:
        """Where it is."""
        return self._path

    def allow_non_restored_state(self) -> bool:
        """Whether state may be left behind."""
        return self._allow
