"""WindowedStream: functions over windows of a keyed stream.

Source: Flink 1.11 ``WindowedStream`` and ``KeyedStream.countWindow``, ``timeWindow``. (PyFlink's own ``count_window``
with a slide means something else; this one is Java's.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from penstock.common.functions.state_descriptor import Reduces
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.functions import AggregateFunction, ProcessWindowFunction, WindowFunction
from penstock.datastream.streams.data_stream import SingleOutputStreamOperator
from penstock.datastream.streams.windowed import Windowed

T = TypeVar("T", covariant=True)
K = TypeVar("K", covariant=True)
W = TypeVar("W", covariant=True)
A = TypeVar("A")
R = TypeVar("R")
U = TypeVar("U")


class WindowedStream(Windowed[T, W], Generic[T, K, W]):
    """A stream of records of type ``T`` with keys of type ``K``, cut into windows of type ``W``; a function makes it a
    stream again."""

    __slots__ = ()

    @overload
    def reduce(self, reduce_function: Reduces[T, U] | Callable[[T, T], U]) -> SingleOutputStreamOperator[U]: ...

    @overload
    def reduce(
        self,
        reduce_function: Reduces[T, U] | Callable[[T, T], U],
        window_function: WindowFunction[U, R, K, W] | ProcessWindowFunction[U, R, K, W],
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    def reduce(
        self,
        reduce_function: Reduces[T, U] | Callable[[T, T], U],
        window_function: WindowFunction[U, R, K, W] | ProcessWindowFunction[U, R, K, W] | None = None,
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[Any]:
        """Combine the records of a window into one of the same type.

        Args:
            reduce_function: a callable of (result so far, record), or a ReduceFunction without ``open`` and ``close``.
            window_function: sees the result together with key and window.
            output_type: type of what ``window_function`` emits.
        """
        return self._reduced_by(reduce_function, window_function, output_type)

    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T, A, U],
        window_function: None = None,
        accumulator_type: TypeInformation[A] | None = None,
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]: ...

    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T, A, U],
        window_function: WindowFunction[U, R, K, W] | ProcessWindowFunction[U, R, K, W],
        accumulator_type: TypeInformation[A] | None = None,
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    def aggregate(
        self,
        aggregate_function: AggregateFunction[T, A, U],
        window_function: WindowFunction[U, R, K, W] | ProcessWindowFunction[U, R, K, W] | None = None,
        accumulator_type: TypeInformation[A] | None = None,
        output_type: TypeInformation[Any] | None = None,
    ) -> SingleOutputStreamOperator[Any]:
        """Fold the records of a window into an accumulator and emit its result.

        Args:
            aggregate_function: an AggregateFunction without ``open`` and ``close``.
            window_function: sees the result together with key and window.
            accumulator_type: type of the accumulator.
            output_type: type of the results.
        """
        return self._aggregated_by(aggregate_function, window_function, accumulator_type, output_type)

    @overload
    def apply(
        self, window_function: WindowFunction[T, R, K, W], output_type: TypeInformation[R] | None = None
    ) -> SingleOutputStreamOperator[R]: ...

    @overload
    def apply(
        self,
        reduce_function: Reduces[T, U] | Callable[[T, T], U],
        window_function: WindowFunction[U, R, K, W],
        /,
        *,
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    def apply(
        self, window_function: Any, *rest: Any, output_type: TypeInformation[Any] | None = None
    ) -> SingleOutputStreamOperator[Any]:
        """Show whole windows to a WindowFunction; or, as Java's ``apply`` of two functions does, their reduction:
        ``apply(reduce_function, window_function)`` is ``reduce(reduce_function, window_function)``.

        Args:
            window_function: the WindowFunction.
            rest: behind a reduce function the WindowFunction; behind a WindowFunction perhaps the output type.
            output_type: type of what the WindowFunction emits.
        """
        return self._applied(window_function, rest, output_type)

    def process(
        self, process_window_function: ProcessWindowFunction[T, R, K, W], output_type: TypeInformation[R] | None = None
    ) -> SingleOutputStreamOperator[R]:
        """Show whole windows to a ProcessWindowFunction."""
        return self._processed(process_window_function, output_type)
