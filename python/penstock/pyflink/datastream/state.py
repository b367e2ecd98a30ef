"""The names of PyFlink's ``pyflink.datastream.state``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.scalar_types import TypeInformation
from penstock.common.state import (
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
from penstock.common.state_descriptor import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.common.state_ttl import StateTtlConfig
from penstock.common.time import Duration, Time
from penstock.common.typeinfo import Types
from penstock.pyflink.missing import OperatorStateStore
from penstock.pyflink.variables import IN, OUT, K, T, V

__all__ = [
    "IN",
    "OUT",
    "AggregatingState",
    "AggregatingStateDescriptor",
    "AppendingState",
    "BroadcastState",
    "Duration",
    "K",
    "ListState",
    "ListStateDescriptor",
    "MapState",
    "MapStateDescriptor",
    "MergingState",
    "OperatorStateStore",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "ReducingStateDescriptor",
    "State",
    "StateDescriptor",
    "StateTtlConfig",
    "T",
    "Time",
    "TypeInformation",
    "Types",
    "V",
    "ValueState",
    "ValueStateDescriptor",
]
