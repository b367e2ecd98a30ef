"""Methods of every stream that can be planned but whose operators do not run yet.

Source: Flink 1.11 ``DataStream``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.datastream import checks
from penstock.datastream.plan_only import PlanOnly

if TYPE_CHECKING:
    from penstock.datastream.connected_streams import BroadcastStream
    from penstock.datastream.data_stream import DataStream, SingleOutputStreamOperator
    from penstock.datastream.iterative_stream import IterativeStream


class PlannedMethods:
    """Mixed into DataStream."""

    __slots__ = ()

    @property
    def _itself(self) -> DataStream:
        return cast("DataStream", self)

    def connect(self, ds: DataStream | BroadcastStream) -> Any:
        """This stream and another of any type side by side, for operators with two inputs.

        Args:
            ds: a DataStream, which gives ConnectedStreams, or a BroadcastStream, which gives a
            BroadcastConnectedStream.
        """
        from penstock.datastream.connected_streams import BroadcastConnectedStream, BroadcastStream, ConnectedStreams
        from penstock.datastream.data_stream import DataStream

        if not isinstance(ds, DataStream | BroadcastStream):
            checks.refuse(f"connect() was given {ds!r}, which is no DataStream.")
        checks.same_environment(self, ds, "connect")
        if isinstance(ds, DataStream):
            return ConnectedStreams(self._itself, ds)
        return BroadcastConnectedStream(self._itself, ds)

    def iterate(self, max_wait_time_ms: int = 0) -> IterativeStream:
        """Start a loop at this stream; ``close_with`` on the result ends it.

        Args:
            max_wait_time_ms: how long the loop waits for feedback before it ends; 0 waits for ever.
        """
        from penstock.datastream.iterative_stream import IterativeStream

        return IterativeStream(self._itself, max_wait_time_ms)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> SingleOutputStreamOperator:
        """Give records event times, and the stream watermarks. The parallelism is the input's."""
        if not isinstance(watermark_strategy, WatermarkStrategy):
            checks.refuse(
                f"assign_timestamps_and_watermarks() was given {watermark_strategy!r}; give a WatermarkStrategy, such "
                "as WatermarkStrategy.for_monotonous_timestamps()."
            )
        stream = self._itself
        operator = PlanOnly("assign_timestamps_and_watermarks", watermark_strategy)
        added = stream._transform("Timestamps/Watermarks", operator, stream.transformation.output_type)
        return added.set_parallelism(stream.transformation.parallelism)
