"""AsyncDataStream: slow calls, many at a time. Source: Flink 1.11 ``AsyncDataStream``, for retries Flink 2.3."""
# pyright: reportPrivateUsage=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

from typing import Any, TypeVar

from penstock.common import checks
from penstock.common.async_retry import AsyncRetryStrategy
from penstock.common.time import Span, milliseconds_of
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.functions import AsyncFunction
from penstock.datastream.program.transformations import YieldingTransformation
from penstock.datastream.streams.data_stream import DataStream, SingleOutputStreamOperator
from penstock.runtime.operators.async_wait import AsyncWait

T = TypeVar("T")
U = TypeVar("U")


class AsyncDataStream:
    """The ways to wait: with the results in order or as they come, with retries or without."""

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
        return _wait("ordered_wait", data_stream, async_function, timeout, capacity, output_type)

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, U],
        timeout: Span,
        async_retry_strategy: AsyncRetryStrategy[U],
        capacity: int = 100,
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Like :meth:`ordered_wait`; calls that fail, or whose results are not good enough, are made again, as
        ``async_retry_strategy`` says. The timeout, above 0, is for a call with all its retries and waits; calls that
        wait for a retry count as under way."""
        retry = _checked(async_retry_strategy, timeout, "ordered_wait_with_retry")
        return _wait("ordered_wait_with_retry", data_stream, async_function, timeout, capacity, output_type, retry)

    @staticmethod
    def unordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, U],
        timeout: Span,
        capacity: int = 100,
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Results in the order of their completion, between two watermarks; arguments as for :meth:`ordered_wait`."""
        return _wait("unordered_wait", data_stream, async_function, timeout, capacity, output_type)

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, U],
        timeout: Span,
        async_retry_strategy: AsyncRetryStrategy[U],
        capacity: int = 100,
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Results in the order of their completion, with retries; arguments as for :meth:`ordered_wait_with_retry`."""
        retry = _checked(async_retry_strategy, timeout, "unordered_wait_with_retry")
        return _wait("unordered_wait_with_retry", data_stream, async_function, timeout, capacity, output_type, retry)


def _checked(strategy: AsyncRetryStrategy[U], timeout: Any, call: str) -> AsyncRetryStrategy[U]:
    if milliseconds_of(timeout, call, "timeout") < 1:
        checks.illegal_argument(
            f"{call}() was given the timeout {checks.shown(timeout)}: with retries a call needs an end. Give the time "
            "that all its attempts may take."
        )
    hint = "Give one such as AsyncRetryStrategy.fixed_delay(3, 100, None, lambda error: True)."
    return checks.instance(strategy, call, AsyncRetryStrategy, hint, " as retry strategy")


def _wait(
    call: str,
    stream: DataStream[Any],
    func: Any,
    timeout: Any,
    capacity: Any,
    output_type: TypeInformation[Any] | None,
    retry: AsyncRetryStrategy[Any] | None = None,
) -> SingleOutputStreamOperator[Any]:
    checks.instance(stream, call, DataStream, "Give the stream first.", ", which is not a DataStream")
    checks.function(func, call, "async_invoke")
    timeout_ms = milliseconds_of(timeout, call, "timeout")
    checks.integer(capacity, call, "capacity")
    checks.type_info(output_type, call)
    operator = AsyncWait(func, call.startswith("ordered"), timeout_ms, capacity, output_type, retry)
    return stream._transform("async wait operator", operator, output_type, kind=YieldingTransformation)
