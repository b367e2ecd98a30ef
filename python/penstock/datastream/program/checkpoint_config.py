"""CheckpointConfig: settings of checkpoints in one object.

Source of the names: ``pyflink.datastream.CheckpointConfig``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from penstock.common import Duration, checks, hints
from penstock.common.setting import Setting
from penstock.common.time import Span, milliseconds_of
from penstock.datastream.checkpoint_storage import CheckpointStorage, FileSystemCheckpointStorage
from penstock.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from penstock.datastream.program.program import CheckpointingMode, Program

_Self = TypeVar("_Self", bound="CheckpointConfig")

_UNLIMITED = 2**31 - 1


class CheckpointConfig:
    """The settings of checkpoints, as ``get_checkpoint_config()`` of the environment gives them.

    A bounded job takes no checkpoints: Spark runs a failed task again. Interval and mode enter the plan, as in Flink;
    all else is kept, given back, and means nothing.
    """

    DEFAULT_MODE = CheckpointingMode.EXACTLY_ONCE
    DEFAULT_TIMEOUT = 600_000
    DEFAULT_MIN_PAUSE_BETWEEN_CHECKPOINTS = 0
    DEFAULT_MAX_CONCURRENT_CHECKPOINTS = 1

    __slots__ = ("_program",)

    def __init__(self, program: Program) -> None:
        self._program = program

    def _keep(self: _Self, hint: Setting, value: object) -> _Self:
        self._program.settings = self._program.settings.hinted(hint, value)
        return self

    def _number(self: _Self, hint: Setting, value: int, call: str, what: str, least: int) -> _Self:
        if checks.integer(value, call, what) < least:
            checks.illegal_argument(f"{call}({value}): the {what} is at least {least}. Give such a number.")
        return self._keep(hint, value)

    # --- what enters the plan -----------------------------------------------------------------------------------------

    def is_checkpointing_enabled(self) -> bool:
        """Whether checkpoints are enabled in the plan."""
        return self._program.settings.checkpoint_interval is not None

    def set_checkpoint_interval(self: _Self, checkpoint_interval: int) -> _Self:
        """Enable checkpoints in the plan; see ``enable_checkpointing`` of the environment.

        Args:
            checkpoint_interval: milliseconds, at least 10.
        """
        self._program.enable_checkpointing(checkpoint_interval)
        return self

    def get_checkpoint_interval(self) -> int:
        """Interval in milliseconds, −1 without checkpoints."""
        return self._program.get_checkpoint_interval()

    def set_checkpointing_mode(self: _Self, checkpointing_mode: CheckpointingMode) -> _Self:
        """What a restored job would guarantee."""
        hint = "Use CheckpointingMode.EXACTLY_ONCE or AT_LEAST_ONCE."
        checks.instance(checkpointing_mode, "set_checkpointing_mode", CheckpointingMode, hint)
        self._program.settings = replace(self._program.settings, checkpointing_mode=checkpointing_mode.name)
        return self

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """What a restored job would guarantee."""
        return self._program.get_checkpointing_mode()

    # --- what is kept -------------------------------------------------------------------------------------------------

    def set_checkpoint_timeout(self: _Self, checkpoint_timeout: int) -> _Self:
        """Keep how many milliseconds a checkpoint may take, at least 10."""
        return self._number(hints.CHECKPOINT_TIMEOUT, checkpoint_timeout, "set_checkpoint_timeout", "timeout", 10)

    def get_checkpoint_timeout(self) -> int:
        """What was set in milliseconds; 600,000 at first."""
        return self._program.settings.hint(hints.CHECKPOINT_TIMEOUT)

    def set_min_pause_between_checkpoints(self: _Self, min_pause_between_checkpoints: int) -> _Self:
        """Keep how many milliseconds lie between two checkpoints."""
        call = "set_min_pause_between_checkpoints"
        return self._number(hints.MIN_PAUSE, min_pause_between_checkpoints, call, "pause", 0)

    def get_min_pause_between_checkpoints(self) -> int:
        """What was set in milliseconds; 0 at first."""
        return self._program.settings.hint(hints.MIN_PAUSE)

    def set_max_concurrent_checkpoints(self: _Self, max_concurrent_checkpoints: int) -> _Self:
        """Keep how many checkpoints may be taken at a time."""
        call = "set_max_concurrent_checkpoints"
        return self._number(hints.MAX_CONCURRENT, max_concurrent_checkpoints, call, "number of checkpoints", 1)

    def get_max_concurrent_checkpoints(self) -> int:
        """What was set; 1 at first."""
        return self._program.settings.hint(hints.MAX_CONCURRENT)

    def set_tolerable_checkpoint_failure_number(self: _Self, tolerable_checkpoint_failure_number: int) -> _Self:
        """Keep how many checkpoints may fail before the job does."""
        call = "set_tolerable_checkpoint_failure_number"
        number = tolerable_checkpoint_failure_number
        return self._number(hints.TOLERABLE_FAILURES, number, call, "number of failures", 0)

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """What was set; 0 at first."""
        return self._program.settings.hint(hints.TOLERABLE_FAILURES)

    def set_fail_on_checkpointing_errors(self: _Self, fail_on_checkpointing_errors: bool) -> _Self:
        """Keep whether a job fails with its first checkpoint, or with none."""
        call = "set_fail_on_checkpointing_errors"
        fails = checks.boolean(fail_on_checkpointing_errors, call, "fail_on_checkpointing_errors")
        return self._keep(hints.TOLERABLE_FAILURES, 0 if fails else _UNLIMITED)

    def is_fail_on_checkpointing_errors(self) -> bool:
        """What was set; True at first."""
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_externalized_checkpoint_retention(self: _Self, retention_mode: ExternalizedCheckpointRetention) -> _Self:
        """Keep what becomes of checkpoints when their job is cancelled."""
        call, hint = (
            "set_externalized_checkpoint_retention",
            "Use ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION.",
        )
        checks.instance(retention_mode, call, ExternalizedCheckpointRetention, hint)
        return self._keep(hints.RETENTION, retention_mode.name)

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        """What was set; NO_EXTERNALIZED_CHECKPOINTS at first."""
        return self.get_externalized_checkpoint_cleanup() or ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS

    def get_externalized_checkpoint_cleanup(self) -> ExternalizedCheckpointRetention | None:
        """What was set, in 1.x's spelling; None at first."""
        name = self._program.settings.hint(hints.RETENTION)
        return None if name is None else ExternalizedCheckpointRetention[name]

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Whether checkpoints are to be kept or deleted at all."""
        off = ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        return self.get_externalized_checkpoint_retention() is not off

    set_externalized_checkpoint_cleanup = set_externalized_checkpoint_retention
    enable_externalized_checkpoints = set_externalized_checkpoint_retention

    def enable_unaligned_checkpoints(self: _Self, enabled: bool = True) -> _Self:
        """Keep whether checkpoints overtake records."""
        given = checks.boolean(enabled, "enable_unaligned_checkpoints", "enabled")
        return self._keep(hints.UNALIGNED, given)

    def disable_unaligned_checkpoints(self: _Self) -> _Self:
        """Keep that checkpoints do not overtake records."""
        return self._keep(hints.UNALIGNED, False)

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """What was set; False at first."""
        return self._program.settings.hint(hints.UNALIGNED)

    def set_force_unaligned_checkpoints(self: _Self, force_unaligned_checkpoints: bool = True) -> _Self:
        """Keep whether checkpoints overtake records also where Flink does not support it."""
        call = "set_force_unaligned_checkpoints"
        given = checks.boolean(force_unaligned_checkpoints, call, "force_unaligned_checkpoints")
        return self._keep(hints.FORCE_UNALIGNED, given)

    def is_force_unaligned_checkpoints(self) -> bool:
        """What was set; False at first."""
        return self._program.settings.hint(hints.FORCE_UNALIGNED)

    def set_aligned_checkpoint_timeout(self: _Self, alignment_timeout: Span) -> _Self:
        """Keep after which time a checkpoint begins to overtake records."""
        call = "set_aligned_checkpoint_timeout"
        span = milliseconds_of(alignment_timeout, call, "timeout")
        return self._number(hints.ALIGNED_TIMEOUT, span, call, "timeout", 0)

    def get_aligned_checkpoint_timeout(self) -> Duration:
        """What was set; 0 at first."""
        return Duration(self._program.settings.hint(hints.ALIGNED_TIMEOUT))

    set_alignment_timeout = set_aligned_checkpoint_timeout
    get_alignment_timeout = get_aligned_checkpoint_timeout

    def set_checkpoint_storage(self: _Self, storage: CheckpointStorage) -> _Self:
        """Keep where checkpoints go."""
        hint = "Give FileSystemCheckpointStorage(path), or call set_checkpoint_storage_dir(path)."
        self._program.checkpoint_storage = checks.instance(storage, "set_checkpoint_storage", CheckpointStorage, hint)
        return self

    def set_checkpoint_storage_dir(self: _Self, checkpoint_path: str) -> _Self:
        """Keep in which folder checkpoints go."""
        return self.set_checkpoint_storage(FileSystemCheckpointStorage(checkpoint_path))

    def get_checkpoint_storage(self) -> CheckpointStorage | None:
        """What was set, or a folder that the configuration names; None at first."""
        if self._program.checkpoint_storage is not None:
            return self._program.checkpoint_storage
        folder = self._program.settings.hint(hints.CHECKPOINT_FOLDER)
        return None if folder is None else FileSystemCheckpointStorage(folder)

    def __repr__(self) -> str:
        return f"<CheckpointConfig interval={self.get_checkpoint_interval()}>"
