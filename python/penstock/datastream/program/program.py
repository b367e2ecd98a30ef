"""Program: what a program consists of so far, and its settings.

Streams and translation know a program by this class only; what makes it an environment, its sources and its execution,
is added above. Source of defaults and refusals: Flink 1.11 ``StreamExecutionEnvironment`` and ``ExecutionConfig``;
spelling: ``pyflink.datastream.StreamExecutionEnvironment``.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.common import JobExecutionResult, RuntimeExecutionMode, checks
from penstock.common.left_open import LeftOpen
from penstock.common.restart_strategy import RestartStrategyConfiguration
from penstock.common.settings import Settings
from penstock.datastream.checkpoint_storage import CheckpointStorage
from penstock.datastream.program.transformations import Transformation
from penstock.datastream.slot_sharing_group import SlotSharingGroup
from penstock.datastream.state_backend import StateBackend

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_Self = TypeVar("_Self", bound="Program")

MIN_CHECKPOINT_INTERVAL_MS = 10


class CheckpointingMode(Enum):
    """What a restored job guarantees of its state."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1


class TimeCharacteristic(Enum):
    """What time means to operators that do not say so themselves (Flink 1.11; event time only in later versions)."""

    ProcessingTime = 0
    IngestionTime = 1
    EventTime = 2


class Program:
    """The operators registered so far, the ids given out, and the settings.

    The default parallelism is 1 (Flink's ``parallelism.default``), on every machine, so that a plan does not depend on
    where it is made.

    Args:
        settings: to begin with; methods change them.

    Attributes:
        settings: as they are now.
        transformations: operators and sinks in the order of their calls.
        last_id: the transformation id given out last, 0 before the first.
        checkpoint_storage: what was set, to be given back.
        slot_sharing_groups: those that were registered, by name.
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
        """Run the program; the environment knows how."""
        raise NotImplementedError(f"{type(self).__name__}.execute")

    def collected(self, job_name: str | None, sink_id: str) -> Iterable[Any]:
        """Run the program, and give the records of a collecting sink; the environment knows how."""
        raise NotImplementedError(f"{type(self).__name__}.collected")

    def frame_of(self, sink: Transformation) -> DataFrame:
        """The records of one sink as a DataFrame; the environment knows how."""
        raise NotImplementedError(f"{type(self).__name__}.frame_of")

    # --- what streams tell it -----------------------------------------------------------------------------------------

    def next_id(self) -> int:
        """The next transformation id, from 1."""
        self.last_id += 1
        return self.last_id

    def next_collect_number(self) -> int:
        """The next number of a collect sink, from 1."""
        return next(self._collects)

    def register(self, transformation: Transformation) -> None:
        """Note an operator or sink; only these and what they need enter the plan."""
        self.transformations.append(transformation)

    # --- what translation asks ----------------------------------------------------------------------------------------

    @property
    def is_batch(self) -> bool:
        """Whether the program runs in BATCH mode, as far as the settings say: AUTOMATIC counts as such, until it is
        translated."""
        return self.settings.batch

    def plan_settings(self) -> dict[str, Any]:
        """Arguments of the planner's StreamGraphBuilder that hold for the whole program."""
        settings: dict[str, Any] = {"chaining_enabled": self.settings.chaining}
        if self.settings.checkpoint_interval is not None:
            settings["checkpointing_enabled"] = True
            settings["checkpoint_interval"] = self.settings.checkpoint_interval
            settings["checkpointing_mode"] = self.settings.checkpointing_mode
            settings["force_checkpointing"] = self._force_checkpointing
        return settings

    # --- settings -----------------------------------------------------------------------------------------------------

    def _set(self: _Self, **values: Any) -> _Self:
        self.settings = replace(self.settings, **values)
        return self

    def set_parallelism(self: _Self, parallelism: int) -> _Self:
        """Parallelism of operators added from now on: at least 1, or −1 to leave it open."""
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
        """The same for operators: it remembers that the program has not said it for them."""
        return LeftOpen(self.settings.parallelism)

    def set_max_parallelism(self: _Self, max_parallelism: int) -> _Self:
        """Max parallelism of all operators without their own: 1 to 32768 key groups."""
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

    def set_buffer_timeout(self: _Self, timeout_millis: int) -> _Self:
        """Buffer timeout of all operators without their own: 0 or more milliseconds, or −1 for the default."""
        checks.integer(timeout_millis, "set_buffer_timeout", "timeout in milliseconds")
        if timeout_millis < -1:
            checks.illegal_argument(
                f"set_buffer_timeout({timeout_millis}) on the environment: a timeout is 0 or more milliseconds, or -1. "
                "Give one of these."
            )
        return self._set(buffer_timeout=timeout_millis)

    def get_buffer_timeout(self) -> int:
        """Buffer timeout in milliseconds of operators without their own, −1 when unset."""
        return self.settings.buffer_timeout

    def disable_operator_chaining(self: _Self) -> _Self:
        """Run every operator in a task of its own. Results do not change."""
        return self._set(chaining=False)

    def is_chaining_enabled(self) -> bool:
        """Whether operators may share a task."""
        return self.settings.chaining

    def enable_checkpointing(
        self: _Self, interval: int, mode: CheckpointingMode | None = None, force: bool = False
    ) -> _Self:
        """Settings for checkpoints; they enter the plan. A bounded job on Spark takes none.

        Args:
            interval: milliseconds, at least 10.
            mode: EXACTLY_ONCE unless given.
            force: accept iterations, whose records in flight a checkpoint loses.
        """
        checks.integer(interval, "enable_checkpointing", "interval in milliseconds")
        checks.boolean(force, "enable_checkpointing", "force")
        if mode is not None and not isinstance(mode, CheckpointingMode):
            checks.refuse(
                f"enable_checkpointing() was given the mode {checks.shown(mode)}. "
                "Use CheckpointingMode.EXACTLY_ONCE or AT_LEAST_ONCE."
            )
        if interval < MIN_CHECKPOINT_INTERVAL_MS:
            checks.illegal_argument(
                f"enable_checkpointing({interval}): the interval is at least {MIN_CHECKPOINT_INTERVAL_MS} ms. "
                "Leave the call out to run without checkpoints."
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

    def set_stream_time_characteristic(self: _Self, characteristic: TimeCharacteristic) -> _Self:
        """What time means to ``time_window`` and interval joins; ProcessingTime unless set (Flink 1.11)."""
        hint = "Use TimeCharacteristic.EventTime or another."
        checks.instance(characteristic, "set_stream_time_characteristic", TimeCharacteristic, hint)
        return self._set(time_characteristic=characteristic.name)

    def get_stream_time_characteristic(self) -> TimeCharacteristic:
        """The time characteristic."""
        return TimeCharacteristic[self.settings.time_characteristic]

    def set_restart_strategy(self: _Self, restart_strategy: RestartStrategyConfiguration) -> _Self:
        """What happens when the job fails. A job in steps goes on from its newest version, on both executors; unless
        set, it does so with checkpoints enabled, until it has failed five times in a row from one version. Any other
        job begins anew, if set, and on the local executor only: Spark retries tasks by settings of its own.

        Args:
            restart_strategy: made by :class:`penstock.common.RestartStrategies`.
        """
        hint = "Make one: RestartStrategies.fixed_delay_restart(3, 1000)."
        checks.instance(restart_strategy, "set_restart_strategy", RestartStrategyConfiguration, hint)
        self.settings = self.settings.restarting(restart_strategy)
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """What happens when the job fails."""
        return self.settings.restart

    def set_runtime_mode(self: _Self, execution_mode: RuntimeExecutionMode) -> _Self:
        """STREAMING (default): records are processed as they come, and every update is emitted. BATCH: operators with a
        key see one key after the other, and emit what is known at its end; with a source that never ends it is
        refused. AUTOMATIC is BATCH if every source has an end, or else STREAMING."""
        hint = "Use RuntimeExecutionMode.STREAMING, BATCH or AUTOMATIC."
        checks.instance(execution_mode, "set_runtime_mode", RuntimeExecutionMode, hint)
        return self._set(runtime_mode=execution_mode)
