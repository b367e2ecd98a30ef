"""DataStream and what its methods return: operators and sinks.

A stream is a handle on a transformation; nothing runs before ``execute``. Methods that add an operator register it with
the environment in the order of the calls; partitioners, unions and side outputs enter the plan only when something
consumes them.

Source of names, defaults and refusals: Flink 1.11 ``DataStream``, ``SingleOutputStreamOperator``, ``DataStreamSink``;
spelling: ``pyflink.datastream.DataStream``.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from penstock.common import checks
from penstock.common.contexts import Context
from penstock.common.output_tag import OutputTag
from penstock.common.typeinfo import TypeInformation, Types
from penstock.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
    Results,
)
from penstock.datastream.program import keys, missing
from penstock.datastream.program.call_site import called
from penstock.datastream.program.transformations import (
    OneInputTransformation,
    PartitionTransformation,
    SideOutputTransformation,
    Transformation,
    UnionTransformation,
)
from penstock.datastream.state import MapStateDescriptor
from penstock.datastream.streams.setters import OPERATOR_SETTERS, OperatorSetters
from penstock.datastream.streams.sink import SinkMethods
from penstock.datastream.streams.transitions import Transitions
from penstock.errors import MissingMethodError
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.keys import partition
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.process import ProcessOperator
from penstock.runtime.usercode.naming import simple_name

if TYPE_CHECKING:
    from penstock.datastream.streams.connected_streams import BroadcastStream
    from penstock.datastream.streams.keyed_stream import KeyedStream
    from penstock.datastream.streams.sources import ProgramWithSources

T = TypeVar("T", covariant=True)
U = TypeVar("U")
K = TypeVar("K")


class DataStream(Transitions[T], SinkMethods[T]):
    """A stream of records of type ``T``.

    Attributes:
        transformation: the node this stream stands for, with settings that have no method here.
    """

    __slots__ = ("_program", "transformation")

    if not TYPE_CHECKING:

        def __new__(cls, program: Any = None, *_: Any, **__: Any) -> Any:
            again = cls is DataStream and isinstance(program, SingleOutputStreamOperator)  # in PyFlink all are streams
            return super().__new__(SingleOutputStreamOperator if again else cls)

    def __init__(
        self, program: ProgramWithSources | DataStream[T], transformation: Transformation | None = None
    ) -> None:
        given = isinstance(program, DataStream)  # as in PyFlink, whose streams are made of Java's
        self._program: ProgramWithSources = program._program if given else program
        self.transformation: Transformation = cast("Any", program.transformation if given else transformation)

    @property
    def _j_data_stream(self) -> DataStream[T]:
        """What PyFlink's programs make another stream of: ``DataStream(stream._j_data_stream)``."""
        return self

    # --- what it is -------------------------------------------------------------------------------------------------

    def get_name(self) -> str:
        """Name of the operator this stream comes from."""
        return self.transformation.name

    def get_type(self) -> TypeInformation[T]:
        """Declared type of the records; pickled when none was declared."""
        declared = self.transformation.output_type
        return Types.PICKLED_BYTE_ARRAY() if declared is None else declared

    def get_execution_environment(self) -> ProgramWithSources:
        """The environment this stream belongs to."""
        return self._program

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.transformation!r}>"

    if not TYPE_CHECKING:  # checkers shall see what is missing

        def __getattr__(self, name: str) -> Any:
            if name in OPERATOR_SETTERS or name == "get_side_output":
                raise MissingMethodError(
                    f"{name}() exists on operators only, and this {type(self).__name__} is none: partitioners, "
                    "unions, side outputs and key_by() only say how records travel. "
                    f"Call {name}() on the operator before or after it.",
                    name=name,
                )
            raise _missing(type(self), name)

    # --- operators --------------------------------------------------------------------------------------------------

    def _transform(
        self,
        name: str,
        operator: Any,
        output_type: TypeInformation[Any] | None,
        chaining_strategy: str = "ALWAYS",
        kind: type[OneInputTransformation] = OneInputTransformation,
    ) -> SingleOutputStreamOperator[Any]:
        """Add an operator at the environment's current parallelism."""
        program = self._program
        transformation = kind(
            program.next_id(),
            name,
            output_type,
            program.parallelism_left_open,
            self._with_key(operator),
            self.transformation,
            chaining_strategy=chaining_strategy,
        )
        program.register(transformation)
        return SingleOutputStreamOperator(program, transformation)

    def _with_key(self, operator: Any) -> Any:
        """The operator as it runs on this stream; keyed streams add the key."""
        return operator

    def map(
        self, func: MapFunction[T, U] | Callable[[T], U], output_type: TypeInformation[U] | None = None
    ) -> SingleOutputStreamOperator[U]:
        """One record out for each record in.

        Args:
            func: a callable of one argument, or a MapFunction.
            output_type: type of the results; None leaves them undeclared (any Python object).
        """
        checks.function(func, "map", "map")
        return self._transform("Map", StreamMap(func, output_type), checks.type_info(output_type, "map"))

    def flat_map(
        self, func: FlatMapFunction[T, U] | Callable[[T], Iterable[U]], output_type: TypeInformation[U] | None = None
    ) -> SingleOutputStreamOperator[U]:
        """Any number of records out for each record in.

        Args:
            func: a callable that returns an iterable (or is a generator function), or a FlatMapFunction.
            output_type: type of the results; None leaves them undeclared.
        """
        checks.function(func, "flat_map", "flat_map")
        operator = StreamFlatMap(func, output_type)
        return self._transform("Flat Map", operator, checks.type_info(output_type, "flat_map"))

    def filter(self, func: FilterFunction[T] | Callable[[T], object]) -> SingleOutputStreamOperator[T]:
        """Keep the records for which ``func`` is true; the type stays."""
        checks.function(func, "filter", "filter")
        return self._transform("Filter", StreamFilter(func), self.transformation.output_type)

    def process(
        self,
        func: ProcessFunction[T, U] | Callable[[T, Context], Results[U]],
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Records out by ``yield``, with access to timestamps and side outputs (``yield tag, value``).

        Args:
            func: a ProcessFunction, or a callable of (value, context).
            output_type: type of the main output; None leaves it undeclared.
        """
        checks.function(func, "process", "process_element")
        if isinstance(func, KeyedProcessFunction):
            checks.refuse(
                f"process() was given the KeyedProcessFunction {simple_name(func)}, but the stream is not keyed. "
                "Call key_by() before process(), or derive the function from ProcessFunction."
            )
        operator = ProcessOperator(func, output_type)
        return self._transform("Process", operator, checks.type_info(output_type, "process"))

    def transform(
        self, operator_name: str, output_type: TypeInformation[U] | None, operator: StreamOperator
    ) -> SingleOutputStreamOperator[U]:
        """Add an operator of one's own: what all other methods come down to.

        Args:
            operator_name: its name in plans.
            output_type: type of its main output; None leaves it undeclared.
            operator: an operator of :mod:`penstock.runtime.operators`.
        """
        checks.name(operator_name, "transform", "operator name")
        hint = "Use map() or process() with a function, or give an operator such as StreamMap(f, output_type)."
        checks.instance(operator, "transform", StreamOperator, hint, ", which is no operator")
        return self._transform(operator_name, operator, checks.type_info(output_type, "transform"))

    def project(self, *field_indexes: int) -> SingleOutputStreamOperator[tuple[Any, ...]]:
        """Keep some fields of tuples, in the given order.

        Args:
            field_indexes: 1 to 24 positions from 0.
        """
        output_type = keys.projected_type(self.transformation.output_type, field_indexes)
        return self._transform("Projection", StreamMap(keys.Projection(field_indexes), output_type), output_type)

    # --- several streams --------------------------------------------------------------------------------------------

    def union(self, *streams: DataStream[U]) -> DataStream[T | U]:
        """This stream and others of the same type as one. The same stream twice gives its records twice.

        Raises:
            InvalidProgramError: the declared types differ (Flink: IllegalArgumentException).
        """
        mine = self.transformation.output_type
        for other in streams:
            checks.stream(other, "union", DataStream)
            checks.same_environment(self, other, "union")
            theirs = other.transformation.output_type
            if mine != theirs and checks.declared(mine) and checks.declared(theirs):
                checks.illegal_argument(
                    f"union() of a stream of {mine} ({self.get_name()}) and one of {theirs} ({other.get_name()}): "
                    "united streams need one type. Bring one of them to the other's type with map() first."
                )
        inputs = [self.transformation, *(other.transformation for other in streams)]
        return DataStream(self._program, UnionTransformation(self._program.next_id(), inputs))

    # --- partitioners -----------------------------------------------------------------------------------------------

    @overload
    def key_by(
        self, key_selector: KeySelector[T, K] | Callable[[T], K], key_type: TypeInformation[K] | None = None
    ) -> KeyedStream[T, K]: ...

    @overload
    def key_by(self, key_selector: int, *fields: int) -> KeyedStream[T, tuple[Any, ...]]: ...

    @overload
    def key_by(self, key_selector: str, *fields: str) -> KeyedStream[T, tuple[Any, ...]]: ...

    def key_by(
        self,
        key_selector: KeySelector[T, Any] | Callable[[T], Any] | int | str,
        *fields: object,
        key_type: TypeInformation[Any] | None = None,
    ) -> KeyedStream[T, Any]:
        """Partition by key: all records of a key meet in one subtask.

        Args:
            key_selector: a callable or KeySelector; or a position, or a field name, as in Java.
            fields: more positions or names. Keys by field are tuples, also of one field.
            key_type: type of a selector's keys (also accepted as second positional argument). It decides on the
                subtask, as does the key's value. None leaves it undeclared.
        """
        return self._keyed_by(key_selector, fields, key_type)

    def _keyed_by(
        self, key_selector: object, fields: tuple[object, ...], key_type: TypeInformation[Any] | None
    ) -> KeyedStream[T, Any]:
        from penstock.datastream.streams.keyed_stream import KeyedStream

        selector, key_type = keys.key_by(self.transformation.output_type, key_selector, fields, key_type)
        if self._program.settings.pyflink_keys:
            key_type = InRow(key_type)
        return KeyedStream(self, partition.KeyPartition(selector, key_type, called("key_by")))

    def _partition(self, partitioner: str, spec: Any = None) -> DataStream[T]:
        program = self._program
        node = PartitionTransformation(program.next_id(), self.transformation, partitioner, spec)
        return DataStream(program, node)

    def rebalance(self) -> DataStream[T]:
        """Distribute records evenly, in turn."""
        return self._partition("REBALANCE")

    def rescale(self) -> DataStream[T]:
        """Distribute records in turn, each subtask to its own share of the next operator's subtasks."""
        return self._partition("RESCALE")

    def shuffle(self) -> DataStream[T]:
        """Distribute records at random (from a seed of the plan)."""
        return self._partition("SHUFFLE")

    @overload
    def broadcast(self) -> DataStream[T]: ...

    @overload
    def broadcast(
        self, broadcast_state_descriptor: MapStateDescriptor[Any, Any], *others: MapStateDescriptor[Any, Any]
    ) -> BroadcastStream[T]: ...

    def broadcast(self, broadcast_state_descriptor: Any = None, *others: Any) -> DataStream[T] | BroadcastStream[T]:
        """Send every record to every subtask.

        Args:
            broadcast_state_descriptor: with a state, the result is a BroadcastStream to connect to.
            others: more states.
        """
        stream = self._partition("BROADCAST")
        if broadcast_state_descriptor is None and not others:
            return stream
        from penstock.datastream.streams.connected_streams import BroadcastStream

        hint = "Give nothing, or each state as a MapStateDescriptor."
        states: tuple[Any, ...] = (broadcast_state_descriptor, *others)
        return BroadcastStream(stream, tuple(checks.instance(x, "broadcast", MapStateDescriptor, hint) for x in states))

    def global_(self) -> DataStream[T]:
        """Send all records to the first subtask."""
        return self._partition("GLOBAL")

    def forward(self) -> DataStream[T]:
        """Send records to the subtask of the same index; both sides need the same parallelism."""
        return self._partition("FORWARD")

    def partition_custom(
        self,
        partitioner: Partitioner[K] | Callable[[K, int], int],
        key_selector: KeySelector[T, K] | Callable[[T], K] | int | str,
    ) -> DataStream[T]:
        """Choose the subtask yourself.

        Args:
            partitioner: a callable of (key, number of subtasks) or a Partitioner, returning an index from 0.
            key_selector: a callable, a KeySelector, a position or a field name.
        """
        checks.function(partitioner, "partition_custom", "partition")
        selector = keys.one_key(self.transformation.output_type, key_selector, "partition_custom")
        return self._partition("CUSTOM", partition.CustomPartition(partitioner, selector, called("partition_custom")))


def _missing(cls: type[DataStream[Any]], name: str) -> AttributeError:
    """The error for a method that a class of streams does not have."""
    from penstock.datastream.streams.keyed_stream import KeyedStream
    from penstock.datastream.streams.windowed_stream import WindowedStream

    is_keyed = issubclass(cast("type[object]", cls), KeyedStream)
    advice = {**missing.STREAM, **missing.KEYED} if is_keyed else missing.STREAM
    of_keyed = [each for each in dir(KeyedStream) if not each.startswith("_")]
    hint = f"Keyed streams have it. Call key_by() before {name}()." if name in of_keyed else ""
    if not hint and hasattr(WindowedStream, name):
        hint = f"Windows have it. Call window(assigner) or window_all(assigner) before {name}()."
    return missing.missing(cls, name, advice, hint=hint, like=of_keyed)


class SingleOutputStreamOperator(OperatorSetters, DataStream[T]):
    """The stream that comes out of an operator: a DataStream with the operator's setters and side outputs."""

    __slots__ = ("_non_parallel", "_serial_source", "_side_outputs")

    def __init__(self, program: Any, transformation: Transformation | None = None) -> None:
        super().__init__(program, transformation)
        self._non_parallel = self._serial_source = False
        self._side_outputs: dict[str, TypeInformation[Any] | None] | None = None

    def get_side_output(self, output_tag: OutputTag[U]) -> DataStream[U]:
        """The records this operator emits under a tag.

        Raises:
            InvalidProgramError: the tag's id was asked for before with another type.
        """
        checks.instance(output_tag, "get_side_output", OutputTag, "Give the OutputTag the function yields to.")
        known = self._side_outputs = {} if self._side_outputs is None else self._side_outputs
        asked_before = known.setdefault(output_tag.tag_id, output_tag.type_info)
        if asked_before != output_tag.type_info:
            checks.unsupported_operation(
                f"The side output {output_tag.tag_id!r} of {self.get_name()} was asked for with the type "
                f"{asked_before} before and now with {output_tag.type_info}. Tag ids are unique per operator: use one "
                "OutputTag object, or another id."
            )
        node = SideOutputTransformation(self._program.next_id(), self.transformation, output_tag)
        return DataStream(self._program, node)


class DataStreamSource(SingleOutputStreamOperator[T]):
    """A source.

    Args:
        parallel: whether the source function has several instances; otherwise its parallelism is 1 for good.
    """

    __slots__ = ()

    def __init__(self, program: ProgramWithSources, transformation: Transformation, parallel: bool) -> None:
        super().__init__(program, transformation)
        self._serial_source = not parallel
