"""Why something of PyFlink's is not there, and what to use instead: data, by the beginning of its full name."""

from __future__ import annotations

_OWN = "Use add_sink(function) and add_source(SourceFunction) with a client of your own"
_FILES = "Read with env.read_text_file(path) or env.from_collection([…]), write with write_as_text(path)"
_STRINGS = "Make and read texts in a map(): json.dumps, json.loads, csv"
_INTERNAL = "It belongs to PyFlink's way of running Python beside Java. Leave it out"
_JAVA = "It leads to objects of Flink's Java classes, and no Flink runs here. Leave it out"
_BACKEND = "State is kept in the executors' memory. Leave it out; there is nothing to choose"
_CHECKPOINTS = "A bounded job takes no checkpoints: Spark runs a failed task again. Leave it out"
_TABLES = (
    "There is no Table API. Stay with streams, or take the records of execute_and_collect() to Spark SQL or pandas"
)

ADVICE = {
    "pyflink.": "docs/pyflink.md lists what is there",
    "pyflink.common.completable_future.": "It comes with execute_async(). Use execute(), which waits for the result",
    "pyflink.common.config_options.": "Name the option by its key: Configuration().set_string('pipeline.name', 'mine')",
    "pyflink.common.execution_config.": "Give the settings to get_execution_environment(Configuration.from_dict({…}))",
    "pyflink.common.execution_mode.": "Use RuntimeExecutionMode.BATCH with set_runtime_mode()",
    "pyflink.common.input_dependency_constraint.": "Flink has no use for it since 1.13. Leave it out",
    "pyflink.common.job_": "It comes with execute_async(). Use the JobExecutionResult of execute()",
    "pyflink.common.restart_strategy.": "Use RestartStrategies, which makes them all",
    "pyflink.common.serialization.": _STRINGS,
    "pyflink.common.serializer.": _INTERNAL,
    "pyflink.common.time.Instant": "Use milliseconds since the epoch, or datetime",
    "pyflink.common.typeinfo.": "Make types by Types, such as Types.SQL_TIMESTAMP()",
    "pyflink.common.utils.": _JAVA,
    "pyflink.common.watermark_strategy.": "Use WatermarkStrategy and its with_timestamp_assigner()",
    "pyflink.datastream.async_retry": "Catch the exception in async_invoke() and try again there",
    "pyflink.datastream.checkpoint_": _CHECKPOINTS,
    "pyflink.datastream.connectors.": _OWN,
    "pyflink.datastream.connectors.file_system.": _FILES,
    "pyflink.datastream.connectors.number_seq.": "Use env.generate_sequence(first, last)",
    "pyflink.datastream.data_stream.CachedDataStream": "Collect with execute_and_collect(), and go on with "
    "env.from_collection(…)",
    "pyflink.datastream.externalized_checkpoint_retention.": _CHECKPOINTS,
    "pyflink.datastream.formats.": _STRINGS,
    "pyflink.datastream.functions.": _INTERNAL,
    "pyflink.datastream.functions.AsyncRetry": "Catch the exception in async_invoke() and try again there",
    "pyflink.datastream.slot_sharing_group.": "Name the group at the operator: slot_sharing_group('name')",
    "pyflink.datastream.state.OperatorStateStore": "Use broadcast state, or state per key",
    "pyflink.datastream.state.StateTtlConfig": "Clear the state in on_timer(), by a timer of the clock",
    "pyflink.datastream.state_backend.": _BACKEND,
    "pyflink.datastream.utils.": _INTERNAL,
    "pyflink.datastream.window.": _INTERNAL,
    "pyflink.datastream.window.CountSlidingWindowAssigner": "Use count_window(size, slide)",
    "pyflink.datastream.window.CountTumblingWindowAssigner": "Use count_window(size)",
    "pyflink.datastream.window.CountWindow": "count_window() gives a GlobalWindow",
    "pyflink.datastream.window.MergingWindowAssigner": "Use the session windows",
    "pyflink.datastream.window.SessionWindowTimeGapExtractor": "Give a function of the record to "
    "EventTimeSessionWindows.with_dynamic_gap()",
    "pyflink.java_gateway.": _JAVA,
    "pyflink.table": _TABLES,
    "pyflink.util.": _JAVA,
    "pyflink.util.api_stability_decorators.": "It marks PyFlink's own functions. Leave it out",
}
"""Half a sentence by the beginning of a full name; the longest that fits counts."""


def advice(name: str) -> str:
    """What to use instead of something.

    Args:
        name: its full name in PyFlink.
    """
    return ADVICE[max((begin for begin in ADVICE if name.startswith(begin)), key=len)]
