"""Two streams side by side: connected streams, broadcast state; and iterations, with feedback to an earlier point.

Source: Flink 1.11 ``ConnectedStreams``, ``BroadcastConnectedStream``, ``IterativeStream``.
"""
# pyright: reportPrivateUsage=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar, cast

from penstock.common import checks
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.functions import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeySelector,
)
from penstock.datastream.program import missing_methods
from penstock.datastream.program.transformations import (
    FeedbackTransformation,
    Transformation,
    TwoInputTransformation,
    leading_to,
)
from penstock.datastream.state import MapStateDescriptor
from penstock.datastream.streams.data_stream import DataStream, SingleOutputStreamOperator
from penstock.datastream.streams.keyed_stream import KeyedStream
from penstock.errors import UnsupportedError
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.broadcast import BroadcastProcess
from penstock.runtime.operators.two_inputs import CoFlatMap, CoMap, CoProcess, TwoInputOperator

if TYPE_CHECKING:
    from penstock.datastream.streams.sources import ProgramWithSources

A = TypeVar("A", covariant=True)
B = TypeVar("B", covariant=True)
K = TypeVar("K")
T = TypeVar("T", covariant=True)
U = TypeVar("U")


def two_inputs(
    first: DataStream[Any], second: DataStream[Any], name: str, operator: Any, output_type: TypeInformation[Any] | None
) -> SingleOutputStreamOperator[Any]:
    """Add an operator with two inputs at the environment's current parallelism."""
    program = first.get_execution_environment()
    transformation = TwoInputTransformation(
        program.next_id(),
        name,
        output_type,
        program.parallelism_left_open,
        operator,
        first.transformation,
        second.transformation,
    )
    program.register(transformation)
    return SingleOutputStreamOperator(program, transformation)


class _Advised(missing_methods.Advised):
    """Streams that lack the methods of one stream: those belong on the result."""

    __slots__ = ()
    _united_by: ClassVar[str]

    @classmethod
    def _missing(cls, name: str) -> AttributeError:
        hint = f"Two streams become one by {cls._united_by}. Call {name}() on the result."
        of_streams = hasattr(SingleOutputStreamOperator, name)
        return missing_methods.missing(cls, name, missing_methods.CONNECTED, hint=hint if of_streams else "")


class ConnectedStreams(_Advised, Generic[A, B]):
    """Two streams, of records of types ``A`` and ``B``, read by one operator with a method for each."""

    __slots__ = ("_first", "_second")
    _united_by = "map(), flat_map() or process()"

    def __init__(self, first: DataStream[A], second: DataStream[B]) -> None:
        self._first = first
        self._second = second

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._first!r} and {self._second!r}>"

    def key_by(
        self,
        key_selector1: KeySelector[A, K] | Callable[[A], K] | int | str,
        key_selector2: KeySelector[B, K] | Callable[[B], K] | int | str,
        key_type: TypeInformation[K] | None = None,
        key_type2: TypeInformation[K] | None = None,
    ) -> ConnectedStreams[A, B]:
        """Partition both streams by keys of one type: equal keys of both meet in one subtask. The selectors are as for
        :meth:`DataStream.key_by`. If ``key_type2``, of the second stream, differs, the operator refuses it."""
        first: KeyedStream[A, Any] = self._first.key_by(cast("Any", key_selector1), key_type=key_type)
        second: KeyedStream[B, Any] = self._second.key_by(cast("Any", key_selector2), key_type=key_type2 or key_type)
        return ConnectedStreams(first, second)

    def map(
        self, func: CoMapFunction[A, B, U], output_type: TypeInformation[U] | None = None
    ) -> SingleOutputStreamOperator[U]:
        """One record out for each record of either stream, by ``map1`` and ``map2``."""
        checks.methods(func, "map", ("map1", "map2"))
        return self._add("Co-Map", CoMap(func), checks.type_info(output_type, "map"))

    def flat_map(
        self, func: CoFlatMapFunction[A, B, U], output_type: TypeInformation[U] | None = None
    ) -> SingleOutputStreamOperator[U]:
        """Any number of records out for each record of either stream, by ``flat_map1`` and ``flat_map2``."""
        checks.methods(func, "flat_map", ("flat_map1", "flat_map2"))
        return self._add("Co-Flat Map", CoFlatMap(func), checks.type_info(output_type, "flat_map"))

    def process(
        self,
        func: CoProcessFunction[A, B, U] | KeyedCoProcessFunction[Any, A, B, U],
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Records out by ``yield``, by ``process_element1`` and ``process_element2``, with state and timers if
        keyed."""
        keyed = isinstance(func, KeyedCoProcessFunction)
        if keyed and not (isinstance(self._first, KeyedStream) and isinstance(self._second, KeyedStream)):
            checks.unsupported_operation(
                f"process() was given the KeyedCoProcessFunction {type(func).__name__}, but not both streams are "
                "keyed. Call key_by(selector1, selector2) on the connected streams first."
            )
        name = "Co-Keyed-Process" if keyed else "Co-Process"
        checks.methods(func, "process", ("process_element1", "process_element2"))
        return self._add(name, CoProcess(func), checks.type_info(output_type, "process"))

    def transform(
        self, operator_name: str, output_type: TypeInformation[U] | None, operator: TwoInputOperator
    ) -> SingleOutputStreamOperator[U]:
        """Add a custom operator, one of two inputs of :mod:`penstock.runtime.operators`, under its name in plans."""
        checks.name(operator_name, "transform", "operator name")
        hint = "Use map() or process() with a function, or give an operator such as CoMap(f)."
        checks.instance(operator, "transform", TwoInputOperator, hint, ", which is not an operator of two inputs")
        return self._add(operator_name, operator, checks.type_info(output_type, "transform"))

    def _add(
        self, name: str, operator: TwoInputOperator, output_type: TypeInformation[Any] | None
    ) -> SingleOutputStreamOperator[Any]:
        check_same_keys(self._first, self._second, name)
        first, second = _key_of(self._first), _key_of(self._second)
        if first is not None and second is not None:
            operator = operator.keyed_by_both(first, second)
        return two_inputs(self._first, self._second, name, operator, output_type)


def _key_of(stream: DataStream[Any]) -> KeyPartition | None:
    return cast("KeyedStream[Any, Any]", stream).key if isinstance(stream, KeyedStream) else None


def check_same_keys(first: DataStream[Any], second: DataStream[Any], name: str) -> None:
    """Refuse two keyed streams whose keys are declared with different types."""
    keys = _key_of(first), _key_of(second)
    if keys[0] is None or keys[1] is None:
        return
    one, two = keys[0].key_type, keys[1].key_type
    if one != two and checks.declared(one) and checks.declared(two):
        checks.unsupported_operation(
            f"{name}: the first stream is keyed by {one}, the second by {two}. Equal keys of both must meet, so they "
            "need one type. (A position or field name makes a tuple key, a key selector does not.)"
        )


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
        """Feed a stream of this iteration back to the start of the loop, with the loop's parallelism; may be called for
        several streams. Returns the stream itself."""
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


class ConnectedIterativeStreams(ConnectedStreams[A, B]):
    """A stream connected to feedback of another type."""

    __slots__ = ()

    def close_with(self, feedback_stream: DataStream[U]) -> DataStream[U]:
        """Feed a stream back as the second input; see :meth:`IterativeStream.close_with`."""
        return close_loop(self._second.transformation, feedback_stream)

    def key_by(self, *_: object, **__: object) -> NoReturn:
        """Refused: feedback enters where it is."""
        checks.unsupported_operation(
            "key_by() of a connected iteration: its head cannot be partitioned. Key the input before iterate() and the "
            "stream given to close_with()."
        )


def close_loop(loop: Transformation, feedback_stream: DataStream[U]) -> DataStream[U]:
    """Add feedback to a loop after Flink's checks: it must come from that loop and have its parallelism."""
    checks.stream(feedback_stream, "close_with", DataStream)
    assert isinstance(loop, FeedbackTransformation)
    if loop not in leading_to([feedback_stream.transformation], feedback=False):
        checks.unsupported_operation(
            f"close_with() was given a stream ({feedback_stream.get_name()}) that does not come from that iteration. "
            "Give a stream that starts at what iterate() returned."
        )
    loop.add_feedback(feedback_stream.transformation)
    return feedback_stream


class BroadcastStream(_Advised, Generic[T]):
    """A stream of records of type ``T`` that every subtask receives completely, with the states it may fill. Made by
    ``stream.broadcast(state)``."""

    __slots__ = ("_stream", "descriptors")
    _united_by = "connect(): stream.connect(broadcast_stream).process(function)"

    def __init__(self, stream: DataStream[T], descriptors: tuple[MapStateDescriptor[Any, Any], ...]) -> None:
        self._stream = stream
        self.descriptors: tuple[MapStateDescriptor[Any, Any], ...] = descriptors

    def __repr__(self) -> str:
        names = [descriptor.name for descriptor in self.descriptors]
        return f"<BroadcastStream of {self.transformation!r} into {names}>"

    @property
    def transformation(self) -> Transformation:
        """The partitioning node of the stream."""
        return self._stream.transformation

    def get_execution_environment(self) -> ProgramWithSources:
        """The environment this stream belongs to."""
        return self._stream.get_execution_environment()


class BroadcastConnectedStream(_Advised, Generic[A, B]):
    """A stream of records of type ``A`` connected to a broadcast stream of type ``B``."""

    __slots__ = ("_broadcast", "_stream")
    _united_by = "process()"

    def __init__(self, stream: DataStream[A], broadcast: BroadcastStream[B]) -> None:
        self._stream = stream
        self._broadcast = broadcast

    def __repr__(self) -> str:
        return f"<BroadcastConnectedStream of {self._stream!r} and {self._broadcast!r}>"

    def process(
        self,
        func: BroadcastProcessFunction[A, B, U] | KeyedBroadcastProcessFunction[Any, A, B, U],
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Records out by ``yield``, by ``process_element`` and ``process_broadcast_element``. A keyed stream needs a
        KeyedBroadcastProcessFunction, any other a BroadcastProcessFunction."""
        hint = "Give an object of a subclass of BroadcastProcessFunction or KeyedBroadcastProcessFunction."
        checks.instance(func, "process", (BroadcastProcessFunction, KeyedBroadcastProcessFunction), hint)
        wants_key, keyed = isinstance(func, KeyedBroadcastProcessFunction), isinstance(self._stream, KeyedStream)
        if wants_key is not keyed:
            kind, cure = (
                ("keyed", "Derive it from KeyedBroadcastProcessFunction.")
                if keyed
                else ("not keyed", "Call key_by() first, or derive it from BroadcastProcessFunction.")
            )
            checks.illegal_argument(
                f"process() was given the {type(func).__name__} (a {type(func).__bases__[0].__name__}), but the stream "
                f"is {kind}. {cure}"
            )
        checks.type_info(output_type, "process")
        name = "Co-Process-Broadcast-Keyed" if keyed else "Co-Process-Broadcast"
        descriptors = self._broadcast.descriptors
        for descriptor in descriptors:
            if descriptor.ttl_config is not None and descriptor.ttl_config.is_enabled():
                raise UnsupportedError(
                    f"The broadcast state {descriptor.name!r} has a time to live. Broadcast state must be equal in all "
                    "subtasks, whose clocks differ; Flink ignores the time. Leave out enable_time_to_live(), and "
                    "remove entries in process_broadcast_element()."
                )
        operator = BroadcastProcess(func, tuple(descriptor.name for descriptor in descriptors), descriptors)
        key = _key_of(self._stream)
        if key is not None:
            operator = operator.keyed_by_both(key, None)
        return two_inputs(self._stream, self._broadcast._stream, name, operator, output_type)
