"""What a user writes: environment, streams, windows, functions, with PyFlink's names and Flink 1.11's plans.

A program is built here and handed, translated, to an executor; nothing in this package runs a record.
"""

from __future__ import annotations

from penstock.common import OutputTag, RuntimeExecutionMode, TimeDomain
from penstock.datastream.environment.environment import StreamExecutionEnvironment
from penstock.datastream.formats import (
    FileInputFormat,
    FileProcessingMode,
    InputFormat,
    OutputFormat,
    Source,
    TextInputFormat,
)
from penstock.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoGroupFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatJoinFunction,
    FlatMapFunction,
    Function,
    JoinFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ParallelSourceFunction,
    Partitioner,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    ReduceFunction,
    RuntimeContext,
    SinkFunction,
    SourceFunction,
    WindowFunction,
)
from penstock.datastream.program.program import CheckpointingMode, TimeCharacteristic
from penstock.datastream.program.resources import ResourceSpec
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.datastream.streams.all_windowed_stream import AllWindowedStream
from penstock.datastream.streams.async_data_stream import AsyncDataStream
from penstock.datastream.streams.collecting import CloseableIterator
from penstock.datastream.streams.connected_streams import BroadcastConnectedStream, BroadcastStream, ConnectedStreams
from penstock.datastream.streams.data_stream import DataStream, DataStreamSource, SingleOutputStreamOperator
from penstock.datastream.streams.iterative_stream import IterativeStream
from penstock.datastream.streams.keyed_stream import DataStreamUtils, KeyedStream
from penstock.datastream.streams.sink import DataStreamSink
from penstock.datastream.streams.windowed_stream import WindowedStream

__all__ = [
    "AggregateFunction",
    "AggregatingStateDescriptor",
    "AllWindowFunction",
    "AllWindowedStream",
    "AsyncDataStream",
    "AsyncFunction",
    "BroadcastConnectedStream",
    "BroadcastProcessFunction",
    "BroadcastStream",
    "CheckpointingMode",
    "CloseableIterator",
    "CoFlatMapFunction",
    "CoGroupFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "DataStreamSource",
    "DataStreamUtils",
    "FileInputFormat",
    "FileProcessingMode",
    "FilterFunction",
    "FlatJoinFunction",
    "FlatMapFunction",
    "Function",
    "InputFormat",
    "IterativeStream",
    "JoinFunction",
    "KeySelector",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStream",
    "ListStateDescriptor",
    "MapFunction",
    "MapStateDescriptor",
    "OutputFormat",
    "OutputTag",
    "ParallelSourceFunction",
    "Partitioner",
    "ProcessAllWindowFunction",
    "ProcessFunction",
    "ProcessJoinFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "ReducingStateDescriptor",
    "ResourceSpec",
    "RuntimeContext",
    "RuntimeExecutionMode",
    "SingleOutputStreamOperator",
    "SinkFunction",
    "Source",
    "SourceFunction",
    "StreamExecutionEnvironment",
    "TextInputFormat",
    "TimeCharacteristic",
    "TimeDomain",
    "ValueStateDescriptor",
    "WindowFunction",
    "WindowedStream",
]
