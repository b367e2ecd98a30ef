"""KeyedStream: a stream partitioned by key. Source: Flink 1.11 ``KeyedStream``."""
# pyright: reportPrivateUsage=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar, cast

from penstock.common import checks
from penstock.common.contexts import KeyedContext
from penstock.common.functions.state_descriptor import (
    Folds,
    Reduces,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.common.row import Row
from penstock.common.time import Span
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.functions import KeyedProcessFunction, KeySelector, ProcessFunction, Results
from penstock.datastream.program import keys
from penstock.datastream.program.call_site import called
from penstock.datastream.program.plan_only import PlanOnly
from penstock.datastream.program.program import Program, TimeCharacteristic
from penstock.datastream.program.transformations import PartitionTransformation
from penstock.datastream.streams.data_stream import DataStream, SingleOutputStreamOperator
from penstock.runtime import aggregators
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.operators.process import KeyedProcessOperator
from penstock.runtime.operators.reduce import GroupedFold, GroupedReduce
from penstock.runtime.windows import assigners
from penstock.runtime.windows.assigners import CountSlidingWindowAssigner, CountTumblingWindowAssigner, WindowAssigner
from penstock.runtime.windows.time_window import GlobalWindow, TimeWindow

if TYPE_CHECKING:
    from penstock.datastream.streams.joined_streams import IntervalJoin
    from penstock.datastream.streams.windowed_stream import WindowedStream

T = TypeVar("T", covariant=True)
K = TypeVar("K", covariant=True)
U = TypeVar("U")
V = TypeVar("V")
W = TypeVar("W")


class FieldAggregations(Generic[T]):
    """The aggregations by field: rolling over the records of a key, or over each window."""

    __slots__ = ()

    def _aggregate(self, call: str, field: int | str, first: bool = True) -> SingleOutputStreamOperator[T]:
        raise NotImplementedError

    def sum(self, position_to_sum: int | str = 0) -> SingleOutputStreamOperator[T]:
        """Sum of a field, by position or name; the other fields are those of the first record of key or window. 0 is
        the value itself for scalar streams."""
        return self._aggregate("sum", position_to_sum)

    def min(self, position_to_min: int | str = 0) -> SingleOutputStreamOperator[T]:
        """Minimum of a field, otherwise as :meth:`sum`."""
        return self._aggregate("min", position_to_min)

    def max(self, position_to_max: int | str = 0) -> SingleOutputStreamOperator[T]:
        """Maximum of a field, otherwise as :meth:`sum`."""
        return self._aggregate("max", position_to_max)

    def min_by(self, position_to_min_by: int | str = 0, first: bool = True) -> SingleOutputStreamOperator[T]:
        """The whole record with the smallest field; among equals the first, or the last if not ``first``."""
        return self._aggregate("min_by", position_to_min_by, first)

    def max_by(self, position_to_max_by: int | str = 0, first: bool = True) -> SingleOutputStreamOperator[T]:
        """The whole record with the largest field, otherwise as :meth:`min_by`."""
        return self._aggregate("max_by", position_to_max_by, first)


class KeyedStream(FieldAggregations[T], DataStream[T], Generic[T, K]):
    """A stream of records of type ``T`` partitioned by keys of type ``K``. Its operators see the keys of their subtask
    and keep state per key, so it can only be partitioned again by ``key_by``."""

    __slots__ = ("_key",)

    def __init__(self, stream: DataStream[T], key: KeyPartition, partitioner: str = "HASH") -> None:
        program = stream.get_execution_environment()
        super().__init__(program, PartitionTransformation(program.next_id(), stream.transformation, partitioner, key))
        self._key = key

    def get_key_type(self) -> TypeInformation[K] | None:
        """Declared type of the keys, or None."""
        declared = self._key.key_type
        return declared.key_type if isinstance(declared, InRow) else declared

    @property
    def key(self) -> KeyPartition:
        """How records are keyed."""
        return self._key

    def keyed_again(self) -> KeyedStream[T, K]:
        """Partition once more by the key, which is a node of its own in a plan."""
        return KeyedStream(self, self._key)

    def _with_key(self, operator: Any) -> Any:
        return operator.keyed_by(self._key)

    def _as_collected(self) -> DataStream[Any]:
        """PyFlink collects rows of key and record, a key of undeclared type as its pickled bytes."""
        if not self._program.settings.pyflink:
            return self
        key_of, declared = self._key.selector(), self.get_key_type() is not None

        def with_key(value: Any) -> Row:
            key = key_of(value)
            return Row(f0=key if declared else bytearray(pickle.dumps(key)), f1=value)

        assert isinstance(self.transformation, PartitionTransformation)
        origin = self.transformation.input  # with its subtasks, so that the records keep their order
        stream: DataStream[Any] = DataStream(self._program, origin)
        return stream.map(with_key).set_parallelism(origin.parallelism)

    def _partition(self, partitioner: str, spec: Any = None) -> NoReturn:
        checks.unsupported_operation(
            f"{partitioner.lower()} partitioning of a keyed stream ({self!r}): keyed streams are partitioned by their "
            "key. Partition the stream before key_by(), or the result of the keyed operator."
        )

    def process(
        self,
        func: KeyedProcessFunction[K, T, U] | ProcessFunction[T, U] | Callable[[T, KeyedContext[K]], Results[U]],
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Records out by ``yield``, with state and timers per key. A callable takes (value, context)."""
        checks.function(func, "process", "process_element")
        name = "Process" if isinstance(func, ProcessFunction) else "KeyedProcess"
        return self._transform(name, KeyedProcessOperator(func, output_type), checks.type_info(output_type, "process"))

    def reduce(self, func: Reduces[T, U] | Callable[[T, T], U]) -> SingleOutputStreamOperator[U]:
        """Combine each record with the result so far of its key, by (result so far, record), and emit every result."""
        checks.function(func, "reduce", "reduce")
        return self._rolling("Keyed Reduce", func)

    def fold(
        self, initial_value: U, func: Folds[T, U] | Callable[[U, T], U], output_type: TypeInformation[U] | None = None
    ) -> SingleOutputStreamOperator[U]:
        """Fold each record into the value so far of its key, by (value so far, record), and emit every value (Flink's
        Java API only). Each key begins with a copy of ``initial_value``."""
        checks.function(func, "fold", "fold")
        operator = GroupedFold(initial_value, func)
        return self._transform("Keyed Fold", operator, checks.type_info(output_type, "fold"), "HEAD")

    def _rolling(self, name: str, reducer: Any) -> SingleOutputStreamOperator[Any]:
        return self._transform(name, GroupedReduce(reducer), self.transformation.output_type, "HEAD")

    def _aggregate(self, call: str, field: int | str, first: bool = True) -> SingleOutputStreamOperator[T]:
        return self._rolling("Keyed Aggregation", aggregator(self.transformation.output_type, call, field, first))

    def as_queryable_state(
        self, queryable_state_name: str, state_descriptor: StateDescriptor[object] | None = None
    ) -> QueryableStateStream:
        """Keep the last record of each key, or with a ReducingStateDescriptor their reduction, for others to ask for by
        a name from outside (plan only)."""
        checks.name(queryable_state_name, "as_queryable_state", "name of the state")
        record_type = self.transformation.output_type
        descriptor = state_descriptor or ValueStateDescriptor(queryable_state_name, record_type)
        if type(descriptor) not in (ValueStateDescriptor, ReducingStateDescriptor):
            checks.refuse(
                f"as_queryable_state() was given {checks.shown(descriptor)}. Give a ValueStateDescriptor, which keeps "
                "the last record, or a ReducingStateDescriptor."
            )
        operator = PlanOnly("as_queryable_state", descriptor)
        self._transform(f"Queryable state: {queryable_state_name}", operator, record_type, "HEAD")
        return QueryableStateStream(queryable_state_name, descriptor, self._key.key_type)

    def count_window(self, size: int, slide: int | None = None) -> WindowedStream[T, K, GlobalWindow]:
        """Windows by number of records per key, as Flink's Java API makes them; numbers below 1 make one fire at every
        record. By the switch ``penstock.pyflink`` they are PyFlink's, as :class:`CountWindow`: also with a slide the
        first one fires when it is full, and a slide of 0 counts as no slide.

        Args:
            size: records in a window. Without ``slide`` a window fires when full and starts again.
            slide: fire every ``slide`` records of a key, over its last ``size`` ones; the first firings hold fewer.
        """
        if self._program.settings.pyflink:
            assigner = CountSlidingWindowAssigner.of(size, slide) if slide else CountTumblingWindowAssigner.of(size)
            return self.window(cast("WindowAssigner[T, Any]", assigner))
        return self.window(assigners.GlobalWindows())._by_count("count_window", size, slide)

    def window(self, window_assigner: WindowAssigner[T, W]) -> WindowedStream[T, K, W]:
        """Windows as an assigner makes them."""
        from penstock.datastream.streams.windowed_stream import WindowedStream

        return WindowedStream(self, window_assigner)

    def time_window(self, size: Span, slide: Span | None = None) -> WindowedStream[T, K, TimeWindow]:
        """Tumbling or, with ``slide``, sliding windows in the environment's time characteristic."""
        return self.window(time_assigner(self._program, size, slide))

    def interval_join(self, other_stream: KeyedStream[U, object]) -> IntervalJoin[T, U]:
        """Join with another keyed stream by intervals of event time; ``between`` says how far apart."""
        from penstock.datastream.streams.joined_streams import IntervalJoin

        why = "; both streams must be keyed"
        checks.instance(other_stream, "interval_join", KeyedStream, "Call key_by() on it.", why)
        checks.same_environment(self, other_stream, "interval_join")
        return IntervalJoin(self, other_stream)


class QueryableStateStream:
    """The result of :meth:`KeyedStream.as_queryable_state`: its name, descriptor and type of keys."""

    __slots__ = ("key_type", "queryable_state_name", "state_descriptor")

    def __init__(
        self, name: str, descriptor: StateDescriptor[object], key_type: TypeInformation[object] | None
    ) -> None:
        self.queryable_state_name: str = name
        self.state_descriptor: StateDescriptor[object] = descriptor
        self.key_type: TypeInformation[object] | None = key_type

    def __repr__(self) -> str:
        return f"<QueryableStateStream {self.queryable_state_name!r}>"


def time_assigner(program: Program, size: Span, slide: Span | None) -> WindowAssigner[Any, TimeWindow]:
    """The assigner of ``time_window``: by the clock for ProcessingTime, else by timestamps (Flink 1.11)."""
    by_clock = program.get_stream_time_characteristic() is TimeCharacteristic.ProcessingTime
    if slide is None:
        return (assigners.TumblingProcessingTimeWindows if by_clock else assigners.TumblingEventTimeWindows).of(size)
    return (assigners.SlidingProcessingTimeWindows if by_clock else assigners.SlidingEventTimeWindows).of(size, slide)


def aggregator(stream_type: TypeInformation[Any] | None, call: str, field: int | str, first: bool = True) -> Any:
    """The runtime aggregator of sum, min, max, min_by or max_by, its field checked against the declared type."""
    position = keys.aggregated_field(stream_type, field, call, numeric=call == "sum")
    if call == "sum":
        return aggregators.SumAggregator(position)
    checks.boolean(first, call, "first")
    kind: Literal["min", "max"] = "min" if call.startswith("min") else "max"
    return aggregators.ComparableAggregator(position, kind, by=call.endswith("_by"), first=first)


class DataStreamUtils:
    """Flink's helpers around streams."""

    @staticmethod
    def reinterpret_as_keyed_stream(
        stream: DataStream[U],
        key_selector: KeySelector[U, V] | Callable[[U], V],
        key_type: TypeInformation[V] | None = None,
    ) -> KeyedStream[U, V]:
        """Treat a stream as keyed that is already partitioned exactly as ``key_by`` would; nothing is sent. If it is
        not, records of one key end up in several subtasks, each with state of its own."""
        call = called("reinterpret_as_keyed_stream")
        return KeyedStream(stream, KeyPartition(*keys.key_by(None, key_selector, (), key_type), call), "FORWARD")
