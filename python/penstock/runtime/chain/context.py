"""The contexts of an operator and its user function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.common import contexts
from penstock.errors import InvalidProgramError
from penstock.metrics.group import MetricGroup, Metrics
from penstock.runtime import native
from penstock.runtime.buffers.signals import MIN_WATERMARK
from penstock.runtime.config.tasks import Committable, JobConfig, OperatorConfig, PendingFile, VertexConfig
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.state.disk.keyed import DiskKeyedState
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.operator_time import BatchTime, Clock, OperatorTime
from penstock.runtime.state.store import KeyedStateStore
from penstock.runtime.usercode.failure import OperatorFailure
from penstock.runtime.usercode.shipped import place_of


@dataclass
class OperatorContext:
    """One operator's place in a running task."""

    job: JobConfig
    vertex: VertexConfig
    config: OperatorConfig
    subtask: int
    attempt: int
    send: Callable[[int, bytes], None]  # (kind, payload) to the driver
    files: list[PendingFile] = field(default_factory=list)  # of sinks
    committables: list[Committable] = field(default_factory=list)  # of two-phase sinks
    version: int = 1  # of the state that the running step makes; set before each, as are the next two
    saves: bool = True  # whether the step writes state; if not, this object runs the next one
    commits: bool = True  # whether the step is a checkpoint
    state: KeyedState | None = None
    clock: Clock = field(default_factory=Clock)
    toggle: Callable[[bool], None] = lambda active: None  # takes whether the task is active
    begin_round: Callable[[int], None] = lambda number: None
    look: Callable[[], bool] = lambda: False
    """To be called now and then by who makes many records of one, after having counted them; says whether that should
    be sooner."""
    operator_state: OperatorState = field(default_factory=OperatorState)
    metrics: Metrics = field(default_factory=Metrics)
    tracked: bool = False  # whether keyed state notes what changes, as steps write it down
    time: OperatorTime = field(init=False)

    def __post_init__(self) -> None:
        self.time = BatchTime(self.clock) if self.job.settings.batch else OperatorTime(self.clock)

    @property
    def no_timestamp(self) -> int | None:
        """The timestamp that functions see of a record without one: PyFlink's, by a switch, or None."""
        return MIN_WATERMARK if self.job.settings.pyflink else None

    def fail(self, error: BaseException) -> BaseException:
        """The failure to raise for an exception of user code; a failure passes: the innermost operator names it."""
        return error if isinstance(error, OperatorFailure) else OperatorFailure(self.config, error)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call user code; what it raises becomes this operator's failure."""
        try:
            return function(*args)
        except Exception as error:
            raise self.fail(error) from error

    def keyed_state(self, keyed: KeyPartition) -> KeyedState:
        """The operator's keyed state, made on first use."""
        if self.state is None:
            clock = None if self.job.settings.batch else self.clock  # in BATCH mode Flink knows no time to live
            key_hash, groups, settings = KeyHash(keyed.key_type), self.config.max_parallelism, self.job.settings
            if settings.disk_state:
                self.state = DiskKeyedState(key_hash, groups, clock, settings.state_memory, settings.native)
            else:
                self.state = KeyedState(key_hash, groups, clock)
            self.state.functions = native.functions(settings.native)
            if self.tracked:
                self.state.track()
        return self.state


class RuntimeContext(KeyedStateStore, contexts.RuntimeContext):
    """The argument of a user function's ``open`` (PyFlink: ``RuntimeContext``): where it runs, and keyed state."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def __repr__(self) -> str:
        return f"<RuntimeContext of {self.get_task_name_with_subtasks()}>"

    def get_task_name(self) -> str:
        return self._context.vertex.name

    def get_task_name_with_subtasks(self) -> str:
        return self._context.vertex.task_name(self._context.subtask)

    def get_number_of_parallel_subtasks(self) -> int:
        return self._context.vertex.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        return self._context.config.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        return self._context.subtask

    def get_attempt_number(self) -> int:
        return self._context.attempt

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return self._context.job.settings.parameter(key, default_value)

    def get_distributed_cache(self) -> contexts.DistributedCache:
        return place_of(self._context.job.shipped)

    def get_metrics_group(self) -> MetricGroup:
        return MetricGroup(self._context.metrics)

    def _keyed_state(self) -> KeyedState:
        if self._context.state is None:
            raise InvalidProgramError(
                f"Operator {self._context.config.name!r} asked for keyed state, but its input is not keyed. Call "
                "key_by before it.",
                flink_class="java.lang.NullPointerException",
            )
        return self._context.state


class StatelessContext(RuntimeContext):
    """The context of functions without keyed state; ``refusal`` says why there is none, and what to do."""

    def __init__(self, context: OperatorContext, refusal: str) -> None:
        super().__init__(context)
        self._refusal = refusal

    def _keyed_state(self) -> KeyedState:
        raise InvalidProgramError(self._refusal, flink_class="java.lang.UnsupportedOperationException")
