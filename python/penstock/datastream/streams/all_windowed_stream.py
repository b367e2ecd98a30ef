"""AllWindowedStream: windows over a whole stream, in one subtask.

Source: Flink 1.11 ``AllWindowedStream``. (In PyFlink the operator has the environment's parallelism, and all records go
to the subtask of one key, as by the switch ``penstock.pyflink``; in Java it is 1.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from penstock.common.functions.state_descriptor import Reduces
from penstock.common.typeinfo import TypeInformation, Types
from penstock.datastream.functions import AggregateFunction, AllWindowFunction, KeySelector, ProcessAllWindowFunction
from penstock.datastream.program.call_site import call_site
from penstock.datastream.streams.data_stream import DataStream, SingleOutputStreamOperator
from penstock.datastream.streams.keyed_stream import KeyedStream
from penstock.datastream.streams.windowed import Applied, Windowed
from penstock.runtime.io.text import file_text
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.state import serializers
from penstock.runtime.usercode.functions import java_object
from penstock.runtime.windows.assigners import WindowAssigner

T = TypeVar("T", covariant=True)
W = TypeVar("W", covariant=True)
A = TypeVar("A")
R = TypeVar("R")
U = TypeVar("U")


class NullByteKey(KeySelector[object, int]):
    """One key for all records, so that a keyed operator can serve a stream without key."""

    def get_key(self, value: object) -> int:
        return 0


class AllWindowedStream(Windowed[T, W]):
    """A stream of records of type ``T`` cut into windows of type ``W``, all of them in one subtask."""

    __slots__ = ("_pyflink",)

    _keyed = False
    _call = "window_all"

    def __init__(self, stream: DataStream[T], assigner: WindowAssigner[T, W]) -> None:
        self._pyflink: bool = stream.get_execution_environment().settings.pyflink
        key_type = InRow(None) if self._pyflink else Types.BYTE()
        super().__init__(KeyedStream(stream, KeyPartition(NullByteKey(), key_type)), assigner)

    def _add(self, applied: Applied, output_type: TypeInformation[Any] | None) -> SingleOutputStreamOperator[Any]:
        added = super()._add(applied, output_type)
        return added if self._pyflink else added.force_non_parallel()

    def _name(self, applied: Applied) -> str:
        if self._evictor is not None or applied.state == "List":
            kind, default, serializer = "List", None, serializers.LIST
        else:
            kind, default = applied.state, applied.default
            serializer = serializers.serializer_class(applied.state_type)
        default = "null" if default is None else file_text(applied.state_type)(default)
        contents = f"name=window-contents, defaultValue={default}, serializer={java_object(serializer)}"
        parts = [str(self._assigner), f"{kind}StateDescriptor{{{contents}}}", str(self._trigger)]
        if self._evictor is not None:
            parts.append(str(self._evictor))
        return f"TriggerWindow({', '.join(parts)}, AllWindowedStream.{applied.passed_on or call_site()})"

    @overload
    def reduce(self, reduce_function: Reduces[T, U] | Callable[[T, T], U]) -> SingleOutputStreamOperator[U]: ...

    @overload
    def reduce(
        self,
        reduce_function: Reduces[T, U] | Callable[[T, T], U],
        window_function: AllWindowFunction[U, R, W] | ProcessAllWindowFunction[U, R, W],
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    def reduce(
        self,
        reduce_function: Reduces[T, U] | Callable[[T, T], U],
        window_function: AllWindowFunction[U, R, W] | ProcessAllWindowFunction[U, R, W] | None = None,
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[Any]:
        """Combine the records of a window into one of the same type.

        Args:
            reduce_function: a callable of (result so far, record), or a ReduceFunction without ``open`` and ``close``.
            window_function: sees the result together with the window.
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
        window_function: AllWindowFunction[U, R, W] | ProcessAllWindowFunction[U, R, W],
        accumulator_type: TypeInformation[A] | None = None,
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    def aggregate(
        self,
        aggregate_function: AggregateFunction[T, A, U],
        window_function: AllWindowFunction[U, R, W] | ProcessAllWindowFunction[U, R, W] | None = None,
        accumulator_type: TypeInformation[A] | None = None,
        output_type: TypeInformation[Any] | None = None,
    ) -> SingleOutputStreamOperator[Any]:
        """Fold the records of a window into an accumulator and emit its result.

        Args:
            aggregate_function: an AggregateFunction without ``open`` and ``close``.
            window_function: sees the result together with the window.
            accumulator_type: type of the accumulator.
            output_type: type of the results.
        """
        return self._aggregated_by(aggregate_function, window_function, accumulator_type, output_type)

    @overload
    def apply(
        self, window_function: AllWindowFunction[T, R, W], output_type: TypeInformation[R] | None = None
    ) -> SingleOutputStreamOperator[R]: ...

    @overload
    def apply(
        self,
        reduce_function: Reduces[T, U] | Callable[[T, T], U],
        window_function: AllWindowFunction[U, R, W],
        /,
        *,
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    def apply(
        self, window_function: Any, *rest: Any, output_type: TypeInformation[Any] | None = None
    ) -> SingleOutputStreamOperator[Any]:
        """Show whole windows to an AllWindowFunction; or, as Java's ``apply`` of two functions does, their reduction:
        ``apply(reduce_function, window_function)`` is ``reduce(reduce_function, window_function)``.

        Args:
            window_function: the AllWindowFunction.
            rest: behind a reduce function the AllWindowFunction; behind a AllWindowFunction perhaps the output type.
            output_type: type of what the AllWindowFunction emits.
        """
        return self._applied(window_function, rest, output_type)

    def process(
        self, process_window_function: ProcessAllWindowFunction[T, R, W], output_type: TypeInformation[R] | None = None
    ) -> SingleOutputStreamOperator[R]:
        """Show whole windows to a ProcessAllWindowFunction."""
        return self._processed(process_window_function, output_type)
