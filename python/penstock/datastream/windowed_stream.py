"""WindowedStream: functions over windows of a keyed stream. So far: windows by count.

Source: Flink 1.11 ``KeyedStream.countWindow`` and ``WindowedStream``. (PyFlink's own ``count_window`` with a slide
means something else; this one is Java's.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.common.typeinfo import TypeInformation
from penstock.datastream import checks
from penstock.datastream.functions import is_rich, simple_name
from penstock.datastream.keyed_stream import KeyedStream, aggregator
from penstock.runtime import operators, windows

if TYPE_CHECKING:
    from penstock.datastream.data_stream import SingleOutputStreamOperator
    from penstock.datastream.environment import StreamExecutionEnvironment
    from penstock.datastream.functions import ReduceFunction

PASS_THROUGH = "PassThroughWindowFunction"


def count_window(stream: KeyedStream, size: int, slide: int | None) -> WindowedStream:
    """See :meth:`KeyedStream.count_window`."""
    checks.integer(size, "count_window", "size")
    if slide is None:
        return WindowedStream(stream, windows.GlobalWindows(), windows.PurgingTrigger(windows.CountTrigger(size)), None)
    checks.integer(slide, "count_window", "slide")
    return WindowedStream(stream, windows.GlobalWindows(), windows.CountTrigger(slide), windows.CountEvictor(size))


class WindowedStream:
    """A keyed stream cut into windows; a function makes it a stream again."""

    __slots__ = ("_assigner", "_evictor", "_stream", "_trigger")

    def __init__(self, stream: KeyedStream, assigner: Any, trigger: Any, evictor: Any) -> None:
        self._stream = stream
        self._assigner = assigner
        self._trigger = trigger
        self._evictor = evictor

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """The environment this stream belongs to."""
        return self._stream.get_execution_environment()

    def get_input_type(self) -> TypeInformation:
        """Declared type of the records in the windows."""
        return self._stream.get_type()

    def __repr__(self) -> str:
        return f"<WindowedStream of {self._stream!r}>"

    def _operator_name(self, functions: tuple[str, ...]) -> str:
        parts = [f"{type(self._assigner).__name__}()", type(self._trigger).__name__]
        if self._evictor is not None:
            parts.append(type(self._evictor).__name__)
        return f"Window({', '.join([*parts, *functions])})"

    def reduce(self, func: Callable | ReduceFunction) -> SingleOutputStreamOperator:
        """Combine the records of a window into one of the same type.

        Args:
            func: a callable of (result so far, record), or a ReduceFunction without ``open`` and ``close``.
        """
        checks.function(func, "reduce", "reduce")
        if is_rich(func):
            checks.refuse(
                f"reduce() of a window was given {simple_name(func)}, which has open() or close(): inside window "
                "state they would never be called. Use a plain function, or reduce() on the keyed stream.",
                checks.UNSUPPORTED_OPERATION,
            )
        return self._reduced(simple_name(func), func)

    def _reduced(self, name: str, reducer: Any) -> SingleOutputStreamOperator:
        window = operators.WindowOperator(self._assigner, self._trigger, self._evictor, windows.ReduceWindow(reducer))
        name = self._operator_name((name, PASS_THROUGH))
        return self._stream._transform(name, window, self._stream.transformation.output_type)

    def _aggregate(self, call: str, field: int | str, first: bool = True) -> SingleOutputStreamOperator:
        reducer = aggregator(self._stream.transformation.output_type, call, field, first)
        return self._reduced("SumAggregator" if call == "sum" else "ComparableAggregator", reducer)

    def sum(self, position_to_sum: int | str = 0) -> SingleOutputStreamOperator:
        """Sum of a field over each window; the other fields are those of the window's first record."""
        return self._aggregate("sum", position_to_sum)

    def min(self, position_to_min: int | str = 0) -> SingleOutputStreamOperator:
        """Minimum of a field over each window; the other fields are those of the window's first record."""
        return self._aggregate("min", position_to_min)

    def max(self, position_to_max: int | str = 0) -> SingleOutputStreamOperator:
        """Maximum of a field over each window; the other fields are those of the window's first record."""
        return self._aggregate("max", position_to_max)

    def min_by(self, position_to_min_by: int | str = 0, first: bool = True) -> SingleOutputStreamOperator:
        """The record with the smallest field of each window; among equals the first, or the last if not ``first``."""
        return self._aggregate("min_by", position_to_min_by, first)

    def max_by(self, position_to_max_by: int | str = 0, first: bool = True) -> SingleOutputStreamOperator:
        """The record with the largest field of each window; among equals the first, or the last if not ``first``."""
        return self._aggregate("max_by", position_to_max_by, first)
