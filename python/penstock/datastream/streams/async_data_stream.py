"""AsyncDataStream: slow calls, many at a time.

Source: Flink 1.11 ``AsyncDataStream``; spelling: ``pyflink.datastream.AsyncDataStream``.
"""
# pyright: reportPrivateUsage=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

from typing import Any, TypeVar

from penstock.common import checks
from penstock.common.time import Span, milliseconds_of
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.functions import AsyncFunction
from penstock.datastream.program.transformations import YieldingTransformation
from penstock.datastream.streams.data_stream import DataStream, SingleOutputStreamOperator
from penstock.runtime.operators.async_wait import AsyncWait

T = TypeVar("T")
U = TypeVar("U")


class AsyncDataStream:
    """Holds the two ways to wait."""

    @staticmethod
    def ordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, U],
        timeout: Span,
        capacity: int = 100,
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Results in the order of the input.

        Args:
            data_stream: the input.
            async_function: makes the calls.
            timeout: how long one may take; Time, Duration or milliseconds.
            capacity: how many may be under way; fewer than 1 can be planned, not run, as in Flink.
            output_type: type of the results.
        """
        return _wait("ordered_wait", True, data_stream, async_function, timeout, capacity, output_type)

    @staticmethod
    def unordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, U],
        timeout: Span,
        capacity: int = 100,
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Results as they come, between two watermarks; arguments as for :meth:`ordered_wait`."""
        return _wait("unordered_wait", False, data_stream, async_function, timeout, capacity, output_type)


def _wait(
    call: str,
    ordered: bool,
    stream: DataStream[Any],
    func: Any,
    timeout: Any,
    capacity: Any,
    output_type: TypeInformation[Any] | None,
) -> SingleOutputStreamOperator[Any]:
    checks.instance(stream, call, DataStream, "Give the stream first.", ", which is no DataStream")
    checks.function(func, call, "async_invoke")
    timeout_ms = milliseconds_of(timeout, call, "timeout")
    checks.integer(capacity, call, "capacity")
    checks.type_info(output_type, call)
    operator = AsyncWait(func, ordered, timeout_ms, capacity, output_type)
    return stream._transform("async wait operator", operator, output_type, kind=YieldingTransformation)
