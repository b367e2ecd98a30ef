"""The streams under PyFlink's path."""

from __future__ import annotations

from penstock.datastream.streams.all_windowed_stream import AllWindowedStream
from penstock.datastream.streams.cached import CachedDataStream
from penstock.datastream.streams.collecting import CloseableIterator
from penstock.datastream.streams.connected_streams import BroadcastConnectedStream, BroadcastStream, ConnectedStreams
from penstock.datastream.streams.data_stream import DataStream
from penstock.datastream.streams.keyed_stream import KeyedStream
from penstock.datastream.streams.sink import DataStreamSink
from penstock.datastream.streams.windowed_stream import WindowedStream

__all__ = [
    "AllWindowedStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "KeyedStream",
    "WindowedStream",
]
