"""Serializers of windows: the bytes that Flink (``TimeWindow.Serializer`` and its siblings) and PyFlink write for
them."""

from __future__ import annotations

import struct
from io import BytesIO

from penstock.common.serialization import TypeSerializer
from penstock.runtime.windows.time_window import CountWindow, GlobalWindow, TimeWindow

_TWO_LONGS = struct.Struct(">qq")
_LONG = struct.Struct(">q")


class TimeWindowSerializer(TypeSerializer[TimeWindow]):
    """Start and end, as longs."""

    def serialize(self, element: TimeWindow, stream: BytesIO) -> None:
        stream.write(_TWO_LONGS.pack(element.start, element.end))

    def deserialize(self, stream: BytesIO) -> TimeWindow:
        return TimeWindow(*_TWO_LONGS.unpack(stream.read(_TWO_LONGS.size)))


class CountWindowSerializer(TypeSerializer[CountWindow]):
    """The number, as a long."""

    def serialize(self, element: CountWindow, stream: BytesIO) -> None:
        stream.write(_LONG.pack(element.id))

    def deserialize(self, stream: BytesIO) -> CountWindow:
        return CountWindow(*_LONG.unpack(stream.read(_LONG.size)))


class GlobalWindowSerializer(TypeSerializer[GlobalWindow]):
    """A byte of no meaning."""

    def serialize(self, element: GlobalWindow, stream: BytesIO) -> None:
        stream.write(b"\0")

    def deserialize(self, stream: BytesIO) -> GlobalWindow:
        stream.read(1)
        return GlobalWindow.get()
