"""Operators alone whose state is on disk."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.runtime.chain import context
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.state.disk.keyed import DiskKeyedState
from tests.runtime.operators.operators_alone import Alone

MEMORY = [1, 5_000, 1 << 20]
"""For none of the state, for some, and for all."""


def alone_on_disk(spec: StreamOperator, memory: int, *, tracked: bool = False) -> Alone:
    """An operator with so much memory for its state."""
    with pytest.MonkeyPatch.context() as patch:
        make = lambda key_hash, groups, clock=None: DiskKeyedState(key_hash, groups, clock, memory)  # noqa: E731
        patch.setattr(context, "KeyedState", make)
        return Alone(spec, tracked=tracked)


def state_of(alone: Alone) -> Any:
    """Values by place, and timers as they are in the heap."""
    values = {(place, key): _plain(value) for _, place, key, value in alone.state.entries()}
    return values, [[(t.time, t.slot, t.key, t.namespace) for t in queue] for _, queue in alone.state.queues()]


def _plain(value: Any) -> str:
    buffered = getattr(value, "times", None)
    return repr(value) if buffered is None else repr((value.buckets, list(buffered.items())))
