"""AllWindowedStream: windows over a whole stream, in one subtask.

Source: Flink 1.11 ``AllWindowedStream``. (In PyFlink the operator has the environment's parallelism; here, as in Java,
1.)
"""

from __future__ import annotations

from typing import Any

from penstock.common.typeinfo import TypeInformation, Types
from penstock.datastream.functions import KeySelector
from penstock.datastream.program.call_site import call_site
from penstock.datastream.streams.data_stream import DataStream, SingleOutputStreamOperator
from penstock.datastream.streams.keyed_stream import KeyedStream
from penstock.datastream.streams.windowed_stream import Applied, WindowedStream, by_count
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.state import serializers
from penstock.runtime.usercode.naming import java_object
from penstock.runtime.windows import GlobalWindows, WindowAssigner


class NullByteKey(KeySelector):
    """One key for all records, so that a keyed operator can serve a stream without key."""

    def get_key(self, value: Any) -> int:
        return 0


def count_window_all(stream: DataStream, size: int, slide: int | None) -> AllWindowedStream:
    """See :meth:`DataStream.count_window_all`."""
    return by_count(AllWindowedStream(stream, GlobalWindows()), "count_window_all", size, slide)


class AllWindowedStream(WindowedStream):
    """A stream cut into windows, all of them in one subtask."""

    __slots__ = ()

    _keyed = False
    _call = "window_all"

    def __init__(self, stream: DataStream, assigner: WindowAssigner) -> None:
        super().__init__(KeyedStream(stream, KeyPartition(NullByteKey(), Types.BYTE())), assigner)

    def _add(self, applied: Applied, output_type: TypeInformation | None) -> SingleOutputStreamOperator:
        return super()._add(applied, output_type).force_non_parallel()

    def _name(self, applied: Applied) -> str:
        if self._evictor is not None or applied.state == "List":
            kind, serializer = "List", serializers.LIST
        else:
            kind, serializer = applied.state, serializers.serializer_class(applied.state_type)
        contents = f"name=window-contents, defaultValue=null, serializer={java_object(serializer)}"
        parts = [str(self._assigner), f"{kind}StateDescriptor{{{contents}}}", str(self._trigger)]
        if self._evictor is not None:
            parts.append(str(self._evictor))
        return f"TriggerWindow({', '.join(parts)}, AllWindowedStream.{applied.passed_on or call_site()})"
