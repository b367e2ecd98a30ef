"""DataStream and what its methods return: operators and sinks.

A stream is a handle on a transformation; nothing runs before ``execute``. Methods that add an operator register it in
the order of the calls; partitioners, unions and side outputs enter the plan only when something consumes them. Source:
Flink 1.11 ``DataStream``, ``SingleOutputStreamOperator``; names: PyFlink's.
"""
# pyright: reportPrivateUsage=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, overload

from penstock.common import checks
from penstock.common.contexts import Context
from penstock.common.functions.output_tag import OutputTag
from penstock.common.time import Span
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation, Types
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
    Results,
    SinkFunction,
)
from penstock.datastream.input_formats import OutputFormat
from penstock.datastream.program import keys, missing_methods
from penstock.datastream.program.batch_functions import wants_batches
from penstock.datastream.program.cached_streams import CacheTransformation
from penstock.datastream.program.call_site import called
from penstock.datastream.program.plan_only import PlanOnly
from penstock.datastream.program.transformations import (
    OneInputTransformation,
    PartitionTransformation,
    PhysicalTransformation,
    SideOutputTransformation,
    SinkTransformation,
    Transformation,
    UnionTransformation,
)
from penstock.datastream.sinks import AddedSink, Sink
from penstock.datastream.state import MapStateDescriptor
from penstock.datastream.streams.batches import BatchFunctions
from penstock.datastream.streams.setters import OPERATOR_SETTERS, OperatorSetters
from penstock.datastream.streams.sink import CloseableIterator, DataStreamSink
from penstock.errors import MissingMethodError
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.io import sinks
from penstock.runtime.keys import partition
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.process import ProcessOperator
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from penstock.runtime.usercode.functions import simple_name
from penstock.runtime.windows.assigners import GlobalWindows, WindowAssigner
from penstock.runtime.windows.time_window import GlobalWindow, TimeWindow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from penstock.common import ExecutionConfig
    from penstock.datastream.streams.connected_streams import (
        BroadcastConnectedStream,
        BroadcastStream,
        ConnectedStreams,
        IterativeStream,
    )
    from penstock.datastream.streams.joined_streams import JoinedStreams
    from penstock.datastream.streams.keyed_stream import KeyedStream
    from penstock.datastream.streams.sources import ProgramWithSources
    from penstock.datastream.streams.windowed_stream import AllWindowedStream

T = TypeVar("T", covariant=True)
U = TypeVar("U")
B = TypeVar("B")
K = TypeVar("K")
W = TypeVar("W")
M = TypeVar("M", Literal["join"], Literal["co_group"])


class DataStream(BatchFunctions[T], missing_methods.Advised, Generic[T]):
    """A stream of records of type ``T``; ``transformation`` is its node, with settings that have no method here."""

    __slots__ = ("_program", "transformation")

    def __init__(self, program: ProgramWithSources, transformation: Transformation) -> None:
        self._program: ProgramWithSources = program
        self.transformation: Transformation = transformation

    @property
    def _j_data_stream(self) -> DataStream[T]:
        """The stream itself: PyFlink's programs wrap it again."""
        return self

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

    def get_execution_config(self) -> ExecutionConfig:
        """Settings of the program; see ``get_config()`` of the environment."""
        return self._program.get_config()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.transformation!r}>"

    @classmethod
    def _missing(cls, name: str) -> AttributeError:
        from penstock.datastream.streams.keyed_stream import KeyedStream
        from penstock.datastream.streams.windowed_stream import WindowedStream

        if name in OPERATOR_SETTERS or name == "get_side_output":
            return MissingMethodError(
                f"{name}() exists on operators only, and this {cls.__name__} is not one: partitioners, unions, side "
                f"outputs and key_by() only say how records travel. Call {name}() on the operator before or after it.",
                name=name,
            )
        is_keyed = issubclass(cast("type[object]", cls), KeyedStream)
        advice = {**missing_methods.STREAM, **missing_methods.KEYED} if is_keyed else missing_methods.STREAM
        keyed_methods = [method for method in dir(KeyedStream) if not method.startswith("_")]
        hint = f"Keyed streams have it. Call key_by() before {name}()." if name in keyed_methods else ""
        if not hint and hasattr(WindowedStream, name):
            hint = f"Windows have it. Call window(assigner) or window_all(assigner) before {name}()."
        return missing_methods.missing(cls, name, advice, hint=hint, like=keyed_methods)

    def _transform(
        self,
        name: str,
        operator: Any,
        output_type: TypeInformation[Any] | None,
        chaining_strategy: str = "ALWAYS",
        kind: type[OneInputTransformation] = OneInputTransformation,
    ) -> SingleOutputStreamOperator[Any]:
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
        return operator

    def map(
        self, func: MapFunction[T, U] | Callable[[T], U], output_type: TypeInformation[U] | None = None
    ) -> SingleOutputStreamOperator[U]:
        """One record out for each record in. Without ``output_type`` the results are undeclared: any Python objects. A
        function whose argument is annotated as a batch is one for :meth:`map_batches`."""
        checks.function(func, "map", "map")
        if wants_batches(func, "map", self.transformation.output_type):
            return self.map_batches(func, cast("TypeInformation[U]", output_type))
        return self._transform("Map", StreamMap(func, output_type), checks.type_info(output_type, "map"))

    def flat_map(
        self, func: FlatMapFunction[T, U] | Callable[[T], Iterable[U]], output_type: TypeInformation[U] | None = None
    ) -> SingleOutputStreamOperator[U]:
        """Any number of records out for each record in: ``func`` returns an iterable, or is a generator function. One
        of batches, by its annotation, is for :meth:`flat_map_batches`."""
        checks.function(func, "flat_map", "flat_map")
        if wants_batches(func, "flat_map", self.transformation.output_type):
            return self.flat_map_batches(func, cast("TypeInformation[U]", output_type))
        return self._transform("Flat Map", StreamFlatMap(func, output_type), checks.type_info(output_type, "flat_map"))

    def filter(self, func: FilterFunction[T] | Callable[[T], object]) -> SingleOutputStreamOperator[T]:
        """Keep a record if ``func`` of it is true; the type stays. A function of batches, by its annotation,
        is for :meth:`filter_batches`."""
        checks.function(func, "filter", "filter")
        if wants_batches(func, "filter", self.transformation.output_type):
            return self.filter_batches(func)
        return self._transform("Filter", StreamFilter(func), self.transformation.output_type)

    def process(
        self,
        func: ProcessFunction[T, U] | Callable[[T, Context], Results[U]],
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Records out by ``yield``, with timestamps and side outputs (``yield tag, value``), by (value, context)."""
        checks.function(func, "process", "process_element")
        if isinstance(func, KeyedProcessFunction):
            checks.refuse(
                f"process() was given the KeyedProcessFunction {simple_name(func)}, but the stream is not keyed. "
                "Call key_by() before process(), or derive the function from ProcessFunction."
            )
        return self._transform("Process", ProcessOperator(func, output_type), checks.type_info(output_type, "process"))

    def transform(
        self, operator_name: str, output_type: TypeInformation[U] | None, operator: StreamOperator
    ) -> SingleOutputStreamOperator[U]:
        """Add a custom operator, one of :mod:`penstock.runtime.operators`, under its name in plans."""
        checks.name(operator_name, "transform", "operator name")
        hint = "Use map() or process() with a function, or give an operator such as StreamMap(f, output_type)."
        checks.instance(operator, "transform", StreamOperator, hint, ", which is not an operator")
        return self._transform(operator_name, operator, checks.type_info(output_type, "transform"))

    def project(self, *field_indexes: int) -> SingleOutputStreamOperator[tuple[Any, ...]]:
        """Keep some fields of tuples, in the given order: 1 to 24 positions from 0."""
        output_type = keys.projected_type(self.transformation.output_type, field_indexes)
        return self._transform("Projection", StreamMap(keys.Projection(field_indexes), output_type), output_type)

    def union(self, *streams: DataStream[U]) -> DataStream[T | U]:
        """This stream and others of the same declared type as one. The same stream twice gives its records twice."""
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
            key_type: type of a selector's keys (also accepted as second positional argument); with the key's value it
                decides on the subtask. None leaves it undeclared.
        """
        from penstock.datastream.streams.keyed_stream import KeyedStream

        selector, key_type = keys.key_by(self.transformation.output_type, key_selector, fields, key_type)
        if self._program.settings.pyflink:
            key_type = InRow(key_type)
        return KeyedStream(self, partition.KeyPartition(selector, key_type, called("key_by")))

    def _partition(self, partitioner: str, spec: Any = None) -> DataStream[T]:
        program = self._program
        return DataStream(program, PartitionTransformation(program.next_id(), self.transformation, partitioner, spec))

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
        """Send every record to every subtask. With states, the result is a BroadcastStream to connect to."""
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
        """Choose the subtask yourself: ``partitioner`` takes (key, number of subtasks) and returns an index from 0. A
        key may also be a position or a field name."""
        checks.function(partitioner, "partition_custom", "partition")
        selector = keys.one_key(self.transformation.output_type, key_selector, "partition_custom")
        return self._partition("CUSTOM", partition.CustomPartition(partitioner, selector, called("partition_custom")))

    @overload
    def connect(self, ds: DataStream[B]) -> ConnectedStreams[T, B]: ...

    @overload
    def connect(self, ds: BroadcastStream[B]) -> BroadcastConnectedStream[T, B]: ...

    def connect(
        self, ds: DataStream[B] | BroadcastStream[B]
    ) -> ConnectedStreams[T, B] | BroadcastConnectedStream[T, B]:
        """This stream and another of any type, for operators with two inputs."""
        from penstock.datastream.streams import connected_streams as connected

        checks.stream(ds, "connect", (DataStream, connected.BroadcastStream))
        checks.same_environment(self, ds, "connect")
        if isinstance(ds, DataStream):
            return connected.ConnectedStreams(self, ds)
        return connected.BroadcastConnectedStream(self, ds)

    def cache(self) -> CachedDataStream[T]:
        """This stream, an operator's output or a side output, computed once, by the first job of the environment that
        needs it; later jobs begin with its records, which the driver keeps in memory. In STREAMING mode it is the
        stream itself, as in Flink."""
        return CachedDataStream(self)

    def iterate(self, max_wait_time_ms: int = 0) -> IterativeStream[T]:
        """Start a loop at this stream; ``close_with`` on the result ends it. A loop ends when no feedback is left. How
        many milliseconds Flink waits for feedback (0: for ever) is only carried in the plan."""
        from penstock.datastream.streams.connected_streams import IterativeStream

        return IterativeStream(self, max_wait_time_ms)

    def assign_timestamps_and_watermarks(
        self, watermark_strategy: WatermarkStrategy[T]
    ) -> SingleOutputStreamOperator[T]:
        """Assign event times to records, and watermarks to the stream, at the parallelism of the input."""
        hint = "Give a WatermarkStrategy, such as WatermarkStrategy.for_monotonous_timestamps()."
        checks.instance(watermark_strategy, "assign_timestamps_and_watermarks", WatermarkStrategy, hint)
        operator = TimestampsAndWatermarks(watermark_strategy.as_given())
        added = self._transform("Timestamps/Watermarks", operator, self.transformation.output_type)
        return added.set_parallelism(self.transformation.parallelism)

    def window_all(self, window_assigner: WindowAssigner[T, W]) -> AllWindowedStream[T, W]:
        """Windows over the whole stream, in one subtask."""
        from penstock.datastream.streams.windowed_stream import AllWindowedStream

        return AllWindowedStream(self, window_assigner)

    def time_window_all(self, size: Span, slide: Span | None = None) -> AllWindowedStream[T, TimeWindow]:
        """Tumbling or, with ``slide``, sliding windows over the whole stream, by the time characteristic."""
        from penstock.datastream.streams.keyed_stream import time_assigner

        return self.window_all(time_assigner(self._program, size, slide))

    def count_window_all(self, size: int, slide: int | None = None) -> AllWindowedStream[T, GlobalWindow]:
        """Windows by number of records over the whole stream, in one subtask; see :meth:`KeyedStream.count_window`."""
        return self.window_all(GlobalWindows())._by_count("count_window_all", size, slide)

    def join(self, other_stream: DataStream[B]) -> JoinedStreams[T, B, Literal["join"]]:
        """Pair records of equal keys within windows: ``join(other).where(…).equal_to(…).window(…).apply(…)``."""
        return self._joined(other_stream, "join")

    def co_group(self, other_stream: DataStream[B]) -> JoinedStreams[T, B, Literal["co_group"]]:
        """Like :meth:`join`, but the function sees both groups of a key and window, also when one is empty."""
        return self._joined(other_stream, "co_group")

    def _joined(self, other: DataStream[B], method: M) -> JoinedStreams[T, B, M]:
        from penstock.datastream.streams.joined_streams import JoinedStreams

        checks.stream(other, method, DataStream)
        checks.same_environment(self, other, method)
        return JoinedStreams(self, other, method)

    def _sink(self, name: str, sink: Any, parallelism: int | None = None) -> DataStreamSink[T]:
        transformation = self._transformed(name, sink, parallelism)
        self._program.register(transformation)
        return DataStreamSink(transformation)

    def _transformed(self, name: str, sink: Any, parallelism: int | None = None) -> SinkTransformation:

        program = self._program
        operator = sink if isinstance(sink, PlanOnly) else StreamSink(sink)
        return SinkTransformation(
            program.next_id(),
            name,
            self.transformation.output_type,
            program.parallelism_left_open if parallelism is None else parallelism,
            self._with_key(operator),
            self.transformation,
        )

    def add_sink(self, sink_func: SinkFunction[T] | Callable[[T], object] | AddedSink) -> DataStreamSink[T]:
        """Send records to a SinkFunction, a callable of one argument, a StreamingFileSink or FlinkKafkaProducer."""
        if isinstance(sink_func, AddedSink):
            return self._sink("Unnamed", sink_func.runtime())
        if isinstance(sink_func, Sink):
            checks.refuse(f"add_sink() was given a {type(cast('object', sink_func)).__name__}. Use sink_to() for it.")
        planned = getattr(sink_func, "plan_only", None)
        if planned is not None:
            return self._sink("Unnamed", PlanOnly("add_sink", sink_func, planned))
        return self._sink("Unnamed", checks.function(sink_func, "add_sink", "invoke"))

    def sink_to(self, sink: Sink[T]) -> DataStreamSink[T]:
        """Write records to a sink of :mod:`penstock.datastream.connectors`, such as a FileSink."""
        hint = "Give FileSink.for_row_format(…).build(), say. A SinkFunction or a callable goes to add_sink()."
        checks.instance(sink, "sink_to", Sink, hint, ", which is not a Sink")
        planned = getattr(sink, "plan_only", None)
        if planned is not None:
            return self._sink("Unnamed", PlanOnly("sink_to", sink, planned))
        return self._sink("Unnamed", sink.runtime_for(self.transformation.output_type))

    def to_spark(self, schema: StructType | TypeInformation[object] | str | None = None) -> DataFrame:
        """This stream as a Spark DataFrame, for SQL, joins and Spark's writers. No record passes the driver.

        The part of the program that leads to this stream runs whenever an action needs its rows: twice for two actions,
        unless the DataFrame is cached. The program itself does not change, and needs no ``execute`` for this. Output
        that functions print is not shown, and there are no metrics.

        Args:
            schema: instead of the one of the records' type: Spark's ``StructType``, its DDL, or a type of records.

        Returns:
            A DataFrame with a column per field of a row or tuple, one named ``value`` for other records; as many
            partitions as the stream has subtasks.

        Raises:
            InvalidProgramError: the type of the records is not declared, and no schema was given.
            UnsupportedError: the program does not run on Spark as a whole: it never ends, or has a checkpoint
                directory.
        """
        from penstock.datastream.connectors.spark import SparkSink, schema_from

        columns = None if schema is None else schema_from(schema, "to_spark")
        sink: SparkSink[Any] = SparkSink(lambda frame: None, schema=columns)
        runtime = sink.runtime_for(self.transformation.output_type, "to_spark")
        before = self._program.last_id
        node = self._transformed("to_spark", runtime, self.transformation.parallelism)
        self._program.last_id = before  # the program does not have the node
        return self._program.frame_of(node)

    def print(self, sink_identifier: str | None = None) -> DataStreamSink[T]:
        """Print records on the driver's standard output, as ``n> record`` if there are subtasks, after the
        identifier."""
        checks.text(sink_identifier, "print", "identifier", optional=True)
        return self._sink("Print to Std. Out", sinks.PrintSink(sink_identifier, False))

    def print_to_err(self, sink_identifier: str | None = None) -> DataStreamSink[T]:
        """Like :meth:`print`, on the driver's standard error."""
        checks.text(sink_identifier, "print_to_err", "identifier", optional=True)
        return self._sink("Print to Std. Err", sinks.PrintSink(sink_identifier, True))

    def write_as_text(self, path: str, overwrite: bool = False) -> DataStreamSink[T]:
        """Write each record's text form as a line.

        Args:
            path: a file when the sink's parallelism is 1, else a folder with one file per subtask; or the URL of a
                store, such as ``s3://bucket/out``.
            overwrite: replace what is there; otherwise existing output is an error when the job starts.
        """
        checks.path(path, "write_as_text")
        checks.boolean(overwrite, "write_as_text", "overwrite")
        return self._sink("Unnamed", sinks.TextSink(path, overwrite))

    @overload
    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: None = None
    ) -> CloseableIterator[T]: ...

    @overload
    def execute_and_collect(self, job_execution_name: str | None = None, *, limit: int) -> list[T]: ...

    @overload
    def execute_and_collect(self, job_execution_name: str | None, limit: int) -> list[T]: ...

    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator[T] | list[T]:
        """Run the whole program and fetch this stream's records to the driver's memory.

        Returns:
            An iterator that is also a context manager; with ``limit``, a list of at most that many records. Those of a
            program without an end come as its steps are committed; it is cancelled when the iterator is closed or the
            limit reached.
        """
        if limit is not None and checks.integer(limit, "execute_and_collect", "limit") < 1:
            checks.illegal_argument(
                f"execute_and_collect(limit={limit}): a limit is at least 1. Give 1 or more, or none."
            )
        sink_id = f"collect-{self._program.next_collect_number()}"
        self._as_collected()._sink("Data stream collect sink", sinks.CollectSink(sink_id), parallelism=1)
        records = CloseableIterator(self._program.collected(job_execution_name, sink_id))
        if limit is None:
            return records
        with records:
            return list(islice(records, limit))

    def _as_collected(self) -> DataStream[Any]:
        return self

    def write_as_csv(self, path: str) -> DataStreamSink[T]:
        """Write tuples or rows as lines of comma-separated fields (plan only)."""
        checks.text(path, "write_as_csv", "path")
        declared = self.transformation.output_type
        if checks.declared(declared) and not isinstance(declared, TupleTypeInfo | RowTypeInfo):
            checks.illegal_argument(
                f"write_as_csv() on a stream of {declared}: only tuples and rows have fields to separate. "
                "Use write_as_text()."
            )
        return self._sink("Unnamed", PlanOnly("write_as_csv"))

    def write_using_output_format(self, output_format: OutputFormat[T]) -> DataStreamSink[T]:
        """Write through an output format (plan only)."""
        hint, why = "Use add_sink(function) to write what you like.", ", which is not an OutputFormat"
        checks.instance(output_format, "write_using_output_format", OutputFormat, hint, why)
        return self._sink("Unnamed", PlanOnly("write_using_output_format", output_format))

    def write_to_socket(self, host_name: str, port: int, schema: object = None) -> DataStreamSink[T]:
        """Send records to a socket, from one subtask (plan only); ``schema`` turns them into bytes."""
        checks.text(host_name, "write_to_socket", "host name")
        checks.integer(port, "write_to_socket", "port")
        return self._sink("Unnamed", PlanOnly("write_to_socket", schema)).set_parallelism(1)


class SingleOutputStreamOperator(OperatorSetters, DataStream[T]):
    """The stream that comes out of an operator: a DataStream with the operator's setters and side outputs."""

    __slots__ = ("_non_parallel", "_serial_source")

    def __init__(self, program: ProgramWithSources, transformation: Transformation) -> None:
        super().__init__(program, transformation)
        self._non_parallel = self._serial_source = False

    def get_side_output(self, output_tag: OutputTag[U]) -> DataStream[U]:
        """The records this operator emits under a tag. The id of a tag stands for one type only."""
        checks.instance(output_tag, "get_side_output", OutputTag, "Give the OutputTag the function yields to.")
        asked_before = self.transformation.ask_for_side_output(output_tag)
        if asked_before != output_tag.type_info:
            checks.unsupported_operation(
                f"The side output {output_tag.tag_id!r} of {self.get_name()} was asked for with the type "
                f"{asked_before} before and now with {output_tag.type_info}. Tag ids are unique per operator: use one "
                "OutputTag object, or another id."
            )
        node = SideOutputTransformation(self._program.next_id(), self.transformation, output_tag)
        return DataStream(self._program, node)


class DataStreamSource(SingleOutputStreamOperator[T]):
    """A source. If its function is not ``parallel``, its parallelism is 1 for good."""

    __slots__ = ()

    def __init__(self, program: ProgramWithSources, transformation: Transformation, parallel: bool) -> None:
        super().__init__(program, transformation)
        self._serial_source = not parallel


class CachedDataStream(DataStream[T]):
    """A stream of records of type ``T`` that the first job that needs it computes, and that is kept for later jobs of
    the environment. Made by :meth:`DataStream.cache`."""

    __slots__ = ("_cache",)

    def __init__(self, stream: DataStream[T]) -> None:
        program, before = stream._program, stream.transformation
        if not isinstance(before, PhysicalTransformation | SideOutputTransformation):
            checks.refuse(
                f"cache() of {before.name!r}: only what an operator emits can be cached, not how records travel. Call "
                "cache() on the operator before it, or map() first.",
                checks.ILLEGAL_STATE,
            )
        cache = CacheTransformation(program.next_id(), before)
        for _ in cache.noting:
            program.next_id()
        super().__init__(program, cache)
        self._cache = cache

    def invalidate(self) -> None:
        """Forget the records; the next job that needs them computes them again."""
        self._cache.parts = None
