"""The operators a program is made of; one module per family, :mod:`.base` holds the contract."""

from __future__ import annotations

from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.operators.base import LiveOperator, StreamOperator
from penstock.runtime.operators.elementwise import (
    KeyedProcessOperator,
    ProcessOperator,
    StreamFilter,
    StreamFlatMap,
    StreamMap,
)
from penstock.runtime.operators.reduce import GroupedReduce
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import FileReader, StreamSource
from penstock.runtime.operators.window import WindowOperator

__all__ = [
    "ComparableAggregator",
    "FileReader",
    "GroupedReduce",
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
    "WindowOperator",
]
