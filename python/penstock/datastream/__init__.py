"""The API of a program: environment, streams, windows, functions, with PyFlink's names and Flink 1.11's plans.

A program is built here and passed, translated, to an executor; nothing in this package processes a record.
"""

from __future__ import annotations

from penstock.common import OutputTag, RuntimeExecutionMode, TimeDomain
from penstock.common.contexts import TimerService
from penstock.datastream import functions, input_formats, state
from penstock.datastream.environment.environment import StreamExecutionEnvironment
from penstock.datastream.functions import *
from penstock.datastream.input_formats import *
from penstock.datastream.program.checkpoint_config import (
    CheckpointConfig,
    CheckpointingMode,
    CheckpointStorage,
    CustomCheckpointStorage,
    ExternalizedCheckpointCleanup,
    ExternalizedCheckpointRetention,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from penstock.datastream.program.program import TimeCharacteristic
from penstock.datastream.slot_sharing_group import MemorySize, ResourceSpec, SlotSharingGroup
from penstock.datastream.state import *
from penstock.datastream.state_backend import (
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    FsStateBackend,
    HashMapStateBackend,
    MemoryStateBackend,
    PredefinedOptions,
    RocksDBStateBackend,
    StateBackend,
)
from penstock.datastream.streams.async_data_stream import AsyncDataStream
from penstock.datastream.streams.connected_streams import (
    BroadcastConnectedStream,
    BroadcastStream,
    ConnectedStreams,
    IterativeStream,
)
from penstock.datastream.streams.data_stream import (
    CachedDataStream,
    DataStream,
    DataStreamSource,
    SingleOutputStreamOperator,
)
from penstock.datastream.streams.keyed_stream import DataStreamUtils, KeyedStream, QueryableStateStream
from penstock.datastream.streams.sink import CloseableIterator, DataStreamSink
from penstock.datastream.streams.windowed_stream import AllWindowedStream, WindowedStream

__all__ = [
    "AllWindowedStream",
    "AsyncDataStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CheckpointConfig",
    "CheckpointStorage",
    "CheckpointingMode",
    "CloseableIterator",
    "ConnectedStreams",
    "CustomCheckpointStorage",
    "CustomStateBackend",
    "DataStream",
    "DataStreamSink",
    "DataStreamSource",
    "DataStreamUtils",
    "EmbeddedRocksDBStateBackend",
    "ExternalizedCheckpointCleanup",
    "ExternalizedCheckpointRetention",
    "FileSystemCheckpointStorage",
    "FsStateBackend",
    "HashMapStateBackend",
    "IterativeStream",
    "JobManagerCheckpointStorage",
    "KeyedStream",
    "MemorySize",
    "MemoryStateBackend",
    "OutputTag",
    "PredefinedOptions",
    "QueryableStateStream",
    "ResourceSpec",
    "RocksDBStateBackend",
    "RuntimeExecutionMode",
    "SingleOutputStreamOperator",
    "SlotSharingGroup",
    "StateBackend",
    "StreamExecutionEnvironment",
    "TimeCharacteristic",
    "TimeDomain",
    "TimerService",
    "WindowedStream",
]
__all__ += functions.__all__
__all__ += input_formats.__all__
__all__ += state.__all__
