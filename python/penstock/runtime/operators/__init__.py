"""The operators a program is made of, one module per family. The contract is :mod:`penstock.runtime.chain.operator`.

A name is imported from its module when it is first asked for: a task of Spark loads the families that its chain has.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
    from penstock.runtime.chain.operator import LiveOperator, StreamOperator
    from penstock.runtime.operators.async_wait import AsyncWait
    from penstock.runtime.operators.broadcast import BroadcastProcess
    from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
    from penstock.runtime.operators.interval_join import IntervalJoin
    from penstock.runtime.operators.iteration import IterationHead, IterationTail
    from penstock.runtime.operators.process import KeyedProcessOperator, ProcessOperator
    from penstock.runtime.operators.reduce import GroupedFold, GroupedReduce
    from penstock.runtime.operators.sink import StreamSink
    from penstock.runtime.operators.source import FileReader, StreamSource
    from penstock.runtime.operators.two_inputs import CoFlatMap, CoMap, CoProcess, TwoInputOperator
    from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
    from penstock.runtime.operators.window import WindowOperator

__all__ = [
    "AsyncWait",
    "BroadcastProcess",
    "CoFlatMap",
    "CoMap",
    "CoProcess",
    "ComparableAggregator",
    "FileReader",
    "GroupedFold",
    "GroupedReduce",
    "IntervalJoin",
    "IterationHead",
    "IterationTail",
    "KeyedProcessOperator",
    "LiveOperator",
    "ProcessOperator",
    "StreamFilter",
    "StreamFlatMap",
    "StreamMap",
    "StreamOperator",
    "StreamSink",
    "StreamSource",
    "SumAggregator",
    "TimestampsAndWatermarks",
    "TwoInputOperator",
    "WindowOperator",
]

_MODULES = {
    "ComparableAggregator": "penstock.runtime.aggregators",
    "SumAggregator": "penstock.runtime.aggregators",
    "AsyncWait": "penstock.runtime.operators.async_wait",
    "LiveOperator": "penstock.runtime.chain.operator",
    "StreamOperator": "penstock.runtime.chain.operator",
    "BroadcastProcess": "penstock.runtime.operators.broadcast",
    "StreamFilter": "penstock.runtime.operators.elementwise",
    "StreamFlatMap": "penstock.runtime.operators.elementwise",
    "StreamMap": "penstock.runtime.operators.elementwise",
    "IntervalJoin": "penstock.runtime.operators.interval_join",
    "IterationHead": "penstock.runtime.operators.iteration",
    "IterationTail": "penstock.runtime.operators.iteration",
    "KeyedProcessOperator": "penstock.runtime.operators.process",
    "ProcessOperator": "penstock.runtime.operators.process",
    "GroupedFold": "penstock.runtime.operators.reduce",
    "GroupedReduce": "penstock.runtime.operators.reduce",
    "StreamSink": "penstock.runtime.operators.sink",
    "FileReader": "penstock.runtime.operators.source",
    "StreamSource": "penstock.runtime.operators.source",
    "CoFlatMap": "penstock.runtime.operators.two_inputs",
    "CoMap": "penstock.runtime.operators.two_inputs",
    "CoProcess": "penstock.runtime.operators.two_inputs",
    "TwoInputOperator": "penstock.runtime.operators.two_inputs",
    "TimestampsAndWatermarks": "penstock.runtime.operators.watermarks",
    "WindowOperator": "penstock.runtime.operators.window",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value
