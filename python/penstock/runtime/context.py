"""What an operator and its user function know about where they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import InvalidProgramError, UnsupportedError
from penstock.runtime.binding import bind
from penstock.runtime.config import JobConfig, OperatorConfig, PendingFile, VertexConfig
from penstock.runtime.failure import OperatorFailure
from penstock.runtime.javahash import KeyHash
from penstock.runtime.partition import KeyPartition
from penstock.runtime.state import KeyedState, ListState, ReducingState, ValueState


@dataclass
class OperatorContext:
    """One operator's place in a running task.

    Attributes:
        job, vertex, config: the descriptors.
        subtask: index from 0.
        attempt: number from 0.
        send: (kind, payload) sends a row to the driver.
        files: takes the pending files of sinks.
        state: keyed state, when the operator is keyed.
    """

    job: JobConfig
    vertex: VertexConfig
    config: OperatorConfig
    subtask: int
    attempt: int
    send: Callable[[int, bytes], None]
    files: list[PendingFile] = field(default_factory=list)
    state: KeyedState | None = None

    def fail(self, error: BaseException) -> BaseException:
        """The failure to raise for an exception of user code; a failure passes: the innermost operator names it."""
        return error if isinstance(error, OperatorFailure) else OperatorFailure(self.config, error)

    def keyed_state(self, keyed: KeyPartition) -> KeyedState:
        """The operator's keyed state, made on first use."""
        if self.state is None:
            self.state = KeyedState(KeyHash(keyed.key_type), self.config.max_parallelism)
        return self.state


class RuntimeContext:
    """What a user function's ``open`` is given (PyFlink: ``RuntimeContext``)."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def get_task_name(self) -> str:
        """Name of the chain."""
        return self._context.vertex.name

    def get_task_name_with_subtasks(self) -> str:
        """Name of the chain and the subtask: ``Map (2/7)``."""
        return self._context.vertex.task_name(self._context.subtask)

    def get_number_of_parallel_subtasks(self) -> int:
        """Parallelism."""
        return self._context.vertex.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Maximum parallelism of this operator."""
        return self._context.config.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        """Subtask, from 0."""
        return self._context.subtask

    def get_attempt_number(self) -> int:
        """Attempt, from 0."""
        return self._context.attempt

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """A setting of the program's configuration, or the default."""
        return self._context.job.settings.get(key, default_value)

    def get_state(self, state_descriptor: Any) -> ValueState:
        """A value per key."""
        name, default = _name(state_descriptor), getattr(state_descriptor, "default_value", None)
        return ValueState(self._keyed(), name, default)

    def get_list_state(self, state_descriptor: Any) -> ListState:
        """A list per key."""
        return ListState(self._keyed(), _name(state_descriptor))

    def get_reducing_state(self, state_descriptor: Any) -> ReducingState:
        """A running reduction per key."""
        function = getattr(state_descriptor, "reduce_function", None)
        if function is None:
            function = state_descriptor.get_reduce_function()
        return ReducingState(self._keyed(), _name(state_descriptor), bind(function, "reduce"))

    def get_map_state(self, state_descriptor: Any) -> Any:
        """Not supported yet."""
        raise UnsupportedError("Map state is not supported yet. Keep a dict in a ValueState instead.")

    def get_aggregating_state(self, state_descriptor: Any) -> Any:
        """Not supported yet."""
        raise UnsupportedError("Aggregating state is not supported yet. Keep the accumulator in a ValueState instead.")

    def _keyed(self) -> KeyedState:
        if self._context.state is None:
            raise InvalidProgramError(
                f"Operator {self._context.config.name!r} asked for keyed state, but its input is not keyed. Call "
                "key_by before it.",
                flink_class="java.lang.NullPointerException",
            )
        return self._context.state


def _name(descriptor: Any) -> Any:
    if isinstance(descriptor, str):
        return descriptor
    getter = getattr(descriptor, "get_name", None)
    return getter() if callable(getter) else descriptor.name
