"""ProgramWithSources: a program with the methods that create its sources. Source: Flink 1.11."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from penstock.common import checks
from penstock.common.contexts import SourceContext
from penstock.common.row import Row
from penstock.common.typeinfo import RowTypeInfo, TypeInformation, Types
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.connectors.files.watched_folders import FileMonitor, FolderMonitor, TextPieces
from penstock.connectors.socket_source import SocketSource
from penstock.datastream.functions import ParallelSourceFunction, RuntimeContext, SourceFunction
from penstock.datastream.input_formats import AddedSource, FileInputFormat, FileProcessingMode, InputFormat, Source
from penstock.datastream.program.plan_only import PlanOnly
from penstock.datastream.program.program import Program
from penstock.datastream.program.transformations import (
    NewSourceTransformation,
    SourceTransformation,
    YieldingTransformation,
)
from penstock.datastream.streams.data_stream import DataStreamSource
from penstock.datastream.streams.elements import elements_of
from penstock.runtime.io import sources
from penstock.runtime.io.splits import SplitSource
from penstock.runtime.operators.source import FileReader, FormatPieces, FormatReader, StreamSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.runtime.io.file_format import FileFormat

T = TypeVar("T")


class ProgramWithSources(Program):
    """A program, and the methods that begin streams in it. Sources enter the plan when something needs them."""

    def _source(
        self, name: str, function: Any, type_info: TypeInformation[Any] | None, parallel: bool
    ) -> DataStreamSource[Any]:
        parallelism = self.parallelism_left_open if parallel else 1
        operator = function if isinstance(function, PlanOnly) else StreamSource(function)
        transformation = SourceTransformation(self.next_id(), name, type_info, parallelism, operator)
        return DataStreamSource(self, transformation, parallel)

    @overload
    def from_collection(self, collection: Iterable[object], type_info: RowTypeInfo) -> DataStreamSource[Row]: ...

    @overload
    def from_collection(
        self, collection: Iterable[T], type_info: TypeInformation[object] | None = None
    ) -> DataStreamSource[T]: ...

    def from_collection(
        self, collection: Iterable[Any], type_info: TypeInformation[Any] | None = None
    ) -> DataStreamSource[Any]:
        """A bounded source of the given records, with parallelism 1.

        Args:
            collection: a list or another finite iterable, but not a text or dict; it is read at once, so a later change
                of it does not matter.
            type_info: None leaves the records undeclared. Of a row type they become rows with its field names, whether
                they are rows, tuples, lists, dicts, or objects with attributes (PyFlink).

        Raises:
            TypeInfoError: a record that does not fit its type.
        """
        checks.type_info(type_info, "from_collection", "type_info")
        settings = self.settings
        elements = sources.CollectionSource(elements_of(collection, type_info, settings), type_info, settings.native)
        return self._source("Collection Source", elements, type_info, parallel=False)

    def from_elements(self, *elements: T, type_info: TypeInformation[T] | None = None) -> DataStreamSource[T]:
        """:meth:`from_collection` of the arguments, as in Flink's Java API: at least one."""
        if not elements:
            checks.illegal_argument("from_elements() was given no record. Give one, or use from_collection([]).")
        checks.type_info(type_info, "from_elements", "type_info")
        return self.from_collection(elements, type_info)

    def generate_sequence(self, from_: int, to: int) -> DataStreamSource[int]:
        """The integers from ``from_`` to ``to``, both included; subtasks take them in turn."""
        checks.integer(from_, "generate_sequence", "start")
        checks.integer(to, "generate_sequence", "end")
        if from_ > to:
            checks.illegal_argument(
                f"generate_sequence({from_}, {to}): the start lies behind the end. Swap them; the end is included."
            )
        return self._source("Sequence Source", sources.SequenceSource(from_, to), Types.LONG(), parallel=True)

    def add_source(
        self,
        source_func: SourceFunction[T],
        source_name: str = "Custom Source",
        type_info: TypeInformation[T] | None = None,
    ) -> DataStreamSource[T]:
        """A source written in Python: a SourceFunction (one instance), a ParallelSourceFunction (one per subtask), or
        any object with ``run(ctx)``; or a FlinkKafkaConsumer. Without ``type_info`` its records are undeclared."""
        if not hasattr(source_func, "run") or isinstance(source_func, type):
            checks.refuse(
                f"add_source() was given {checks.shown(source_func)}; give an object with a method run(ctx), such "
                "as an instance of a SourceFunction subclass. For a list use from_collection()."
            )
        checks.name(source_name, "add_source", "source name")
        checks.type_info(type_info, "add_source", "type_info")
        if isinstance(source_func, AddedSource):
            source = source_func.source()
            return self._source(source_name, SplitSource(source), type_info or source.produced_type, parallel=True)
        planned = getattr(source_func, "plan_only", None)
        if planned is not None:
            produced = getattr(source_func, "get_produced_type", None)
            records = type_info if type_info or produced is None else produced()
            return self._source(source_name, PlanOnly("add_source", source_func, planned), records, parallel=True)
        return self._source(source_name, source_func, type_info, isinstance(source_func, ParallelSourceFunction))

    def read_text_file(self, file_path: str, charset_name: str = "UTF-8") -> DataStreamSource[str]:
        """The lines of a text file, or of all files in a folder (not in folders below it), or of what fits a pattern
        with ``*``, ``?``, ``[…]``. Compressed files are decompressed, by how their names end.

        Two operators, as in Flink: a monitor of parallelism 1 finds the files and cuts them into splits, a reader turns
        splits into lines. The returned stream, with its setters, is the reader.

        Args:
            file_path: path or URL of a file or folder, or a pattern.
            charset_name: encoding by its Python or IANA name.
        """
        checks.path(file_path, "read_text_file")
        checks.charset(charset_name, "read_text_file")
        monitor = StreamSource(SplitSource(FileMonitor(file_path, TextPieces(charset_name))))
        return self._file_source("Custom File Source", monitor, FileReader(charset_name), Types.STRING())

    def _file_source(
        self, name: str, monitor: Any, reader: Any, type_info: TypeInformation[Any] | None
    ) -> DataStreamSource[Any]:
        """Add monitor and reader; their ids are in this order."""
        source = SourceTransformation(self.next_id(), name, None, 1, monitor)
        node = YieldingTransformation(
            self.next_id(),
            f"Split Reader: {name}",
            type_info,
            self.parallelism_left_open,
            reader,
            source,
            chaining_strategy="HEAD",
        )
        self.register(node)
        return DataStreamSource(self, node, parallel=True)

    @overload
    def from_parallel_collection(
        self, collection: Iterable[object], type_info: RowTypeInfo
    ) -> DataStreamSource[Row]: ...

    @overload
    def from_parallel_collection(
        self, collection: Iterable[T], type_info: TypeInformation[object] | None = None
    ) -> DataStreamSource[T]: ...

    def from_parallel_collection(
        self, collection: Iterable[Any], type_info: TypeInformation[Any] | None = None
    ) -> DataStreamSource[Any]:
        """Like :meth:`from_collection`, with the environment's parallelism; subtasks take records in turn."""
        checks.type_info(type_info, "from_parallel_collection", "type_info")
        function = DealtOut(elements_of(collection, type_info, self.settings))
        return self._source("Parallel Collection Source", function, type_info, parallel=True)

    def from_source(
        self,
        source: Source[T],
        watermark_strategy: WatermarkStrategy[T],
        source_name: str,
        type_info: TypeInformation[T] | None = None,
    ) -> DataStreamSource[T]:
        """A source of the new kind: one of :mod:`penstock.datastream.connectors`, or a custom one. The watermark
        strategy is applied in the source itself. Without ``type_info`` the records have the source's type."""
        hint = (
            "Give a connector's, such as NumberSequenceSource(1, 100), or an object of a subclass of Source with "
            "splits() and read(); a SourceFunction goes to add_source(), a list to from_collection()."
        )
        checks.instance(source, "from_source", Source, hint, ", which is not a Source")
        hint = "Give a WatermarkStrategy, such as WatermarkStrategy.no_watermarks()."
        checks.instance(watermark_strategy, "from_source", WatermarkStrategy, hint, " as watermark strategy")
        checks.name(source_name, "from_source", "source name")
        checks.type_info(type_info, "from_source", "type_info")
        operator: Any = (
            StreamSource(SplitSource(source), watermarks=watermark_strategy.as_given())
            if source.readable()
            else PlanOnly("from_source", source, getattr(source, "plan_only", ""))
        )
        produced, parallelism = type_info or source.produced_type, self.parallelism_left_open
        node = NewSourceTransformation(self.next_id(), source_name, produced, parallelism, operator)
        # Flink 1.11 runs it in parallel, but refuses a parallelism other than 1. Later versions and PyFlink accept it.
        settable = self.settings.pyflink or self.settings.flink != "1.11"
        return DataStreamSource(self, node, parallel=settable)

    @overload
    def from_spark(
        self,
        df: DataFrame,
        type_info: None = None,
        source_name: str = "Spark Source",
        watermark_strategy: WatermarkStrategy[Row] | None = None,
        order_by: str | None = None,
    ) -> DataStreamSource[Row]: ...

    @overload
    def from_spark(
        self,
        df: DataFrame,
        type_info: TypeInformation[T],
        source_name: str = "Spark Source",
        watermark_strategy: WatermarkStrategy[T] | None = None,
        order_by: str | None = None,
    ) -> DataStreamSource[T]: ...

    def from_spark(
        self,
        df: DataFrame,
        type_info: TypeInformation[Any] | None = None,
        source_name: str = "Spark Source",
        watermark_strategy: WatermarkStrategy[Any] | None = None,
        order_by: str | None = None,
    ) -> DataStreamSource[Any]:
        """The rows of a Spark DataFrame, read by the executors: no row passes the driver.

        Partitions become subtasks: where there are more of them, subtasks read several; where fewer, some read nothing.
        The DataFrame is computed again in every job that reads it. With a streaming one, of ``spark.readStream``, the
        program never ends: each step reads a micro-batch.

        Args:
            df: of the session that runs the program; a streaming one without aggregations, ``dropDuplicates``, joins of
                streams and ``limit``.
            type_info: a row or tuple of all columns, in order, or the type of the only one. None makes rows with the
                names of the columns.
            source_name: operator name.
            watermark_strategy: applied in the source itself. With it each subtask reads rows of several files in the
                order of their paths, and within a file in its own.
            order_by: a column, such as the time; each subtask reads its rows in its order instead. In both cases Spark
                sorts them, within a partition, on disk if needed; each micro-batch of a streaming one separately, and
                by a column only. With neither, rows come in Spark's order, large files first.

        Raises:
            UnsupportedError: it has a type that no record has, such as an interval.
        """
        from penstock.datastream.connectors.spark import frame_source

        order = checks.text(order_by, "from_spark", "order_by", optional=True)
        declared = checks.type_info(type_info, "from_spark", "type_info")
        source = frame_source(df, declared, order, timed=watermark_strategy is not None)
        checks.name(source_name, "from_spark", "source name")
        if watermark_strategy is not None:
            hint = "Give WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(…), say."
            checks.instance(watermark_strategy, "from_spark", WatermarkStrategy, hint)
            watermark_strategy = watermark_strategy.as_given()
        operator = StreamSource(source, watermark_strategy)
        node = SourceTransformation(self.next_id(), source_name, source.declared, self.parallelism_left_open, operator)
        return DataStreamSource(self, node, parallel=True)

    def socket_text_stream(
        self, hostname: str, port: int, delimiter: str = "\n", max_retry: int = 0
    ) -> DataStreamSource[str]:
        """Texts from a socket, until it is closed; for demonstrations. The driver reads them, in UTF-8, and passes them
        to one subtask. A socket cannot be read twice: uncommitted records are lost when the driver dies, and a resumed
        job connects again and reads what comes then.

        Args:
            hostname: host of the server.
            port: its port.
            delimiter: between texts; of lines a carriage return before the delimiter is dropped too.
            max_retry: how often to connect in all, half a second after the server has closed; −1 for ever. With 0 or 1
                the stream ends then.
        """
        checks.text(hostname, "socket_text_stream", "host name")
        if not 0 < checks.integer(port, "socket_text_stream", "port") < 1 << 16:
            checks.illegal_argument(
                f"socket_text_stream(port={port}): it is between 1 and 65535. Give the sender's port."
            )
        if not checks.text(delimiter, "socket_text_stream", "delimiter"):
            checks.illegal_argument("socket_text_stream(delimiter=''): give what stands between texts. Use '\\n'.")
        if checks.integer(max_retry, "socket_text_stream", "max_retry") < -1:
            checks.illegal_argument(
                f"socket_text_stream(max_retry={max_retry}): the number is invalid. Give 0 or more, or -1 for ever."
            )
        source = SplitSource(SocketSource(hostname, port, delimiter, max_retry))
        return self._source("Socket Stream", source, Types.STRING(), parallel=False)

    def read_file(
        self,
        file_path: str,
        watch_type: FileProcessingMode = FileProcessingMode.PROCESS_ONCE,
        interval: int = -1,
        charset_name: str = "UTF-8",
        input_format: FileInputFormat[Any] | None = None,
    ) -> DataStreamSource[Any]:
        """The records of a file, or of the files in a folder (not in folders below it), once or forever.

        Args:
            file_path: path or URL of a file or folder, or a pattern.
            watch_type: PROCESS_ONCE is :meth:`read_text_file`; PROCESS_CONTINUOUSLY looks for files again and again,
                not for ``.*`` and ``_*``. A modified file is read again whole: its records come twice.
            interval: milliseconds between two looks, at least.
            charset_name: encoding of texts.
            input_format: of the files; None for lines of text.
        """
        if input_format is not None:
            checks.instance(input_format, "read_file", FileInputFormat, "Give an AvroInputFormat, or leave it out.")
        checks.instance(watch_type, "read_file", FileProcessingMode, "Give FileProcessingMode.PROCESS_CONTINUOUSLY.")
        once = watch_type is FileProcessingMode.PROCESS_ONCE
        if checks.integer(interval, "read_file", "interval in milliseconds") < 1 and not once:
            checks.illegal_argument(f"read_file(interval={interval}): it is in milliseconds. Give 1 or more.")
        file_format = None if input_format is None else input_format.file_format()
        if file_format is not None and input_format is not None:
            path, produced = checks.path(file_path, "read_file"), input_format.get_produced_type()
            return self._formatted("Custom File Source", path, file_format, produced, None if once else interval)
        if once:
            return self.read_text_file(file_path, charset_name)
        checks.path(file_path, "read_file")
        checks.charset(charset_name, "read_file")
        monitor = SplitSource(FolderMonitor(file_path, interval, TextPieces(charset_name)))
        return self._file_source("Custom File Source", StreamSource(monitor), FileReader(charset_name), Types.STRING())

    def _formatted(
        self,
        name: str,
        path: str,
        file_format: FileFormat[Any],
        produced: TypeInformation[Any] | None,
        interval: int | None = None,
    ) -> DataStreamSource[Any]:
        """Add monitor and reader for files of a format, once or at an interval."""
        cut = FormatPieces(file_format)
        source = FileMonitor(path, cut) if interval is None else FolderMonitor(path, interval, cut)
        return self._file_source(name, StreamSource(SplitSource(source)), FormatReader(file_format), produced)

    def create_input(
        self, input_format: InputFormat[T], type_info: TypeInformation[T] | None = None
    ) -> DataStreamSource[T]:
        """Records of an input format, of its type unless given; files are read by a monitor and a reader, everything
        else by one operator. :class:`~penstock.datastream.formats.AvroInputFormat` runs, others can be planned."""
        checks.type_info(type_info, "create_input", "type_info")
        hint = "Use read_text_file(), or a SourceFunction with add_source()."
        checks.instance(input_format, "create_input", InputFormat, hint, ", which is not an InputFormat")
        if not isinstance(input_format, FileInputFormat):
            return self._source("Custom Source", PlanOnly("create_input"), type_info, parallel=True)
        file_format, produced = input_format.file_format(), type_info or input_format.get_produced_type()
        if file_format is not None:
            return self._formatted("Custom File source", input_format.file_path, file_format, produced)
        planned = PlanOnly("create_input", input_format)
        return self._file_source("Custom File source", planned, planned, produced)


class DealtOut(ParallelSourceFunction[Any]):
    """Emits in each subtask its share of a list: every n-th element."""

    def __init__(self, elements: list[Any]) -> None:
        self.elements = elements
        self._share = slice(0, None)

    def open(self, runtime_context: RuntimeContext) -> None:
        first = runtime_context.get_index_of_this_subtask()
        self._share = slice(first, None, runtime_context.get_number_of_parallel_subtasks())

    def run(self, ctx: SourceContext[Any]) -> None:
        for element in self.elements[self._share]:
            ctx.collect(element)
