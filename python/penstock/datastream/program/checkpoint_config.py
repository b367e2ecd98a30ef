"""CheckpointConfig: the settings of checkpoints in one object, and checkpoint storages, which have no effect here."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from penstock.common import Duration, checks
from penstock.common.settings import hints
from penstock.common.settings.flink_keys import CHECKPOINT_DIRECTORY
from penstock.common.settings.setting import Setting
from penstock.common.settings.settings import Settings
from penstock.common.time import Span, milliseconds_of
from penstock.datastream.program.setting_warnings import warn_of_folder
from penstock.datastream.state_backend import InFiles, InMemory

if TYPE_CHECKING:
    from typing_extensions import Self


_UNLIMITED = 2**31 - 1


class CheckpointingMode(Enum):
    """The guarantee of a restored job for its state."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1


class ExternalizedCheckpointRetention(Enum):
    """The fate of checkpoints when their job is cancelled."""

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2


ExternalizedCheckpointCleanup = ExternalizedCheckpointRetention
"""The name in 1.x."""


class CheckpointStorage:
    """Where checkpoints go: base of the others."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class JobManagerCheckpointStorage(InMemory, CheckpointStorage):
    """In the memory of Flink's job manager, with at most so many bytes of one state; the path is of the metadata."""

    def __init__(self, checkpoint_path: str | None = None, max_state_size: int | None = None) -> None:
        checks.text(checkpoint_path, "JobManagerCheckpointStorage", "checkpoint_path", optional=True)
        super().__init__(checkpoint_path, None, max_state_size)


class FileSystemCheckpointStorage(InFiles, CheckpointStorage):
    """In files. State below the threshold, in bytes, of at most 1 MiB, goes with the metadata. A buffer of -1 is 4
    KiB."""

    MAX_FILE_STATE_THRESHOLD = 1 << 20

    def __init__(
        self, checkpoint_path: str, file_state_size_threshold: int | None = None, write_buffer_size: int = -1
    ) -> None:
        path: str = checks.text(checkpoint_path, "FileSystemCheckpointStorage", "checkpoint_path")
        threshold = 20 << 10 if file_state_size_threshold is None else file_state_size_threshold
        if not 0 <= threshold <= self.MAX_FILE_STATE_THRESHOLD:
            checks.illegal_argument(
                f"FileSystemCheckpointStorage() was given the threshold {threshold}. Give 0 to 1048576 bytes."
            )
        buffer = max(threshold, 4 << 10) if write_buffer_size < 0 else write_buffer_size
        super().__init__(path.rstrip("/") or path, None, threshold, buffer)


class CustomCheckpointStorage(CheckpointStorage):
    """A storage written in Java, which PyFlink wraps."""

    def __init__(self, j_custom_checkpoint_storage: object) -> None:
        self.j_custom_checkpoint_storage: object = j_custom_checkpoint_storage


class _Program(Protocol):
    settings: Settings
    checkpoint_storage: CheckpointStorage | None

    def enable_checkpointing(self, interval: int) -> object: ...
    def get_checkpoint_interval(self) -> int: ...
    def get_checkpointing_mode(self) -> CheckpointingMode: ...


class CheckpointConfig:
    """The settings of checkpoints, as ``get_checkpoint_config()`` of the environment returns them.

    Interval and mode enter the plan, as in Flink. The others are only stored and returned: they have no effect here.
    """

    DEFAULT_MODE = CheckpointingMode.EXACTLY_ONCE
    DEFAULT_TIMEOUT = 600_000
    DEFAULT_MIN_PAUSE_BETWEEN_CHECKPOINTS = 0
    DEFAULT_MAX_CONCURRENT_CHECKPOINTS = 1

    __slots__ = ("_program",)

    def __init__(self, program: _Program) -> None:
        self._program = program

    def _keep(self, hint: Setting, value: object) -> Self:
        self._program.settings = self._program.settings.hinted(hint, value)
        return self

    def _number(self, hint: Setting, value: int, call: str, what: str, least: int) -> Self:
        if checks.integer(value, call, what) < least:
            checks.illegal_argument(f"{call}({value}): the {what} is at least {least}. Give such a number.")
        return self._keep(hint, value)

    def is_checkpointing_enabled(self) -> bool:
        """Whether checkpoints are enabled in the plan."""
        return self._program.settings.checkpoint_interval is not None

    def set_checkpoint_interval(self, checkpoint_interval: int) -> Self:
        """Enable checkpoints, at least 10 ms apart; see ``enable_checkpointing`` of the environment."""
        self._program.enable_checkpointing(checkpoint_interval)
        return self

    def get_checkpoint_interval(self) -> int:
        """Interval in milliseconds, −1 without checkpoints."""
        return self._program.get_checkpoint_interval()

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> Self:
        """Set what a restored job guarantees of its state."""
        hint = "Use CheckpointingMode.EXACTLY_ONCE or AT_LEAST_ONCE."
        checks.instance(checkpointing_mode, "set_checkpointing_mode", CheckpointingMode, hint)
        self._program.settings = replace(self._program.settings, checkpointing_mode=checkpointing_mode.name)
        return self

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """The checkpointing mode."""
        return self._program.get_checkpointing_mode()

    def set_checkpoint_timeout(self, checkpoint_timeout: int) -> Self:
        """Set how many milliseconds a checkpoint may take, at least 10."""
        return self._number(hints.CHECKPOINT_TIMEOUT, checkpoint_timeout, "set_checkpoint_timeout", "timeout", 10)

    def get_checkpoint_timeout(self) -> int:
        """The timeout in milliseconds; 600,000 at first."""
        return self._program.settings.hint(hints.CHECKPOINT_TIMEOUT)

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: int) -> Self:
        """Set the least time between two checkpoints in milliseconds."""
        call = "set_min_pause_between_checkpoints"
        return self._number(hints.MIN_PAUSE, min_pause_between_checkpoints, call, "pause", 0)

    def get_min_pause_between_checkpoints(self) -> int:
        """The pause in milliseconds; 0 at first."""
        return self._program.settings.hint(hints.MIN_PAUSE)

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> Self:
        """Set how many checkpoints may be taken at a time."""
        call = "set_max_concurrent_checkpoints"
        return self._number(hints.MAX_CONCURRENT, max_concurrent_checkpoints, call, "number of checkpoints", 1)

    def get_max_concurrent_checkpoints(self) -> int:
        """The number of concurrent checkpoints; 1 at first."""
        return self._program.settings.hint(hints.MAX_CONCURRENT)

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> Self:
        """Set how many checkpoints may fail before the job fails."""
        call = "set_tolerable_checkpoint_failure_number"
        number = tolerable_checkpoint_failure_number
        return self._number(hints.TOLERABLE_FAILURES, number, call, "number of failures", 0)

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """The number of tolerable failures; 0 at first."""
        return self._program.settings.hint(hints.TOLERABLE_FAILURES)

    def set_fail_on_checkpointing_errors(self, fail_on_checkpointing_errors: bool) -> Self:
        """Set whether the job fails when a checkpoint fails."""
        call = "set_fail_on_checkpointing_errors"
        fails = checks.boolean(fail_on_checkpointing_errors, call, "fail_on_checkpointing_errors")
        return self._keep(hints.TOLERABLE_FAILURES, 0 if fails else _UNLIMITED)

    def is_fail_on_checkpointing_errors(self) -> bool:
        """Whether the job fails when a checkpoint fails; True at first."""
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_externalized_checkpoint_retention(self, retention_mode: ExternalizedCheckpointRetention) -> Self:
        """Set what happens to checkpoints when their job is cancelled."""
        call = "set_externalized_checkpoint_retention"
        hint = "Use ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION."
        checks.instance(retention_mode, call, ExternalizedCheckpointRetention, hint)
        return self._keep(hints.RETENTION, retention_mode.name)

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        """The retention; NO_EXTERNALIZED_CHECKPOINTS at first."""
        return self.get_externalized_checkpoint_cleanup() or ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS

    def get_externalized_checkpoint_cleanup(self) -> ExternalizedCheckpointRetention | None:
        """The retention, in the spelling of Flink 1.x; None at first."""
        name = self._program.settings.hint(hints.RETENTION)
        return None if name is None else ExternalizedCheckpointRetention[name]

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Whether a retention other than NO_EXTERNALIZED_CHECKPOINTS is set."""
        off = ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        return self.get_externalized_checkpoint_retention() is not off

    set_externalized_checkpoint_cleanup = set_externalized_checkpoint_retention
    enable_externalized_checkpoints = set_externalized_checkpoint_retention

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> Self:
        """Set whether checkpoints overtake records."""
        return self._keep(hints.UNALIGNED, checks.boolean(enabled, "enable_unaligned_checkpoints", "enabled"))

    def disable_unaligned_checkpoints(self) -> Self:
        """Set that checkpoints do not overtake records."""
        return self._keep(hints.UNALIGNED, False)

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Whether checkpoints overtake records; False at first."""
        return self._program.settings.hint(hints.UNALIGNED)

    def set_force_unaligned_checkpoints(self, force_unaligned_checkpoints: bool = True) -> Self:
        """Set whether checkpoints overtake records even where Flink does not support it."""
        checks.boolean(force_unaligned_checkpoints, "set_force_unaligned_checkpoints", "force_unaligned_checkpoints")
        return self._keep(hints.FORCE_UNALIGNED, force_unaligned_checkpoints)

    def is_force_unaligned_checkpoints(self) -> bool:
        """The value of :meth:`set_force_unaligned_checkpoints`; False at first."""
        return self._program.settings.hint(hints.FORCE_UNALIGNED)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Span) -> Self:
        """Set the time after which a checkpoint begins to overtake records."""
        call = "set_aligned_checkpoint_timeout"
        span = milliseconds_of(alignment_timeout, call, "timeout")
        return self._number(hints.ALIGNED_TIMEOUT, span, call, "timeout", 0)

    def get_aligned_checkpoint_timeout(self) -> Duration:
        """The timeout; 0 at first."""
        return Duration(self._program.settings.hint(hints.ALIGNED_TIMEOUT))

    set_alignment_timeout = set_aligned_checkpoint_timeout
    get_alignment_timeout = get_aligned_checkpoint_timeout

    def set_checkpoint_storage(self, storage: CheckpointStorage) -> Self:
        """Keep a checkpoint storage. Its path does nothing: it is a parent of one folder per job in Flink, and no job
        resumes from it. Set ``execution.checkpointing.dir``; a warning says so if the program has not."""
        hint = "Give FileSystemCheckpointStorage(path), or call set_checkpoint_storage_dir(path)."
        return self._store(checks.instance(storage, "set_checkpoint_storage", CheckpointStorage, hint))

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> Self:
        """Keep a checkpoint storage with a path; see :meth:`set_checkpoint_storage`."""
        return self._store(FileSystemCheckpointStorage(checkpoint_path))

    def _store(self, storage: CheckpointStorage) -> Self:
        warn_of_folder(storage, self._program.settings, stacklevel=4)
        self._program.checkpoint_storage = storage
        return self

    def get_checkpoint_storage(self) -> CheckpointStorage | None:
        """The storage that was set, or one with the directory that the configuration names; None at first."""
        if self._program.checkpoint_storage is not None:
            return self._program.checkpoint_storage
        path = self._program.settings.explicit_text(CHECKPOINT_DIRECTORY)
        return None if path is None else FileSystemCheckpointStorage(path)

    def __repr__(self) -> str:
        return f"<CheckpointConfig interval={self.get_checkpoint_interval()}>"
