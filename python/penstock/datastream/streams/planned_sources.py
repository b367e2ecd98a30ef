"""The environment's sources that can be planned but not run yet: unbounded ones and those of connectors.

Source: Flink 1.11 ``StreamExecutionEnvironment``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.datastream.formats import FileInputFormat, FileProcessingMode, InputFormat, TextInputFormat
from penstock.datastream.program import checks
from penstock.datastream.program.plan_only import PlanOnly
from penstock.datastream.program.transformations import NewSourceTransformation, SourceTransformation
from penstock.datastream.streams.data_stream import DataStreamSource
from penstock.datastream.streams.sources import SourceMethods

if TYPE_CHECKING:
    from penstock.datastream.formats import Source


class PlannedSourceMethods(SourceMethods):
    """Mixed into StreamExecutionEnvironment."""

    def from_source(
        self,
        source: Source,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStreamSource:
        """A source of the new kind.

        Args:
            source: what to read.
            watermark_strategy: where timestamps and watermarks come from.
            source_name: operator name.
            type_info: type of the records; None leaves them undeclared.
        """
        if not isinstance(watermark_strategy, WatermarkStrategy):
            checks.refuse(
                f"from_source() was given the watermark strategy {watermark_strategy!r}; give a WatermarkStrategy."
            )
        checks.name(source_name, "from_source", "source name")
        checks.type_info(type_info, "from_source", "type_info")
        environment = self._itself
        operator = PlanOnly("from_source", source)
        parallelism = environment.get_parallelism()
        node = NewSourceTransformation(environment.next_id(), source_name, operator, type_info, parallelism)
        # Flink 1.11 runs it in parallel, yet lets nobody set another parallelism than 1.
        return DataStreamSource(environment, node, parallel=False)

    def socket_text_stream(self, hostname: str, port: int) -> DataStreamSource:
        """Lines from a socket, with parallelism 1."""
        checks.text(hostname, "socket_text_stream", "host name")
        checks.integer(port, "socket_text_stream", "port")
        return self._planned("Socket Stream", "socket_text_stream", Types.STRING(), parallel=False)

    def read_file(
        self,
        file_path: str,
        watch_type: FileProcessingMode = FileProcessingMode.PROCESS_ONCE,
        interval: int = -1,
        charset_name: str = "UTF-8",
    ) -> DataStreamSource:
        """The lines of a file or folder, once or for ever.

        Args:
            file_path: path of a file or folder.
            watch_type: PROCESS_ONCE is :meth:`read_text_file`; PROCESS_CONTINUOUSLY looks for new files again and
            again.
            interval: milliseconds between two looks.
            charset_name: encoding.
        """
        if watch_type is FileProcessingMode.PROCESS_ONCE:
            return self.read_text_file(file_path, charset_name)
        if checks.integer(interval, "read_file", "interval in milliseconds") < 1:
            checks.refuse(
                f"read_file(interval={interval}): looking again takes at least 1 ms.", checks.ILLEGAL_ARGUMENT
            )
        checks.text(file_path, "read_file", "path")
        operator = PlanOnly("read_file", None, "(PROCESS_CONTINUOUSLY)")
        return self._file_source("Custom File Source", operator, operator, Types.STRING())

    def create_input(self, input_format: InputFormat, type_info: TypeInformation | None = None) -> DataStreamSource:
        """Records of an input format; files are read by a monitor and a reader, everything else by one operator."""
        checks.type_info(type_info, "create_input", "type_info")
        if not isinstance(input_format, InputFormat):
            checks.refuse(f"create_input() was given {input_format!r}, which is no InputFormat.")
        if not isinstance(input_format, FileInputFormat):
            return self._planned("Custom Source", "create_input", type_info, parallel=True)
        lines = Types.STRING() if isinstance(input_format, TextInputFormat) else type_info
        operator = PlanOnly("create_input", input_format)
        return self._file_source("Custom File source", operator, operator, lines)

    def _planned(self, name: str, what: str, type_info: TypeInformation | None, parallel: bool) -> DataStreamSource:
        environment = self._itself
        parallelism = environment.get_parallelism() if parallel else 1
        node: Any = SourceTransformation(environment.next_id(), name, PlanOnly(what), type_info, parallelism)
        return DataStreamSource(environment, node, parallel)
