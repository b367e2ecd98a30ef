"""States and their descriptors, where PyFlink's users look for them."""

from __future__ import annotations

from penstock.common.functions.state import (
    AggregatingState,
    AppendingState,
    BroadcastState,
    ListState,
    MapState,
    MergingState,
    ReadOnlyBroadcastState,
    ReducingState,
    State,
    ValueState,
)
from penstock.common.functions.state_descriptor import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.common.functions.state_ttl import StateTtlConfig

__all__ = [
    "AggregatingState",
    "AggregatingStateDescriptor",
    "AppendingState",
    "BroadcastState",
    "ListState",
    "ListStateDescriptor",
    "MapState",
    "MapStateDescriptor",
    "MergingState",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "ReducingStateDescriptor",
    "State",
    "StateDescriptor",
    "StateTtlConfig",
    "ValueState",
    "ValueStateDescriptor",
]
