"""Why something of PyFlink's is not there, and what to use instead: data, by the beginning of its full name."""

from __future__ import annotations

_FILES = "Read with FileSource.for_record_stream_format(…), write with FileSink.for_row_format(…)"
_INTERNAL = "It belongs to PyFlink's way of running Python beside Java. Leave it out"
_JAVA = "It leads to objects of Flink's Java classes, and no Flink runs here. Leave it out"
_LEARNING = "Apply a model in map() or process(), by the Python library it was made with, or use Spark's by to_spark()"
_TABLES = "There is no Table API. Stay with streams, or take them to Spark SQL by to_spark()"

ADVICE = {
    "pyflink.": "docs/pyflink.md lists what is there",
    "pyflink.common.config_options.": "Name the option by its key: Configuration().set_string('pipeline.name', 'mine')",
    "pyflink.common.execution_mode.": "Use RuntimeExecutionMode.BATCH with set_runtime_mode()",
    "pyflink.common.input_dependency_constraint.": "Flink has no use for it since 1.13. Leave it out",
    "pyflink.common.serializer.": _INTERNAL,
    "pyflink.common.typeinfo.": "Make types by Types, such as Types.SQL_TIMESTAMP()",
    "pyflink.common.utils.": _JAVA,
    "pyflink.common.watermark_strategy.": "Use WatermarkStrategy and its with_timestamp_assigner()",
    "pyflink.dataset": "Flink has no DataSet API any more. Use a StreamExecutionEnvironment in BATCH mode",
    "pyflink.datastream.connectors.file_system.": _FILES,
    "pyflink.datastream.formats.protobuf": "Parse messages in a map(), by the classes that protoc has made",
    "pyflink.datastream.functions.": _INTERNAL,
    "pyflink.datastream.state.OperatorStateStore": "Use broadcast state, or state per key",
    "pyflink.datastream.utils.": _INTERNAL,
    "pyflink.datastream.window.": _INTERNAL,
    "pyflink.fn_execution": _INTERNAL,
    "pyflink.java_gateway.": _JAVA,
    "pyflink.ml": _LEARNING,
    "pyflink.pyflink_callback_server": _INTERNAL,
    "pyflink.serializers": _INTERNAL,
    "pyflink.shell": "There is no shell. Start python, and make an environment with executor='local'",
    "pyflink.table": _TABLES,
    "pyflink.util.": _JAVA,
    "pyflink.util.api_stability_decorators.": "It marks PyFlink's own functions. Leave it out",
}
"""Half a sentence by the beginning of a full name; the longest that fits counts."""


def advice(name: str) -> str:
    """The advice for something that is missing."""
    return ADVICE[max((begin for begin in ADVICE if name.startswith(begin)), key=len)]
