"""AsyncDataStream: slow calls, many at a time. Source: Flink 1.11 ``AsyncDataStream``, for retries Flink 2.3, for calls
with many records PyFlink's development branch (2.4)."""
# pyright: reportPrivateUsage=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

import inspect
from typing import Any, NamedTuple, TypeVar

from penstock.common import checks
from penstock.common.async_retry import AsyncRetryStrategy
from penstock.common.time import Span, milliseconds_of
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.functions import AsyncBatchFunction, AsyncFunction
from penstock.datastream.program.transformations import YieldingTransformation
from penstock.datastream.streams.data_stream import DataStream, SingleOutputStreamOperator
from penstock.runtime.operators.async_wait import AsyncBatchWait, AsyncWait

T = TypeVar("T")
U = TypeVar("U")


class AsyncDataStream:
    """The ways to wait: with the results in order or as they come, with retries or without, for calls with one record
    or with many."""

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

    @staticmethod
    def ordered_wait_batch(
        data_stream: DataStream[T],
        async_batch_function: AsyncBatchFunction[T, U],
        timeout: Span,
        batch_size: int,
        batch_timeout: Span | None = None,
        capacity: int = 100,
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """A call for many records, its results in the order of the input.

        Args:
            data_stream: the input.
            async_batch_function: makes the calls.
            timeout: how long a call may take, above 0; Time, Duration or milliseconds.
            batch_size: the most records of a call.
            batch_timeout: how long a record waits for others, at most. None: until there are enough of them, and in any
                case not over a watermark, a checkpoint, or the end of the input.
            capacity: how many calls may be under way.
            output_type: type of the results.
        """
        batch = _Batch(batch_size, batch_timeout)
        return _wait(
            "ordered_wait_batch", data_stream, async_batch_function, timeout, capacity, output_type, batch=batch
        )

    @staticmethod
    def ordered_wait_batch_with_retry(
        data_stream: DataStream[T],
        async_batch_function: AsyncBatchFunction[T, U],
        timeout: Span,
        batch_size: int,
        async_retry_strategy: AsyncRetryStrategy[U],
        batch_timeout: Span | None = None,
        capacity: int = 100,
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Like :meth:`ordered_wait_batch`, with retries of whole calls as in :meth:`ordered_wait_with_retry` (not in
        PyFlink)."""
        call, batch = "ordered_wait_batch_with_retry", _Batch(batch_size, batch_timeout)
        retry = _checked(async_retry_strategy, timeout, call)
        return _wait(call, data_stream, async_batch_function, timeout, capacity, output_type, retry, batch)

    @staticmethod
    def unordered_wait_batch(
        data_stream: DataStream[T],
        async_batch_function: AsyncBatchFunction[T, U],
        timeout: Span,
        batch_size: int,
        batch_timeout: Span | None = None,
        capacity: int = 100,
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """A call for many records, its results as they come; arguments as for :meth:`ordered_wait_batch`."""
        call, batch = "unordered_wait_batch", _Batch(batch_size, batch_timeout)
        return _wait(call, data_stream, async_batch_function, timeout, capacity, output_type, batch=batch)

    @staticmethod
    def unordered_wait_batch_with_retry(
        data_stream: DataStream[T],
        async_batch_function: AsyncBatchFunction[T, U],
        timeout: Span,
        batch_size: int,
        async_retry_strategy: AsyncRetryStrategy[U],
        batch_timeout: Span | None = None,
        capacity: int = 100,
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Results as they come, with retries; arguments as for :meth:`ordered_wait_batch_with_retry`."""
        call, batch = "unordered_wait_batch_with_retry", _Batch(batch_size, batch_timeout)
        retry = _checked(async_retry_strategy, timeout, call)
        return _wait(call, data_stream, async_batch_function, timeout, capacity, output_type, retry, batch)


class _Batch(NamedTuple):
    """The arguments of calls with many records."""

    size: Any
    timeout: Any


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
    batch: _Batch | None = None,
) -> SingleOutputStreamOperator[Any]:
    checks.instance(stream, call, DataStream, "Give the stream first.", ", which is not a DataStream")
    method = "async_invoke" if batch is None else "async_invoke_batch"
    checks.function(func, call, method)
    timeout_ms = milliseconds_of(timeout, call, "timeout")
    checks.integer(capacity, call, "capacity")
    checks.type_info(output_type, call)
    ordered, name = call.startswith("ordered"), "async wait operator"
    if batch is None:
        operator = AsyncWait(func, ordered, timeout_ms, capacity, output_type, retry)
        return stream._transform(name, operator, output_type, kind=YieldingTransformation)
    if not inspect.iscoroutinefunction(getattr(func, method, func)):
        checks.refuse(f"{call}() was given {checks.shown(func)}, whose {method}() is not declared as async def.")
    if timeout_ms < 1:
        checks.illegal_argument(
            f"{call}() was given the timeout {checks.shown(timeout)}. A call with many records needs an end: give the "
            "time that it may take, above 0."
        )
    size = checks.positive(batch.size, call, "batch_size")
    longest = None if batch.timeout is None else milliseconds_of(batch.timeout, call, "batch_timeout")
    if longest is not None and longest < 0:
        checks.illegal_argument(f"{call}() was given the batch_timeout {checks.shown(batch.timeout)}. Give 0 or more.")
    arguments = func, ordered, timeout_ms, capacity, output_type, retry
    operator = AsyncBatchWait(*arguments, batch_size=size, batch_timeout=longest)
    name = "async batch wait operator (ordered)" if ordered else "async batch wait operator"
    return stream._transform(name, operator, output_type, kind=YieldingTransformation)
