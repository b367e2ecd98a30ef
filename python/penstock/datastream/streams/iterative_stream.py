"""Iterations: streams with feedback to an earlier point.

Source: Flink 1.11 ``IterativeStream``.
"""

from __future__ import annotations

from typing import TypeVar

from penstock.common import checks
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.program.transformations import FeedbackTransformation
from penstock.datastream.streams.connected_streams import ConnectedIterativeStreams, close_loop
from penstock.datastream.streams.data_stream import DataStream, SingleOutputStreamOperator

T = TypeVar("T", covariant=True)
U = TypeVar("U")


class IterativeStream(SingleOutputStreamOperator[T]):
    """The result of ``iterate``: the loop's input together with its feedback."""

    __slots__ = ("_origin",)

    def __init__(self, origin: DataStream[T], max_wait_time_ms: int) -> None:
        checks.integer(max_wait_time_ms, "iterate", "waiting time in milliseconds")
        program, before = origin.get_execution_environment(), origin.transformation
        loop = FeedbackTransformation(
            program.next_id(), "Feedback", before.output_type, before.parallelism, before, max_wait_time_ms
        )
        super().__init__(program, loop)
        self._origin = origin

    def close_with(self, feedback_stream: DataStream[U]) -> DataStream[U]:
        """Feed a stream back to the start of the loop; may be called for several streams.

        Args:
            feedback_stream: comes from this iteration and has its parallelism.

        Returns:
            ``feedback_stream`` itself.
        """
        return close_loop(self.transformation, feedback_stream)

    def with_feedback_type(self, feedback_type: TypeInformation[U]) -> ConnectedIterativeStreams[T, U]:
        """Turn the loop into two connected streams: its input, and feedback of another type."""
        checks.type_info(feedback_type, "with_feedback_type", "feedback_type")
        program, before = self._program, self._origin.transformation
        assert isinstance(self.transformation, FeedbackTransformation)
        wait = self.transformation.max_wait_time
        loop = FeedbackTransformation(program.next_id(), "CoFeedback", feedback_type, before.parallelism, None, wait)
        feedback: DataStream[U] = DataStream(program, loop)
        return ConnectedIterativeStreams(self._origin, feedback)
