"""Interpreter of the neutral API scripts."""

from __future__ import annotations

import json
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run as a file: the tests' packages are found from the repository's root
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import penstock.datastream as ds
from penstock.common import WatermarkStrategy
from penstock.common.watermark_strategy import NoWatermarks
from penstock.datastream import (
    CheckpointingMode,
    MapStateDescriptor,
    ResourceSpec,
    StreamExecutionEnvironment,
    TimeCharacteristic,
)
from penstock.errors import PenstockError
from penstock.runtime.operators.elementwise import StreamMap
from penstock.runtime.operators.two_inputs import CoMap
from tests.datastream import stand_ins
from tests.datastream.stand_ins import REC, Lacking

_NAMES = {"global": "global_", "with": "with_", "generateSequence": "generate_sequence", "setUidHash": "set_uid_hash"}
_TYPED = {"with", "map", "flatMap", "process", "orderedWait", "unorderedWait"}
"""Calls whose result type a script declares as ``rec``."""

_CALL_SITE = re.compile(r"AllWindowedStream\.\w+\(\w+\.py:\d+\)")
"""Names of windows over a whole stream show the line of the program; in results one text stands for all."""


class Unsupported(Exception):
    """A script uses a call that the API lacks."""


def snake(method: str) -> str:
    return _NAMES.get(method) or re.sub(r"[A-Z]", lambda m: "_" + m[0].lower(), method)


class Interpreter:
    """One script: its environment and the objects of its calls."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.script = script
        self.environment = StreamExecutionEnvironment.get_execution_environment()
        self.objects: list[Any] = []
        self.ids: list[int | None] = []
        self.taken: list[int] = []
        self.tags: dict[str, Any] = {}

    def run(self) -> dict[str, Any] | None:
        """Make all calls; the error of the one that was refused, or None."""
        for index, (receiver, method, *arguments) in enumerate(self.script["calls"]):
            before = self.environment.last_id
            try:
                result = self.call(receiver, method, arguments)
            except Lacking as error:
                raise Unsupported(method) from error
            except PenstockError as error:
                return {"error": {**_error(error), "call": index}}
            self.objects.append(result)
            self.ids.append(_id_of(result))
            self.taken.append(self.environment.last_id - before)
        return None

    def call(self, receiver: Any, method: str, arguments: list[Any]) -> Any:
        """Make one call; None for what Java declares void."""
        target = self.environment if receiver == "env" else receiver
        if isinstance(target, int):
            target = self.objects[target]
        if isinstance(target, str):
            target = getattr(ds, target, None)
        special = _SPECIAL.get(method)
        if special is not None:
            return special(self, target, *arguments)
        values = [self.argument(a) for a in arguments]
        typed = {"output_type": REC} if method in _TYPED else {}
        result = _method(target, method)(*values, **typed)
        return None if result is self.environment else result

    def argument(self, argument: Any) -> Any:
        if not isinstance(argument, dict):
            return argument
        (kind, value), *_ = argument.items()
        if kind == "ref":
            return self.objects[value]
        if kind == "fn":
            return stand_ins.function(value)
        if kind == "tag":
            return self.tags.setdefault(value, stand_ins.tag(value))
        if kind == "tag_as":
            return stand_ins.tag(*value)
        if kind in ("assigner", "trigger", "evictor", "watermarks"):
            return stand_ins.helper(kind, value, [self.argument(a) for a in argument["args"]])
        if kind == "cpu":
            return ResourceSpec(cpu=value, heap_mb=argument["heap_mb"], managed_mb=argument["managed_mb"])
        raise Lacking(kind)


def _method(target: Any, method: str) -> Callable[..., Any]:
    bound = getattr(target, snake(method), None)
    if bound is None:
        raise Lacking(method)
    return bound


def _id_of(value: Any) -> int | None:
    transformation = getattr(value, "transformation", None)
    return None if transformation is None else transformation.id


def _error(error: PenstockError) -> dict[str, Any]:
    return {"class": error.flink_class, "message": str(error)}


# --- calls whose arguments need more than translation -----------------------------------------------------------------


def _key_by(self: Interpreter, stream: Any, *keys: Any) -> Any:
    if not isinstance(keys[0], dict):
        return _method(stream, "keyBy")(*keys)
    selectors, types = zip(*(stand_ins.key(key["key"]) for key in keys), strict=True)
    declared = dict(zip(("key_type", "key_type2"), types, strict=False))
    return _method(stream, "keyBy")(*selectors, **declared)


def _transform(self: Interpreter, stream: Any, name: str) -> Any:
    if isinstance(stream, ds.ConnectedStreams):
        return stream.transform(name, REC, CoMap(stand_ins.function("CoMapF")))
    return stream.transform(name, REC, StreamMap(stand_ins.function("MapF"), REC))


def _enable_checkpointing(self: Interpreter, env: Any, interval: int, mode: str | None = None, *force: bool) -> None:
    env.enable_checkpointing(interval, None if mode is None else CheckpointingMode[mode], *force)


def _set_time_characteristic(self: Interpreter, env: Any, name: str) -> None:
    env.set_stream_time_characteristic(TimeCharacteristic[name])


def _partition_custom(self: Interpreter, stream: Any, partitioner: Any, key: Any) -> Any:
    selector = stand_ins.key(key["key"])[0] if isinstance(key, dict) else key
    return stream.partition_custom(self.argument(partitioner), selector)


def _broadcast(self: Interpreter, stream: Any, *states: Any) -> Any:
    types = stand_ins.TYPES["string"], stand_ins.TYPES["long"]
    return stream.broadcast(*(MapStateDescriptor(state["state"], *types) for state in states))


def _assign_timestamps(self: Interpreter, stream: Any, strategy: Any) -> Any:
    """Java's older assigners are generators too; a plan shows nothing of them."""
    watermarks = WatermarkStrategy.for_generator(NoWatermarks) if "fn" in strategy else self.argument(strategy)
    return stream.assign_timestamps_and_watermarks(watermarks)


def _typed(method: str, *types: str) -> Callable[..., Any]:
    """A call of functions, with the arguments that name its types."""

    def call(self: Interpreter, stream: Any, *functions: Any) -> Any:
        typed = dict.fromkeys(types, REC) if method != "reduce" or len(functions) > 1 else {}
        return _method(stream, method)(*map(self.argument, functions), **typed)

    return call


def _on_transformation(method: str) -> Callable[..., Any]:
    def call(self: Interpreter, stream: Any, *arguments: Any) -> Any:
        getattr(stream.transformation, method)(*[self.argument(a) for a in arguments])
        return stream

    return call


def _records(count: int) -> list[Any]:
    return [("a", i, i) for i in range(count)]


_SPECIAL: dict[str, Callable[..., Any]] = {
    "fromElements": lambda self, env, count: env.from_elements(*_records(count), type_info=REC),
    "fromCollection": lambda self, env, count: env.from_collection(_records(count), REC),
    "fromIterator": lambda self, env: env.from_collection(iter(range(3)), stand_ins.TYPES["long"]),
    "addSource": lambda self, env, function, *name: env.add_source(self.argument(function), *name, type_info=REC),
    "fromParallelCollection": lambda self, env: env.from_parallel_collection(range(10), stand_ins.TYPES["long"]),
    "fromSource": lambda self, env, source, watermarks, name: env.from_source(
        self.argument(source), self.argument(watermarks), name, REC
    ),
    "createInput": lambda self, env, input_format: env.create_input(self.argument(input_format), REC),
    "readFileContinuously": lambda self, env, path, interval: env.read_file(
        path, ds.FileProcessingMode.PROCESS_CONTINUOUSLY, interval
    ),
    "where": lambda self, joined, key: joined.where(*stand_ins.key(key["key"])),
    "equalTo": lambda self, joined, key: joined.equal_to(*stand_ins.key(key["key"])),
    "reinterpretAsKeyedStream": lambda self, utils, stream, key: utils.reinterpret_as_keyed_stream(
        self.argument(stream), *stand_ins.key(key["key"])
    ),
    "transform": _transform,
    "enableCheckpointing": _enable_checkpointing,
    "setStreamTimeCharacteristic": _set_time_characteristic,
    "keyBy": _key_by,
    "partitionCustom": _partition_custom,
    "broadcast": _broadcast,
    "withFeedbackType": lambda self, stream, name: stream.with_feedback_type(stand_ins.TYPES[name]),
    "reduce": _typed("reduce", "output_type"),
    "aggregate": _typed("aggregate", "accumulator_type", "output_type"),
    "apply": _typed("apply", "output_type"),
    "assignTimestampsAndWatermarks": _assign_timestamps,
    "fold": lambda self, stream, function: _method(stream, "fold")(("e0", 0, 0), self.argument(function), REC),
    "transformation.setCoLocationGroupKey": _on_transformation("set_co_location_group_key"),
    "transformation.setManagedMemoryWeight": _on_transformation("set_managed_memory_weight"),
    "transformation.setResources": _on_transformation("set_resources"),
}


# --- results ----------------------------------------------------------------------------------------------------------


def result_of(script: dict[str, Any]) -> dict[str, Any]:
    """The result of a script."""
    interpreter = Interpreter(script)
    try:
        refused = interpreter.run()
    except Unsupported as error:
        return {"unsupported": str(error)}
    result: dict[str, Any] = {"flink": "1.11.4", "ids": interpreter.ids, "taken": interpreter.taken}
    result["build"] = "ok" if refused is None else refused
    if refused is None:
        result |= _graphs(interpreter.environment, script)
    return result


def _graphs(environment: StreamExecutionEnvironment, script: dict[str, Any]) -> dict[str, Any]:
    try:
        graph = environment.get_stream_graph(script.get("job_name", "job"))
    except PenstockError as error:
        return {"stream_graph": {"error": _error(error)}}
    result = {
        "stream_graph": _spec(script["name"], graph),
        "source_ids": list(graph.source_ids),
        "hashes": _attempt(lambda: {str(k): v for k, v in sorted(graph.operator_ids().items())}),
        "streaming_plan": _attempt(graph.streaming_plan_json),
        "job_graph": _attempt(lambda: _job_graph(graph.job_graph())),
    }
    return json.loads(_CALL_SITE.sub("AllWindowedStream.main(Program.java)", json.dumps(result)))


def _attempt(stage: Callable[[], Any]) -> Any:
    try:
        return stage()
    except PenstockError as error:
        return {"error": _error(error)}


_TASKS = {"source": "SourceStreamTask", "two_input": "TwoInputStreamTask"}
"""The task class of a node that names none."""


def _spec(name: str, graph: Any) -> dict[str, Any]:
    """The graph's own JSON form as the golden file writes it."""
    spec = {**graph.to_dict(), "name": name}
    nodes = sorted(spec["nodes"], key=lambda node: node["id"])
    by_id = {node["id"]: node for node in nodes}
    sources = iter([by_id[i] for i in graph.source_ids if i in by_id])
    in_order = [next(sources) if node["id"] in graph.source_ids else node for node in nodes]
    for node in in_order:
        if node.get("managed_memory_weight", 1) is None:  # not set: Flink 1.11 has a weight of 1 then
            node["managed_memory_weight"] = 1
    spec["nodes"] = [{"task": _TASKS.get(node["kind"], "OneInputStreamTask"), **node} for node in in_order]
    spec["edges"] = [{k: v for k, v in edge.items() if k != "partition_node"} for edge in spec["edges"]]
    if not spec["settings"]["checkpointing_enabled"]:
        for unused in ("checkpoint_interval", "checkpointing_mode"):
            spec["settings"].pop(unused, None)
    return spec


def _job_graph(job_graph: Any) -> dict[str, Any]:
    return {"vertices": [_vertex(vertex) for vertex in job_graph.vertices]}


def _vertex(vertex: Any) -> dict[str, Any]:
    inputs = [[edge.source, edge.ship_strategy, edge.distribution, edge.result_type] for edge in vertex.inputs]
    return {
        "id": vertex.id,
        "head": vertex.head,
        "name": vertex.name,
        "parallelism": vertex.parallelism,
        "max_parallelism": vertex.max_parallelism,
        "invokable": vertex.invokable,
        "operator_nodes": list(vertex.operator_nodes),
        "slot_sharing_group": vertex.slot_sharing_group,
        "inputs": inputs,
    }


def results(lines: Iterable[str]) -> Iterator[str]:
    """A line of result per line of script; blank lines are skipped. A defect of Penstock shows in its own line only."""
    for line in lines:
        if line.strip():
            record = json.loads(line)
            try:
                result = result_of(record.get("script", record))
            except Exception as defect:
                traceback.print_exc()
                result = {"defect": repr(defect)}
            yield json.dumps(result, ensure_ascii=False)


if __name__ == "__main__":
    for text in results(sys.stdin):
        print(text, flush=True)
