"""Advice on methods that do not exist: for each class, those of PyFlink and Flink that it lacks, and what to use
instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

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
"""For StreamExecutionEnvironment."""

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
"""For DataStream and its subclasses."""

KEYED = {
    "count": "Use map(lambda value: (key, 1)) before key_by(0), and sum(1)",
    "enable_async_state": "State is in memory, so there is nothing to wait for. Leave the call out",
    "full_window_partition": "Use window(GlobalWindows.create()) with a trigger of your own",
    "get_key_selector": "Use the property key",
    "group_by": "The stream is keyed already. Leave the call out",
}
"""For KeyedStream, in addition to those of all streams."""

WINDOWED = {
    "collect": "Use apply(function) or process(function), which see whole windows",
    "count": "Use aggregate(function), or map each record to 1 before and sum()",
    "evict": "Use evictor(CountEvictor.of(…))",
    "late_data": "Use side_output_late_data(tag), and get_side_output(tag) on the result",
    "get_late_data": "Use side_output_late_data(tag), and get_side_output(tag) on the result",
    "select": "Use process(function), which sees whole windows",
    "without_trigger": "Use trigger(…) with the one you want",
}
"""For WindowedStream and AllWindowedStream."""

CONNECTED = {
    "filter": "Filter each stream before connect()",
    "get_first_input": "Keep the stream that connect() was called on",
    "get_second_input": "Keep the stream that was given to connect()",
    "reduce": "Combine by process(function) with state per key: key_by() both streams first",
    "union": "Call union() on the first stream instead of connect(), which is for streams of two types",
    "where": "Use join(other).where(…).equal_to(…), without connect()",
}
"""For ConnectedStreams and BroadcastConnectedStream."""

SINK = {
    "execute": "Programs are executed by the environment: env.execute()",
    "get_transformation": "Use the property transformation",
    "set_max_parallelism": "Set it at the operator before the sink, or for all by env.set_max_parallelism()",
}
"""For DataStreamSink."""


class Advised:
    """Base of classes that explain which methods they lack; ``_missing`` of a subclass makes the error."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers report a missing method themselves

        def __getattr__(self, name: str) -> Any:
            raise self._missing(name)


def missing(
    owner: type, name: str, advice: Mapping[str, str], *, hint: str = "", like: Iterable[str] = ()
) -> AttributeError:
    """The error for a missing method: the advice, or ``hint``, or a similar name. Private names get Python's own error,
    as pickle, copy and notebooks look them up."""
    sentence = f"{owner.__name__} has no method {name!r}."
    if name.startswith("_"):
        return AttributeError(f"{owner.__name__!r} object has no attribute {name!r}")
    snake_case = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda letter: f"_{letter[0]}", name).lower()
    replacement = advice.get(name) or advice.get(snake_case)
    if replacement is not None:
        return MissingMethodError(f"{sentence} {replacement}.", name=name)
    return MissingMethodError(f"{sentence} {hint or _alike(owner, snake_case, [*advice, *like], advice)}", name=name)


def _alike(owner: type, name: str, names: Iterable[str], advice: Mapping[str, str]) -> str:
    """A sentence that names the most similar method, or where to find all methods."""
    public = [method for method in dir(owner) if not method.startswith("_")]
    similar = difflib.get_close_matches(name, [*public, *names], n=1)
    if not similar:
        return f"Call help({owner.__name__}) to see those it has."
    replacement = advice.get(similar[0])
    question = f"Did you mean {similar[0]}()?"
    return question if replacement is None else f"{question} It does not exist here: {replacement}."
