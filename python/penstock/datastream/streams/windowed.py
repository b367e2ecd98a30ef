"""The common base of windows of keyed and of whole streams: settings, aggregations by field, and the operator.

Source: Flink 1.11 ``WindowedStream``, ``AllWindowedStream``.
"""
# pyright: reportPrivateUsage=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from penstock.common import checks
from penstock.common.callables import ROLES
from penstock.common.functions.output_tag import OutputTag
from penstock.common.functions.state_descriptor import Folds
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.functions import is_rich
from penstock.datastream.program import missing_methods
from penstock.datastream.program.call_site import CallSite
from penstock.datastream.streams.data_stream import SingleOutputStreamOperator
from penstock.datastream.streams.keyed_stream import KeyedStream, aggregator
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.usercode.functions import simple_name
from penstock.runtime.windows import functions
from penstock.runtime.windows.assigners import WindowAssigner
from penstock.runtime.windows.evictors import CountEvictor, Evictor
from penstock.runtime.windows.triggers import CountTrigger, PurgingTrigger, Trigger

if TYPE_CHECKING:
    from penstock.datastream.streams.sources import ProgramWithSources

T = TypeVar("T", covariant=True)
W = TypeVar("W", covariant=True)
U = TypeVar("U")
_Self = TypeVar("_Self", bound="Windowed[Any, Any]")
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


class Windowed(missing_methods.Advised, Generic[T, W]):
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

    # --- settings -----------------------------------------------------------------------------------------------------

    def trigger(self: _Self, trigger: Trigger[T, W]) -> _Self:
        """When windows fire, instead of the assigner's default.

        Raises:
            InvalidProgramError: session windows and a trigger that cannot merge.
        """
        checks.instance(trigger, "trigger", Trigger, "Give a trigger such as CountTrigger.of(5).")
        if self._assigner.merging and not trigger.can_merge():
            checks.unsupported_operation(
                f"trigger({trigger!r}) on {self._assigner}: session windows merge, and this trigger cannot. "
                "Use another trigger, or windows of fixed length."
            )
        self._trigger = trigger
        return self

    def evictor(self: _Self, evictor: Evictor[T]) -> _Self:
        """Which records stay in a window when it fires."""
        self._evictor = checks.instance(evictor, "evictor", Evictor, "Give an evictor such as CountEvictor.of(5).")
        return self

    def allowed_lateness(self: _Self, time_ms: int) -> _Self:
        """How many milliseconds after its end a window still takes records; 0 unless set."""
        if checks.integer(time_ms, "allowed_lateness", "milliseconds") < 0:
            checks.illegal_argument(
                f"allowed_lateness({time_ms}): lateness cannot be negative. Give 0 or more milliseconds."
            )
        self._lateness = time_ms
        return self

    def side_output_late_data(self: _Self, output_tag: OutputTag[T]) -> _Self:
        """Send records that come too late to a side output instead of dropping them."""
        self._late = checks.instance(output_tag, "side_output_late_data", OutputTag, "Give an OutputTag.")
        return self

    def _by_count(self: _Self, call: str, size: int, slide: int | None) -> _Self:
        """Turn global windows into windows of a number of records."""
        checks.integer(size, call, "size")
        if slide is None:
            return self.trigger(PurgingTrigger(CountTrigger(size)))
        return self.evictor(CountEvictor(size)).trigger(CountTrigger(checks.integer(slide, call, "slide")))

    # --- functions ----------------------------------------------------------------------------------------------------

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

    def _after(self, func: Any) -> functions.WindowFunction | None:
        """The runtime form of a window function."""
        if func is None:
            return None
        return (functions.ProcessWindow if hasattr(func, "process") else functions.ApplyWindow)(func, self._keyed)

    def _reduced_by(
        self,
        reduce_function: Any,
        window_function: Any,
        output_type: TypeInformation[Any] | None,
        call: str = "reduce",
    ) -> SingleOutputStreamOperator[Any]:
        checks.function(reduce_function, call, "reduce")
        _refuse_rich(reduce_function, call)
        if window_function is None:
            return self._reduced(reduce_function)
        names = (simple_name(reduce_function), _window_function_name(window_function, call))
        function = functions.ReduceWindow(reduce_function, self._after(window_function))
        record_type = self._stream.transformation.output_type
        return self._add(Applied(function, names, "Reducing", record_type), checks.type_info(output_type, call))

    def _reduced(self, reducer: Any) -> SingleOutputStreamOperator[Any]:
        same_type = self._stream.transformation.output_type
        names = (simple_name(reducer), PASS_THROUGH)
        applied = Applied(functions.ReduceWindow(reducer), names, "Reducing", same_type, _REDUCE_PASSED_ON)
        return self._add(applied, same_type)

    def _aggregated_by(
        self,
        aggregate_function: Any,
        window_function: Any,
        accumulator_type: TypeInformation[Any] | None,
        output_type: TypeInformation[Any] | None,
    ) -> SingleOutputStreamOperator[Any]:
        checks.methods(aggregate_function, "aggregate", ("create_accumulator", "add", "get_result"))
        _refuse_rich(aggregate_function, "aggregate")
        checks.type_info(accumulator_type, "aggregate", "accumulator_type")
        after, passed_on = PASS_THROUGH, _AGGREGATE_PASSED_ON
        if window_function is not None:
            after, passed_on = _window_function_name(window_function, "aggregate"), None
        names = (simple_name(aggregate_function), after)
        function = functions.AggregateWindow(aggregate_function, self._after(window_function))
        applied = Applied(function, names, "Aggregating", accumulator_type, passed_on)
        return self._add(applied, checks.type_info(output_type, "aggregate"))

    def fold(
        self, initial_value: U, func: Folds[T, U] | Callable[[U, T], U], output_type: TypeInformation[U] | None = None
    ) -> SingleOutputStreamOperator[U]:
        """Fold the records of a window into a copy of an initial value (Flink's Java API only).

        Args:
            initial_value: the value of no record.
            func: a callable of (value so far, record), or an object with ``fold``.
            output_type: type of the results.

        Raises:
            InvalidProgramError: session windows, which merge; a function with ``open`` or ``close``.
        """
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
        applied = Applied(function, names, "Folding", output_type, _FOLD_PASSED_ON, initial_value)
        return self._add(applied, output_type)

    def _applied(
        self, window_function: Any, rest: tuple[Any, ...], output_type: TypeInformation[Any] | None
    ) -> SingleOutputStreamOperator[Any]:
        """``apply(window function)``, or ``apply(reduce function, window function)``."""
        if rest and (hasattr(rest[0], "apply") or hasattr(rest[0], "process")):
            return self._reduced_by(window_function, rest[0], _last(rest[1:], output_type), "apply")
        output_type = _last(rest, output_type)
        names = (_window_function_name(window_function, "apply"),)
        applied = Applied(functions.ApplyWindow(window_function, self._keyed), names)
        return self._add(applied, checks.type_info(output_type, "apply"))

    def _processed(
        self, process_window_function: Any, output_type: TypeInformation[Any] | None
    ) -> SingleOutputStreamOperator[Any]:
        arguments = ROLES["process"].arguments if self._keyed else ROLES["process"].arguments[1:]
        checks.function(process_window_function, "process", "process", *arguments)
        function = functions.ProcessWindow(process_window_function, self._keyed)
        applied = Applied(function, (simple_name(process_window_function),))
        return self._add(applied, checks.type_info(output_type, "process"))

    def _aggregate(self, call: str, field: int | str, first: bool = True) -> SingleOutputStreamOperator[T]:
        return self._reduced(aggregator(self._stream.transformation.output_type, call, field, first))

    def sum(self, position_to_sum: int | str = 0) -> SingleOutputStreamOperator[T]:
        """Sum of a field over each window; the other fields are those of the window's first record."""
        return self._aggregate("sum", position_to_sum)

    def min(self, position_to_min: int | str = 0) -> SingleOutputStreamOperator[T]:
        """Minimum of a field over each window; the other fields are those of the window's first record."""
        return self._aggregate("min", position_to_min)

    def max(self, position_to_max: int | str = 0) -> SingleOutputStreamOperator[T]:
        """Maximum of a field over each window; the other fields are those of the window's first record."""
        return self._aggregate("max", position_to_max)

    def min_by(self, position_to_min_by: int | str = 0, first: bool = True) -> SingleOutputStreamOperator[T]:
        """The record with the smallest field of each window; among equals the first, or the last if not ``first``."""
        return self._aggregate("min_by", position_to_min_by, first)

    def max_by(self, position_to_max_by: int | str = 0, first: bool = True) -> SingleOutputStreamOperator[T]:
        """The record with the largest field of each window; among equals the first, or the last if not ``first``."""
        return self._aggregate("max_by", position_to_max_by, first)


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
