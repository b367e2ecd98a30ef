"""Methods that are not there: what was meant, or what there is instead.

The advice is data: for each class the methods of PyFlink and Flink that it lacks, and what does the same here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from penstock.errors import MissingMethodError

_TABLES = "There is no Table API. Stay with streams, or use Spark SQL: stream.to_spark() is a DataFrame"

ENVIRONMENT = {
    "add_default_kryo_serializer": "Records are Python objects. Leave the call out, and declare types with Types",
    "clear_jobs": "An environment forgets its operators after execute(). Leave the call out",
    "create_local_environment": "Use get_execution_environment(executor='local')",
    "create_remote_environment": "Use get_execution_environment(master='spark://…'), or give a SparkSession: spark=…",
    "enable_unaligned_checkpoints": "Use get_checkpoint_config().enable_unaligned_checkpoints()",
    "from_data_stream": _TABLES,
    "from_parallel_iterator": "Use from_parallel_collection([…]), or a ParallelSourceFunction with add_source()",
    "from_sequence": "Use generate_sequence(first, last)",
    "generate_stream_graph": "Use get_stream_graph()",
    "get_cached_files": "Use get_distributed_cache().get_file(name) of the runtime context, in open()",
    "get_default_local_parallelism": "Use get_parallelism()",
    "get_id": "Use the operator IDs of get_stream_graph()",
    "get_job_listeners": "Look at the JobExecutionResult of execute()",
    "get_number_of_execution_retries": "Use set_restart_strategy()",
    "get_transformations": "Use the property transformations, or get_stream_graph()",
    "register_job_listener": "Look at the JobExecutionResult that execute() returns",
    "register_type": "Records are Python objects. Declare types with Types where they help",
    "register_type_with_kryo_serializer": "Records are Python objects. Declare types with Types where they help",
    "set_default_local_parallelism": "Use set_parallelism()",
    "set_number_of_execution_retries": "Use set_restart_strategy()",
    "sql_query": _TABLES,
}
"""Of StreamExecutionEnvironment."""

STREAM = {
    "add_source": "Sources begin at the environment: env.add_source(function)",
    "assign_ascending_timestamps": "Use assign_timestamps_and_watermarks(WatermarkStrategy"
    ".for_monotonous_timestamps().with_timestamp_assigner(…))",
    "assign_timestamps": "Use assign_timestamps_and_watermarks(…)",
    "collect": "Use execute_and_collect()",
    "collect_async": "Use execute_and_collect()",
    "count": "Map each record to 1, key_by() one key, and sum()",
    "count_by_value": "Use map(lambda value: (value, 1)), key_by(0) and sum(1)",
    "distinct": "Use key_by() and a KeyedProcessFunction that keeps in state whether it has seen the key",
    "execute": "Programs are executed by the environment: env.execute(). execute_and_collect() does it for one stream",
    "execute_insert": _TABLES,
    "first": "Use execute_and_collect(limit=…)",
    "foreach": "Use add_sink(function)",
    "from_collection": "Sources begin at the environment: env.from_collection([…])",
    "get_id": "Use transformation.id",
    "get_max_parallelism": "Use transformation.max_parallelism",
    "get_min_resources": "Use transformation.extras",
    "get_parallelism": "Use transformation.parallelism",
    "get_preferred_resources": "Use transformation.extras",
    "get_transformation": "Use the property transformation",
    "global": "It ends in an underscore, as global is a word of Python: global_()",
    "group_by": "Use key_by()",
    "limit": "Use execute_and_collect(limit=…)",
    "map_partition": "Use process(), or a function that gathers records until its close()",
    "returns": "Give the type to the method that adds the operator: map(f, output_type=Types.STRING())",
    "select": "Use get_side_output(tag), and yield tag, value in a ProcessFunction",
    "set_uid": "Use uid('…')",
    "set_name": "Use name('…')",
    "show": "Use print()",
    "sort": "Use set_runtime_mode(RuntimeExecutionMode.BATCH) and key_by(), or sort what execute_and_collect() gives",
    "split": "Use process() with a function that yields tag, value, and get_side_output(tag)",
    "to_table": _TABLES,
    "write_as_json": "Use map(json.dumps).write_as_text(path)",
    "write_to_file": "Use write_as_text(path)",
    "write_to_kafka": "Use sink_to(KafkaSink.builder()….build()), of penstock.datastream.connectors",
}
"""Of DataStream and its subclasses."""

KEYED = {
    "count": "Use map(lambda value: (key, 1)) before key_by(0), and sum(1)",
    "enable_async_state": "State is in memory, so there is nothing to wait for. Leave the call out",
    "full_window_partition": "Use window(GlobalWindows.create()) with a trigger of your own",
    "get_key_selector": "Use the property key",
    "group_by": "The stream is keyed already. Leave the call out",
}
"""Of KeyedStream, besides those of all streams."""

WINDOWED = {
    "collect": "Use apply(function) or process(function), which see whole windows",
    "count": "Use aggregate(function), or map each record to 1 before and sum()",
    "evict": "Use evictor(CountEvictor.of(…))",
    "late_data": "Use side_output_late_data(tag), and get_side_output(tag) on the result",
    "get_late_data": "Use side_output_late_data(tag), and get_side_output(tag) on the result",
    "select": "Use process(function), which sees whole windows",
    "without_trigger": "Use trigger(…) with the one you want",
}
"""Of WindowedStream and AllWindowedStream."""

CONNECTED = {
    "filter": "Filter each stream before connect()",
    "get_first_input": "Keep the stream that connect() was called on",
    "get_second_input": "Keep the stream that was given to connect()",
    "reduce": "Combine by process(function) with state per key: key_by() both streams first",
    "union": "Call union() on the first stream instead of connect(), which is for streams of two types",
    "where": "Use join(other).where(…).equal_to(…), without connect()",
}
"""Of ConnectedStreams and BroadcastConnectedStream."""

SINK = {
    "execute": "Programs are executed by the environment: env.execute()",
    "get_transformation": "Use the property transformation",
    "set_max_parallelism": "Set it at the operator before the sink, or for all by env.set_max_parallelism()",
}
"""Of DataStreamSink."""


def missing(
    owner: type, name: str, advice: Mapping[str, str], *, hint: str = "", like: Iterable[str] = ()
) -> AttributeError:
    """The error for a method that a class does not have. Private names get Python's own, as nobody reads it: pickle,
    copy and notebooks ask for such.

    Args:
        owner: the class.
        name: of the method.
        advice: what there is instead, by method.
        hint: a sentence for a method that something near has.
        like: names of methods that may have been meant, besides the class's own.
    """
    said = f"{owner.__name__} has no method {name!r}."
    if name.startswith("_"):
        return AttributeError(f"{owner.__name__!r} object has no attribute {name!r}")
    snake_case = _snake_case(name)
    known = advice.get(name) or advice.get(snake_case)
    if known is not None:
        return MissingMethodError(f"{said} {known}.", name=name)
    return MissingMethodError(f"{said} {hint or _alike(owner, snake_case, [*advice, *like], advice)}", name=name)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: f"_{found[0]}", name).lower()


def _alike(owner: type, name: str, names: Iterable[str], advice: Mapping[str, str]) -> str:
    """A sentence with the name that is most like another, or with where to find all."""
    public = [each for each in dir(owner) if not each.startswith("_")]
    found = difflib.get_close_matches(name, [*public, *names], n=1)
    if not found:
        return f"Call help({owner.__name__}) to see those it has."
    known = advice.get(found[0])
    return f"Did you mean {found[0]}()?" if known is None else f"Did you mean {found[0]}()? That is not there: {known}."
