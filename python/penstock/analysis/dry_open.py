"""Opens a user function only to see which states it asks for, in a context as of a task before the first record.

A shallow copy of the function is opened and closed, so that the program's own object is unchanged; side effects of
``open`` do happen.
"""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.analysis.model import StateModel
from penstock.common import contexts
from penstock.common.functions.state_ttl import StateTtlConfig
from penstock.common.settings.settings import Settings
from penstock.errors import InvalidProgramError
from penstock.metrics.group import MetricGroup, Metrics
from penstock.runtime.chain.context import RuntimeContext
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.timers import Clock
from penstock.runtime.usercode.functions import lifecycle
from penstock.runtime.usercode.shipped import place_of

KINDS = {
    "ValueState": ("value", ("value",)),
    "ListState": ("list", ("element",)),
    "MapState": ("map", ("key", "value")),
    "ReducingState": ("reducing", ("value",)),
    "AggregatingState": ("aggregating", ("accumulator",)),
}
"""Kinds of states and the roles of their types, by their kind in state files."""

_KEY_GROUPS = 128


class Place(NamedTuple):
    """The operator of a function, for its context; ``keyed`` is the key of its input, or None."""

    name: str
    parallelism: int
    max_parallelism: int
    settings: Settings
    keyed: KeyPartition | None


class RecordingContext(RuntimeContext):
    """A runtime context that records the states that it is asked for, by name."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._metrics = Metrics()
        keyed = place.keyed
        clock = None if place.settings.batch else Clock()
        self._state = None if keyed is None else KeyedState(KeyHash(keyed.key_type), _KEY_GROUPS, clock)
        self.states: dict[str, StateModel] = {}

    def __repr__(self) -> str:
        return f"<RuntimeContext of {self.get_task_name_with_subtasks()}>"

    def get_task_name(self) -> str:
        return self._place.name

    def get_task_name_with_subtasks(self) -> str:
        return f"{self._place.name} (1/{self._place.parallelism})"

    def get_number_of_parallel_subtasks(self) -> int:
        return self._place.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        return self._place.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        return 0

    def get_attempt_number(self) -> int:
        return 0

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return self._place.settings.parameter(key, default_value)

    def get_distributed_cache(self) -> contexts.DistributedCache:
        return place_of(None)  # the registered files are missing

    def get_metrics_group(self) -> MetricGroup:
        return MetricGroup(self._metrics)

    def _keyed_state(self) -> KeyedState:
        if self._state is None:
            raise InvalidProgramError(
                f"Operator {self._place.name!r} asks for keyed state in open(), but its input is not keyed. "
                "Call key_by before it.",
                flink_class="java.lang.NullPointerException",
            )
        return self._state

    def _handle(self, kind: type[Any], descriptor: Any, types: tuple[str, ...], *argument: Any) -> Any:
        handle = super()._handle(kind, descriptor, types, *argument)
        name, roles = KINDS[kind.kind]
        declared = zip(roles, (getattr(descriptor, type_name, None) for type_name in types), strict=True)
        texts = {role: repr(declared_type) for role, declared_type in declared if declared_type is not None}
        ttl: StateTtlConfig | None = getattr(descriptor, "ttl_config", None)
        lives = None
        if ttl is not None and ttl.is_enabled():
            lives = f"{ttl.ttl.to_milliseconds()} ms, {ttl.update_type.name}, {ttl.state_visibility.name}"
        state = StateModel(
            str(getattr(descriptor, "name", descriptor)),
            name,
            texts,
            lives,
            tuple(getattr(descriptor, "former_names", ())),
            getattr(descriptor, "version", 0),
            tuple(getattr(descriptor, "field_defaults", ())),
        )
        self.states.setdefault(state.name, state)
        return handle


def asked_in_open(functions: Sequence[Any], place: Place) -> tuple[StateModel, ...]:
    """The states that the functions of one operator ask for in ``open``, in order. Their output is dropped; errors of
    ``open`` are raised."""
    context = RecordingContext(place)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        for function in functions:
            if lifecycle(function, "open") is not None:
                opened = copy.copy(function)
                opened.open(context)
                close = lifecycle(opened, "close")
                with contextlib.suppress(Exception):
                    _ = None if close is None else close()
    return tuple(context.states.values())
