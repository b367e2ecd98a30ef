"""The ends of streams: sinks, and the stream methods that add them.

Source: Flink 1.11 ``DataStream`` and ``DataStreamSink``.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from penstock.common import checks
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.datastream.functions import SinkFunction
from penstock.datastream.input_formats import OutputFormat
from penstock.datastream.program import missing
from penstock.datastream.program.plan_only import PlanOnly
from penstock.datastream.program.transformations import SinkTransformation, Transformation
from penstock.datastream.sinks import AddedSink, Sink
from penstock.datastream.streams.collecting import CloseableIterator
from penstock.datastream.streams.setters import SinkSetters
from penstock.runtime.io import sinks
from penstock.runtime.operators.sink import StreamSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from penstock.datastream.streams.sources import ProgramWithSources

T = TypeVar("T", covariant=True)


def _nothing(frame: DataFrame) -> None:
    """What writes a DataFrame that the program gets."""


class DataStreamSink(SinkSetters, Generic[T]):
    """The end of a stream of records of type ``T``.

    Attributes:
        transformation: the node of the sink, with settings that have no method here.
    """

    __slots__ = ("transformation",)

    def __init__(self, transformation: SinkTransformation) -> None:
        self.transformation: SinkTransformation = transformation

    def __repr__(self) -> str:
        return f"<DataStreamSink of {self.transformation!r}>"

    if not TYPE_CHECKING:  # checkers shall see what is missing

        def __getattr__(self, name: str) -> Any:
            from penstock.datastream.streams.keyed_stream import KeyedStream

            hint = f"A sink is the end of a stream. Keep the stream before it in a variable, and call {name}() on that."
            of_streams = hasattr(KeyedStream, name)
            raise missing.missing(type(self), name, missing.SINK, hint=hint if of_streams else "")


class SinkMethods(Generic[T]):
    """Mixed into DataStream."""

    __slots__ = ()
    _program: ProgramWithSources
    transformation: Transformation
    _with_key: Callable[[Any], Any]

    def _sink(self, name: str, sink: Any, parallelism: int | None = None) -> DataStreamSink[T]:
        """Add a sink; of a function, or planned only."""
        transformation = self._transformed(name, sink, parallelism)
        self._program.register(transformation)
        return DataStreamSink(transformation)

    def _transformed(self, name: str, sink: Any, parallelism: int | None = None) -> SinkTransformation:
        """The node of a sink, which is not part of the program yet."""
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
        checks.instance(sink, "sink_to", Sink, hint, ", which is no Sink")
        planned = getattr(sink, "plan_only", None)
        if planned is not None:
            return self._sink("Unnamed", PlanOnly("sink_to", sink, planned))
        sink.check(self.transformation.output_type)
        return self._sink("Unnamed", sink.runtime())

    def to_spark(self, schema: StructType | TypeInformation[object] | str | None = None) -> DataFrame:
        """This stream as a DataFrame of Spark, for SQL, joins and writers of Spark's. No record passes the driver.

        What leads to the stream, and nothing else of the program, runs whenever an action of the DataFrame needs its
        rows: twice for two actions, unless it is cached by ``cache()`` or ``persist()`` of the DataFrame. The program
        itself stays as it is, and needs no ``execute`` for this. What functions print is not shown, and there are no
        metrics.

        Args:
            schema: of the DataFrame, if it shall not follow from the type of the records: Spark's ``StructType``, or
                its DDL, such as ``"word string, price decimal(10,2)"``, or a type of records.

        Returns:
            A ``pyspark.sql.DataFrame`` with a column per field of a row or tuple, one named ``value`` for all other
            records; as many partitions as the stream has subtasks.

        Raises:
            InvalidProgramError: the type of the records is not declared, and no schema was given.
            UnsupportedError: the program does not run on Spark, or not as a whole: it never ends, or has a job folder.
        """
        from penstock.datastream.connectors.spark import SparkSink, schema_from

        sink: SparkSink[Any] = SparkSink(_nothing, schema=None if schema is None else schema_from(schema, "to_spark"))
        sink.check(self.transformation.output_type, "to_spark")
        before = self._program.last_id
        node = self._transformed("to_spark", sink.runtime(), self.transformation.parallelism)
        self._program.last_id = before  # the program does not have the node
        return self._program.frame_of(node)

    def print(self, sink_identifier: str | None = None) -> DataStreamSink[T]:
        """Print records on the driver's standard output, as ``n> record`` when the sink has several subtasks.

        Args:
            sink_identifier: text in front of each line.
        """
        checks.text(sink_identifier, "print", "identifier", optional=True)
        return self._sink("Print to Std. Out", sinks.PrintSink(sink_identifier, False))

    def print_to_err(self, sink_identifier: str | None = None) -> DataStreamSink[T]:
        """Like :meth:`print`, on the driver's standard error."""
        checks.text(sink_identifier, "print_to_err", "identifier", optional=True)
        return self._sink("Print to Std. Err", sinks.PrintSink(sink_identifier, True))

    def write_as_text(self, path: str, overwrite: bool = False) -> DataStreamSink[T]:
        """Write each record's text form as a line.

        Args:
            path: a file when the sink's parallelism is 1, else a folder with one file per subtask; a path, or the URL
                of a store such as ``s3://bucket/out``.
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
        """Run the whole program and fetch this stream's records to the driver.

        Args:
            job_execution_name: job name.
            limit: at least 1: return a list of at most that many records instead of an iterator.

        Returns:
            An iterator that is also a context manager, or a list if ``limit`` was given. All records of the stream are
            in the driver's memory; those of a program without an end come as its steps are committed, and it is
            cancelled when the iterator is closed or the limit is reached.
        """
        if limit is not None and checks.integer(limit, "execute_and_collect", "limit") < 1:
            checks.illegal_argument(
                f"execute_and_collect(limit={limit}): a limit is at least 1. Leave it out for all records."
            )
        sink_id = f"collect-{self._program.next_collect_number()}"
        self._as_collected()._sink("Data stream collect sink", sinks.CollectSink(sink_id), parallelism=1)
        records = CloseableIterator(self._program.collected(job_execution_name, sink_id))
        if limit is None:
            return records
        with records:
            return list(islice(records, limit))

    def _as_collected(self) -> SinkMethods[Any]:
        """The stream whose records :meth:`execute_and_collect` fetches."""
        return self

    def write_as_csv(self, path: str) -> DataStreamSink[T]:
        """Write tuples or rows as lines of comma-separated fields (plan only).

        Raises:
            InvalidProgramError: the declared type has no fields.
        """
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
        hint = "Use add_sink(function) to write what you like."
        checks.instance(output_format, "write_using_output_format", OutputFormat, hint, ", which is no OutputFormat")
        return self._sink("Unnamed", PlanOnly("write_using_output_format", output_format))

    def write_to_socket(self, host_name: str, port: int, schema: object = None) -> DataStreamSink[T]:
        """Send records to a socket, from one subtask (plan only).

        Args:
            host_name: where the socket is.
            port: its port.
            schema: turns records into bytes.
        """
        checks.text(host_name, "write_to_socket", "host name")
        checks.integer(port, "write_to_socket", "port")
        return self._sink("Unnamed", PlanOnly("write_to_socket", schema)).set_parallelism(1)
