"""What a user writes: environment, streams, windows, functions, with PyFlink's names and Flink 1.11's plans.

A program is built here and handed, translated, to an executor; nothing in this package runs a record.
"""

from __future__ import annotations

from penstock.common import OutputTag, RuntimeExecutionMode
from penstock.datastream.collecting import CloseableIterator
from penstock.datastream.data_stream import DataStream, DataStreamSink, DataStreamSource, SingleOutputStreamOperator
from penstock.datastream.environment import StreamExecutionEnvironment
from penstock.datastream.functions import (
    AggregateFunction,
    FilterFunction,
    FlatMapFunction,
    Function,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ParallelSourceFunction,
    Partitioner,
    ProcessFunction,
    ReduceFunction,
    RuntimeContext,
    SinkFunction,
    SourceFunction,
)
from penstock.datastream.keyed_stream import KeyedStream
from penstock.datastream.resources import ResourceSpec
from penstock.datastream.settings import CheckpointingMode, TimeCharacteristic
from penstock.datastream.windowed_stream import WindowedStream

__all__ = [
    "AggregateFunction",
    "CheckpointingMode",
    "CloseableIterator",
    "DataStream",
    "DataStreamSink",
    "DataStreamSource",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "KeySelector",
    "KeyedProcessFunction",
    "KeyedStream",
    "MapFunction",
    "OutputTag",
    "ParallelSourceFunction",
    "Partitioner",
    "ProcessFunction",
    "ReduceFunction",
    "ResourceSpec",
    "RuntimeContext",
    "RuntimeExecutionMode",
    "SingleOutputStreamOperator",
    "SinkFunction",
    "SourceFunction",
    "StreamExecutionEnvironment",
    "TimeCharacteristic",
    "WindowedStream",
]
