"""The operators a program is made of; one module per family, :mod:`.base` holds the contract."""

from __future__ import annotations

from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.operators.async_wait import AsyncWait
from penstock.runtime.operators.base import LiveOperator, StreamOperator
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
