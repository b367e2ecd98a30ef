"""Opens a copy of a user function only to see which states it asks for, in a context as before the first record."""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.analysis.model import StateModel
from penstock.common.functions.state_ttl import StateTtlConfig
from penstock.common.settings.settings import Settings
from penstock.runtime.chain.context import OperatorContext, RuntimeContext
from penstock.runtime.config.tasks import JobConfig, OperatorConfig, VertexConfig
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_time import Clock
from penstock.runtime.usercode.functions import lifecycle

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


def _drop(kind: int, payload: bytes) -> None:
    """Take a row for the driver."""


class RecordingContext(RuntimeContext):
    """A runtime context that records the states that it is asked for, by name."""

    def __init__(self, place: Place) -> None:
        vertex = VertexConfig(0, place.name, place.parallelism, place.max_parallelism, 0, 0)
        operator = OperatorConfig(0, "", place.name, None, place.max_parallelism, b"")
        context = OperatorContext(JobConfig("", "", place.settings), vertex, operator, 0, 0, _drop)
        if place.keyed is not None:
            clock = None if place.settings.batch else Clock()
            context.state = KeyedState(KeyHash(place.keyed.key_type), _KEY_GROUPS, clock)
        super().__init__(context)
        self.states: dict[str, StateModel] = {}

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
    """The states that the functions of one operator ask for in ``open``, in order. Their output is dropped."""
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
