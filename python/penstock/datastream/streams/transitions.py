"""Methods that lead from one stream to another kind: timed, windowed, joined, connected, iterated, cached; and
to its settings.

Source: Flink 1.11 ``DataStream``; for ``cache`` 2.3.
"""
# pyright: reportPrivateUsage=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Literal, TypeVar, cast, overload

from penstock.common import checks
from penstock.common.time import Span
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from penstock.runtime.windows.assigners import GlobalWindows, WindowAssigner
from penstock.runtime.windows.time_window import GlobalWindow, TimeWindow

if TYPE_CHECKING:
    from penstock.common import ExecutionConfig
    from penstock.datastream.streams.all_windowed_stream import AllWindowedStream
    from penstock.datastream.streams.cached import CachedDataStream
    from penstock.datastream.streams.connected_streams import (
        BroadcastConnectedStream,
        BroadcastStream,
        ConnectedStreams,
    )
    from penstock.datastream.streams.data_stream import DataStream, SingleOutputStreamOperator
    from penstock.datastream.streams.iterative_stream import IterativeStream
    from penstock.datastream.streams.joined_streams import JoinedStreams

T = TypeVar("T", covariant=True)
B = TypeVar("B")
W = TypeVar("W")
M = TypeVar("M", Literal["join"], Literal["co_group"])


class Transitions(Generic[T]):
    """Mixed into DataStream."""

    __slots__ = ()

    @property
    def _itself(self) -> DataStream[T]:
        return cast("DataStream[T]", self)

    def get_execution_config(self) -> ExecutionConfig:
        """Settings of the program; see ``get_config()`` of the environment."""
        return self._itself.get_execution_environment().get_config()

    @overload
    def connect(self, ds: DataStream[B]) -> ConnectedStreams[T, B]: ...

    @overload
    def connect(self, ds: BroadcastStream[B]) -> BroadcastConnectedStream[T, B]: ...

    def connect(
        self, ds: DataStream[B] | BroadcastStream[B]
    ) -> ConnectedStreams[T, B] | BroadcastConnectedStream[T, B]:
        """This stream and another of any type side by side, for operators with two inputs.

        Args:
            ds: a DataStream gives ConnectedStreams, a BroadcastStream gives a BroadcastConnectedStream.
        """
        from penstock.datastream.streams.connected_streams import (
            BroadcastConnectedStream,
            BroadcastStream,
            ConnectedStreams,
        )
        from penstock.datastream.streams.data_stream import DataStream

        checks.stream(ds, "connect", (DataStream, BroadcastStream))
        checks.same_environment(self, ds, "connect")
        if isinstance(ds, DataStream):
            return ConnectedStreams(self._itself, ds)
        return BroadcastConnectedStream(self._itself, ds)

    def cache(self) -> CachedDataStream[T]:
        """This stream, computed once: by the first job of the environment that needs it; later jobs begin with its
        records, which are in the driver's memory meanwhile. In BATCH mode; in STREAMING mode it is the stream itself,
        as in Flink.

        Raises:
            InvalidProgramError: it is neither an operator's output nor a side output (Flink: IllegalStateException).
        """
        from penstock.datastream.streams.cached import CachedDataStream

        return CachedDataStream(self._itself)

    def iterate(self, max_wait_time_ms: int = 0) -> IterativeStream[T]:
        """Start a loop at this stream; ``close_with`` on the result ends it. Loops run on the local executor, and end
        when nothing is led back any more.

        Args:
            max_wait_time_ms: how long Flink waits for feedback before it ends; 0: for ever. It is carried in the plan.
        """
        from penstock.datastream.streams.iterative_stream import IterativeStream

        return IterativeStream(self._itself, max_wait_time_ms)

    def assign_timestamps_and_watermarks(
        self, watermark_strategy: WatermarkStrategy[T]
    ) -> SingleOutputStreamOperator[T]:
        """Give records event times, and the stream watermarks. The parallelism is the input's."""
        hint = "Give a WatermarkStrategy, such as WatermarkStrategy.for_monotonous_timestamps()."
        checks.instance(watermark_strategy, "assign_timestamps_and_watermarks", WatermarkStrategy, hint)
        stream = self._itself
        operator = TimestampsAndWatermarks(watermark_strategy)
        added = stream._transform("Timestamps/Watermarks", operator, stream.transformation.output_type)
        return added.set_parallelism(stream.transformation.parallelism)

    def window_all(self, window_assigner: WindowAssigner[T, W]) -> AllWindowedStream[T, W]:
        """Windows over the whole stream, in one subtask."""
        from penstock.datastream.streams.all_windowed_stream import AllWindowedStream

        return AllWindowedStream(self._itself, window_assigner)

    def time_window_all(self, size: Span, slide: Span | None = None) -> AllWindowedStream[T, TimeWindow]:
        """Tumbling or, with ``slide``, sliding windows over the whole stream in the environment's time
        characteristic."""
        from penstock.datastream.streams.keyed_stream import time_assigner

        return self.window_all(time_assigner(self._itself.get_execution_environment(), size, slide))

    def count_window_all(self, size: int, slide: int | None = None) -> AllWindowedStream[T, GlobalWindow]:
        """Windows by number of records over the whole stream, in one subtask.

        Args:
            size: records in a window. Without ``slide`` a window fires when full and starts anew.
            slide: fire every ``slide`` records, over the last ``size`` ones; the first firings hold fewer.
        """
        return self.window_all(GlobalWindows())._by_count("count_window_all", size, slide)

    def join(self, other_stream: DataStream[B]) -> JoinedStreams[T, B, Literal["join"]]:
        """Pair records of equal keys within windows: ``join(other).where(…).equal_to(…).window(…).apply(…)``."""
        return self._joined(other_stream, "join")

    def co_group(self, other_stream: DataStream[B]) -> JoinedStreams[T, B, Literal["co_group"]]:
        """Like :meth:`join`, but the function sees both groups of a key and window, also when one is empty."""
        return self._joined(other_stream, "co_group")

    def _joined(self, other: DataStream[B], method: M) -> JoinedStreams[T, B, M]:
        from penstock.datastream.streams.data_stream import DataStream
        from penstock.datastream.streams.joined_streams import JoinedStreams

        checks.stream(other, method, DataStream)
        checks.same_environment(self, other, method)
        return JoinedStreams(self._itself, other, method)
