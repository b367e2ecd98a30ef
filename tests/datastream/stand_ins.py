"""Stand-in functions, types and keys of the neutral API scripts."""

from __future__ import annotations

import re
from typing import Any

import penstock.datastream as ds
from penstock.common import Duration, OutputTag, TypeInformation, Types, WatermarkStrategy
from penstock.datastream import evictor, window

REC = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
TYPES: dict[str, TypeInformation] = {"rec": REC, "long": Types.LONG(), "string": Types.STRING()}
KEY_TYPES = (Types.STRING(), Types.INT(), Types.LONG())

# name in the scripts → (base class, method it must have, whether it has an open() of its own)
_FUNCTIONS: dict[str, tuple[str, tuple[str, ...], bool]] = {
    "Src": ("SourceFunction", ("run",), False),
    "PSrc": ("ParallelSourceFunction", ("run",), False),
    "RPSrc": ("ParallelSourceFunction", ("run",), True),
    "MapF": ("MapFunction", ("map",), False),
    "RichMapF": ("MapFunction", ("map",), True),
    "FlatMapF": ("FlatMapFunction", ("flat_map",), False),
    "FilterF": ("FilterFunction", ("filter",), False),
    "ProcessF": ("ProcessFunction", ("process_element",), False),
    "KeyedProcessF": ("KeyedProcessFunction", ("process_element",), False),
    "ReduceF": ("ReduceFunction", ("reduce",), False),
    "RichReduceF": ("ReduceFunction", ("reduce",), True),
    "anonymous ReduceFunction": ("ReduceFunction", ("reduce",), False),
    "AggF": ("AggregateFunction", ("create_accumulator", "add", "get_result"), False),
    "RichAggF": ("AggregateFunction", ("create_accumulator", "add", "get_result"), True),
    "FoldF": ("Function", ("fold",), False),
    "SinkF": ("SinkFunction", ("invoke",), False),
    "DiscardingSink": ("SinkFunction", ("invoke",), False),
    "PrintSinkFunction": ("SinkFunction", ("invoke",), False),
    "PartF": ("Partitioner", ("partition",), False),
    "CoMapF": ("CoMapFunction", ("map1", "map2"), False),
    "CoFlatMapF": ("CoFlatMapFunction", ("flat_map1", "flat_map2"), False),
    "CoProcessF": ("CoProcessFunction", ("process_element1", "process_element2"), False),
    "KeyedCoProcessF": ("KeyedCoProcessFunction", ("process_element1", "process_element2"), False),
    "BcProcessF": ("BroadcastProcessFunction", ("process_element", "process_broadcast_element"), False),
    "KeyedBcProcessF": ("KeyedBroadcastProcessFunction", ("process_element", "process_broadcast_element"), False),
    "AsyncF": ("AsyncFunction", ("async_invoke",), False),
    "JoinF": ("JoinFunction", ("join",), False),
    "FlatJoinF": ("FlatJoinFunction", ("join",), False),
    "CoGroupF": ("CoGroupFunction", ("co_group",), False),
    "ProcessJoinF": ("ProcessJoinFunction", ("process_element",), False),
    "NewSrc": ("Source", (), False),
    "DiscardingOutputFormat": ("OutputFormat", (), False),
    "InFormat": ("InputFormat", (), False),
    "WinF": ("WindowFunction", ("apply",), False),
    "ProcWinF": ("ProcessWindowFunction", ("process",), False),
    "AllWinF": ("AllWindowFunction", ("apply",), False),
    "ProcAllWinF": ("ProcessAllWindowFunction", ("process",), False),
    "anonymous WindowFunction": ("WindowFunction", ("apply",), False),
}
# Java numbers the anonymous classes of a program in order of appearance in its source.
_JAVA_NAMES = {"anonymous ReduceFunction": "ReduceFunction$1", "anonymous WindowFunction": "WindowFunction$2"}


class Lacking(Exception):
    """The API has no such thing so far."""


def _nothing(self: Any, *_: Any) -> None:
    return None


def function(name: str) -> Any:
    """A new stand-in of a class of the scripts."""
    if name == "TextInputFormat":
        return ds.TextInputFormat("in.txt")
    if name not in _FUNCTIONS:
        raise Lacking(name)
    base_name, methods, rich = _FUNCTIONS[name]
    base = getattr(ds, base_name, None)
    if base is None:
        raise Lacking(name)
    body = dict.fromkeys((*methods, *(("open",) if rich else ())), _nothing)
    return type(_JAVA_NAMES.get(name, name), (base,), body)()


def _gap(value: Any) -> int:
    return 1


def _delta(old: Any, new: Any) -> float:
    return 0.0


_delta.__name__ = "org.apache.flink.streaming.api.graph.ApiScript111$DeltaF"  # as the golden names show it


def helper(kind: str, name: str, arguments: list[Any]) -> Any:
    """A window assigner, trigger, evictor or watermark strategy by its Java name and factory arguments."""
    if kind == "watermarks":
        strategy = getattr(WatermarkStrategy, re.sub(r"[A-Z]", lambda m: "_" + m[0].lower(), name))
        return strategy(*map(Duration.of_millis, arguments))
    factory_class = getattr(evictor if kind == "evictor" else window, name, None)
    if factory_class is None:
        raise Lacking(name)
    if name.startswith("Delta"):
        return factory_class.of(arguments[0], _delta, *arguments[1:])
    if name.startswith("Dynamic"):
        return getattr(window, name.removeprefix("Dynamic")).with_dynamic_gap(_gap)
    factory = next(f for f in ("of", "create", "with_gap") if hasattr(factory_class, f))
    return getattr(factory_class, factory)(*arguments)


def key(position: int) -> tuple[Any, TypeInformation]:
    """Selector and key type of a field of the record."""
    return (lambda value: value[position]), KEY_TYPES[position]


def tag(tag_id: str, type_name: str = "rec") -> OutputTag:
    return OutputTag(tag_id, TYPES[type_name])
