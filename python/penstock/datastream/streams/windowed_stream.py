"""WindowedStream and AllWindowedStream: functions over windows of a keyed stream, or of a whole one.

Source: Flink 1.11 ``WindowedStream``, ``AllWindowedStream``, ``KeyedStream.countWindow``. PyFlink differs: its
``count_window`` with a slide means something else, and its AllWindowedStream has the environment's parallelism, as by
the switch ``penstock.pyflink``, where all records go to the subtask of one key; in Java it is 1.
"""
# pyright: reportPrivateUsage=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

from penstock.common import checks
from penstock.common.callables import ROLES, is_rich
from penstock.common.functions.output_tag import OutputTag
from penstock.common.functions.state_descriptor import Folds, Reduces
from penstock.common.typeinfo import TypeInformation, Types
from penstock.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    KeySelector,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from penstock.datastream.program import missing_methods
from penstock.datastream.program.call_site import CallSite, call_site
from penstock.datastream.streams.data_stream import DataStream, SingleOutputStreamOperator
from penstock.datastream.streams.keyed_stream import FieldAggregations, KeyedStream, aggregator
from penstock.runtime.io.text import file_text
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.state import serializers
from penstock.runtime.usercode.functions import java_object, simple_name
from penstock.runtime.windows import functions
from penstock.runtime.windows.assigners import WindowAssigner
from penstock.runtime.windows.evictors import CountEvictor, Evictor
from penstock.runtime.windows.triggers import CountTrigger, PurgingTrigger, Trigger

if TYPE_CHECKING:
    from typing_extensions import Self

    from penstock.datastream.streams.sources import ProgramWithSources

T = TypeVar("T", covariant=True)
K = TypeVar("K", covariant=True)
W = TypeVar("W", covariant=True)
A = TypeVar("A")
R = TypeVar("R")
U = TypeVar("U")
PASS_THROUGH = "PassThroughWindowFunction"

_REDUCE_PASSED_ON = CallSite("reduce", "AllWindowedStream.java", 240)
_AGGREGATE_PASSED_ON = CallSite("aggregate", "AllWindowedStream.java", 552)
_FOLD_PASSED_ON = CallSite("fold", "AllWindowedStream.java", 952)


@dataclass(frozen=True)
class Applied:
    """A window function with the state that windows keep for it.

    ``state`` is Reducing, Aggregating, Folding or List. ``passed_on`` is where Flink 1.11.4's ``AllWindowedStream``
    passes the call to another of its methods, which takes that for the call in the program and names the operator so.
    """

    function: functions.WindowFunction
    names: tuple[str, ...]
    state: str = "List"
    state_type: TypeInformation[Any] | None = None
    passed_on: CallSite | None = None
    default: Any = None


class Windowed(FieldAggregations[T], missing_methods.Advised, Generic[T, W]):
    """A stream of records of type ``T`` in windows of type ``W``; a function makes it a stream again."""

    __slots__ = ("_assigner", "_evictor", "_late", "_lateness", "_stream", "_trigger")

    _keyed: ClassVar[bool] = True
    """Whether window functions are given a key."""
    _call: ClassVar[str] = "window"
    """The method that creates such a stream."""

    def __init__(self, stream: KeyedStream[T, object], assigner: WindowAssigner[T, W]) -> None:
        hint = "Give a window assigner such as TumblingEventTimeWindows.of(Time.seconds(5))."
        checks.instance(assigner, self._call, WindowAssigner, hint)
        self._stream = stream
        self._assigner = assigner
        self._trigger: Trigger[T, W] = assigner.get_default_trigger(stream.get_execution_environment())
        self._evictor: Evictor[T] | None = None
        self._lateness = 0
        self._late: OutputTag[T] | None = None

    def get_execution_environment(self) -> ProgramWithSources:
        """The environment this stream belongs to."""
        return self._stream.get_execution_environment()

    def get_input_type(self) -> TypeInformation[T]:
        """Declared type of the records in the windows."""
        return self._stream.get_type()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._stream!r} in {self._assigner}>"

    @classmethod
    def _missing(cls, name: str) -> AttributeError:
        hint = f"Windows need a function first, such as reduce() or sum(). Call {name}() on its result."
        of_streams = hasattr(SingleOutputStreamOperator, name) or hasattr(KeyedStream, name)
        return missing_methods.missing(cls, name, missing_methods.WINDOWED, hint=hint if of_streams else "")

    def trigger(self, trigger: Trigger[T, W]) -> Self:
        """When windows fire, instead of the assigner's default. That of session windows must be able to merge."""
        checks.instance(trigger, "trigger", Trigger, "Give a trigger such as CountTrigger.of(5).")
        if self._assigner.merging and not trigger.can_merge():
            checks.unsupported_operation(
                f"trigger({trigger!r}) on {self._assigner}: session windows merge, and this trigger cannot. "
                "Use another trigger, or windows of fixed length."
            )
        self._trigger = trigger
        return self

    def evictor(self, evictor: Evictor[T]) -> Self:
        """Which records stay in a window when it fires."""
        self._evictor = checks.instance(evictor, "evictor", Evictor, "Give an evictor such as CountEvictor.of(5).")
        return self

    def allowed_lateness(self, time_ms: int) -> Self:
        """How many milliseconds after its end a window still takes records; 0 unless set."""
        if checks.integer(time_ms, "allowed_lateness", "milliseconds") < 0:
            checks.illegal_argument(f"allowed_lateness({time_ms}): it cannot be negative. Give 0 or more milliseconds.")
        self._lateness = time_ms
        return self

    def side_output_late_data(self, output_tag: OutputTag[T]) -> Self:
        """Send records that come too late to a side output instead of dropping them."""
        self._late = checks.instance(output_tag, "side_output_late_data", OutputTag, "Give an OutputTag.")
        return self

    def _by_count(self, call: str, size: int, slide: int | None) -> Self:
        """Turn global windows into windows of a number of records."""
        checks.integer(size, call, "size")
        if slide is None:
            return self.trigger(PurgingTrigger(CountTrigger(size)))
        return self.evictor(CountEvictor(size)).trigger(CountTrigger(checks.integer(slide, call, "slide")))

    def _add(self, applied: Applied, output_type: TypeInformation[Any] | None) -> SingleOutputStreamOperator[Any]:
        late = None if self._late is None else self._late.tag_id
        state_type = applied.state_type if applied.state in ("Aggregating", "Folding") else None
        how = self._assigner, self._trigger, self._evictor, applied.function, self._lateness, late
        operator = WindowOperator(*how, accumulator_type=state_type)
        return self._stream._transform(self._name(applied), operator, output_type)

    def _name(self, applied: Applied) -> str:
        parts = [str(self._assigner), type(self._trigger).__name__]
        if self._evictor is not None:
            parts.append(type(self._evictor).__name__)
        return f"Window({', '.join([*parts, *applied.names])})"

    def _after(self, func: Any, call: str) -> tuple[functions.WindowFunction | None, str]:
        """The runtime form and the name of a window function that sees the result of another."""
        if func is None:
            return None, PASS_THROUGH
        name = _window_function_name(func, call)
        return (functions.ProcessWindow if hasattr(func, "process") else functions.ApplyWindow)(func, self._keyed), name

    @overload
    def reduce(self, reduce_function: Reduces[T, U] | Callable[[T, T], U]) -> SingleOutputStreamOperator[U]: ...

    @overload
    def reduce(
        self: WindowedStream[T, K, W],
        reduce_function: Reduces[T, U] | Callable[[T, T], U],
        window_function: WindowFunction[U, R, K, W] | ProcessWindowFunction[U, R, K, W],
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    @overload
    def reduce(
        self: AllWindowedStream[T, W],
        reduce_function: Reduces[T, U] | Callable[[T, T], U],
        window_function: AllWindowFunction[U, R, W] | ProcessAllWindowFunction[U, R, W],
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    def reduce(
        self, reduce_function: Any, window_function: Any = None, output_type: TypeInformation[Any] | None = None
    ) -> SingleOutputStreamOperator[Any]:
        """Combine the records of a window into one of the same type, by a callable of (result so far, record), or a
        ReduceFunction without ``open`` and ``close``. A window function sees the result together with key and window,
        or, of a whole stream, with the window; ``output_type`` is of what it emits."""
        return self._reduced_by(reduce_function, window_function, output_type, "reduce")

    def _reduced_by(
        self, reduce_function: Any, window_function: Any, output_type: TypeInformation[Any] | None, call: str
    ) -> SingleOutputStreamOperator[Any]:
        checks.function(reduce_function, call, "reduce")
        _refuse_rich(reduce_function, call)
        after, name = self._after(window_function, call)
        if after is None:
            return self._reduced(reduce_function)
        function, names = functions.ReduceWindow(reduce_function, after), (simple_name(reduce_function), name)
        record_type = self._stream.transformation.output_type
        return self._add(Applied(function, names, "Reducing", record_type), checks.type_info(output_type, call))

    def _reduced(self, reducer: Any) -> SingleOutputStreamOperator[Any]:
        same_type = self._stream.transformation.output_type
        names = (simple_name(reducer), PASS_THROUGH)
        applied = Applied(functions.ReduceWindow(reducer), names, "Reducing", same_type, _REDUCE_PASSED_ON)
        return self._add(applied, same_type)

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
        self: WindowedStream[T, K, W],
        aggregate_function: AggregateFunction[T, A, U],
        window_function: WindowFunction[U, R, K, W] | ProcessWindowFunction[U, R, K, W],
        accumulator_type: TypeInformation[A] | None = None,
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    @overload
    def aggregate(
        self: AllWindowedStream[T, W],
        aggregate_function: AggregateFunction[T, A, U],
        window_function: AllWindowFunction[U, R, W] | ProcessAllWindowFunction[U, R, W],
        accumulator_type: TypeInformation[A] | None = None,
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    def aggregate(
        self,
        aggregate_function: AggregateFunction[Any, Any, Any],
        window_function: Any = None,
        accumulator_type: TypeInformation[Any] | None = None,
        output_type: TypeInformation[Any] | None = None,
    ) -> SingleOutputStreamOperator[Any]:
        """Fold the records of a window into an accumulator and emit its result.

        Args:
            aggregate_function: without ``open`` and ``close``.
            window_function: sees the result, as for :meth:`reduce`.
            accumulator_type: type of the accumulator.
            output_type: type of the results.
        """
        checks.methods(aggregate_function, "aggregate", ("create_accumulator", "add", "get_result"))
        _refuse_rich(aggregate_function, "aggregate")
        checks.type_info(accumulator_type, "aggregate", "accumulator_type")
        after, name = self._after(window_function, "aggregate")
        function, names = functions.AggregateWindow(aggregate_function, after), (simple_name(aggregate_function), name)
        passed_on = _AGGREGATE_PASSED_ON if after is None else None
        applied = Applied(function, names, "Aggregating", accumulator_type, passed_on)
        return self._add(applied, checks.type_info(output_type, "aggregate"))

    def fold(
        self, initial_value: U, func: Folds[T, U] | Callable[[U, T], U], output_type: TypeInformation[U] | None = None
    ) -> SingleOutputStreamOperator[U]:
        """Fold the records of a window, but no session, into a copy of ``initial_value`` (Flink's Java API only)."""
        checks.function(func, "fold", "fold")
        _refuse_rich(func, "fold")
        checks.type_info(output_type, "fold")
        if self._assigner.merging:
            checks.unsupported_operation(
                f"fold() on {self._assigner}: sessions merge, and two folds cannot be merged. Use aggregate() with a "
                "merge()."
            )
        names = (simple_name(func), PASS_THROUGH)
        function = functions.FoldWindow(initial_value, func)
        return self._add(Applied(function, names, "Folding", output_type, _FOLD_PASSED_ON, initial_value), output_type)

    @overload
    def apply(
        self: WindowedStream[T, K, W],
        window_function: WindowFunction[T, R, K, W],
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    @overload
    def apply(
        self: AllWindowedStream[T, W],
        window_function: AllWindowFunction[T, R, W],
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    @overload
    def apply(
        self: WindowedStream[T, K, W],
        reduce_function: Reduces[T, U] | Callable[[T, T], U],
        window_function: WindowFunction[U, R, K, W],
        /,
        *,
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    @overload
    def apply(
        self: AllWindowedStream[T, W],
        reduce_function: Reduces[T, U] | Callable[[T, T], U],
        window_function: AllWindowFunction[U, R, W],
        /,
        *,
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    def apply(
        self, window_function: Any, *rest: Any, output_type: TypeInformation[Any] | None = None
    ) -> SingleOutputStreamOperator[Any]:
        """Show whole windows to a WindowFunction, or AllWindowFunction; or, as Java's ``apply`` of two functions does,
        their reduction: ``apply(reduce_function, window_function)`` is ``reduce(reduce_function, window_function)``."""
        if rest and (hasattr(rest[0], "apply") or hasattr(rest[0], "process")):
            return self._reduced_by(window_function, rest[0], _last(rest[1:], output_type), "apply")
        output_type = _last(rest, output_type)
        names = (_window_function_name(window_function, "apply"),)
        applied = Applied(functions.ApplyWindow(window_function, self._keyed), names)
        return self._add(applied, checks.type_info(output_type, "apply"))

    @overload
    def process(
        self: WindowedStream[T, K, W],
        process_window_function: ProcessWindowFunction[T, R, K, W],
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    @overload
    def process(
        self: AllWindowedStream[T, W],
        process_window_function: ProcessAllWindowFunction[T, R, W],
        output_type: TypeInformation[R] | None = None,
    ) -> SingleOutputStreamOperator[R]: ...

    def process(
        self, process_window_function: Any, output_type: TypeInformation[Any] | None = None
    ) -> SingleOutputStreamOperator[Any]:
        """Show whole windows to a ProcessWindowFunction, or ProcessAllWindowFunction."""
        arguments = ROLES["process"].arguments if self._keyed else ROLES["process"].arguments[1:]
        checks.function(process_window_function, "process", "process", *arguments)
        function = functions.ProcessWindow(process_window_function, self._keyed)
        applied = Applied(function, (simple_name(process_window_function),))
        return self._add(applied, checks.type_info(output_type, "process"))

    def _aggregate(self, call: str, field: int | str, first: bool = True) -> SingleOutputStreamOperator[T]:
        return self._reduced(aggregator(self._stream.transformation.output_type, call, field, first))


class WindowedStream(Windowed[T, W], Generic[T, K, W]):
    """Records of type ``T`` with keys of type ``K`` in windows of type ``W``; a function makes them a stream again."""

    __slots__ = ()


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


def _last(rest: tuple[Any, ...], output_type: TypeInformation[Any] | None) -> TypeInformation[Any] | None:
    """The output type, which may have been given by position."""
    if len(rest) > 1 or (rest and output_type is not None):
        checks.refuse(
            f"apply() was given one argument too many, {checks.shown(rest[-1])}. Give a window "
            "function, or a reduce function and a window function, and the type of the results."
        )
    return rest[0] if rest else output_type


def _refuse_rich(func: Any, call: str) -> None:
    if is_rich(func):
        checks.unsupported_operation(
            f"{call}() of a window was given {simple_name(func)}, which has open() or close(): inside window state "
            "they would never be called. Use a function without them and a window function that has them."
        )


def _window_function_name(func: Any, call: str) -> str:
    if not (hasattr(func, "apply") or hasattr(func, "process")):
        checks.refuse(
            f"{call}() was given {checks.shown(func)} as window function; it needs a method apply() or process(). "
            "Derive a class from WindowFunction or ProcessWindowFunction and pass an object of it."
        )
    if isinstance(func, type):
        checks.refuse(f"{call}() was given the class {func.__name__}. Pass an object of it: {func.__name__}().")
    return simple_name(func)
