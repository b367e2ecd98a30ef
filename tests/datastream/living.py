"""Functions of every kind that take down what happens to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.datastream import (
    AllWindowFunction,
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoGroupFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatJoinFunction,
    FlatMapFunction,
    JoinFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ParallelSourceFunction,
    Partitioner,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    ReduceFunction,
    RuntimeContext,
    SinkFunction,
    SourceFunction,
    WindowFunction,
)

RECORDS = [("abcd"[time % 4], time) for time in range(12)]
EVENTS: list[tuple[int, str]] = []
"""(object, what happens to it), in the order of happening. Tasks run in this process, one after the other."""
ALIVE: list[Any] = []
"""Keeps the functions, so that no two of them have one id."""
FACTS: dict[int, tuple[Any, ...]] = {}


class Life:
    fails = False

    def open(self, runtime_context: RuntimeContext) -> None:
        ALIVE.append(self)
        EVENTS.append((id(self), "open"))
        FACTS[id(self)] = (
            runtime_context.get_index_of_this_subtask(),
            runtime_context.get_number_of_parallel_subtasks(),
            runtime_context.get_max_number_of_parallel_subtasks(),
            runtime_context.get_attempt_number(),
            runtime_context.get_job_parameter("my.parameter", "none"),
            runtime_context.get_task_name_with_subtasks().removeprefix(runtime_context.get_task_name()),
        )
        self.counter = runtime_context.get_metrics_group().counter("calls")

    def called(self) -> None:
        self.counter.inc()
        EVENTS.append((id(self), "call"))
        if self.fails:
            raise ValueError("on purpose")

    def close(self) -> None:
        EVENTS.append((id(self), "close"))


def _kind(name: str, base: type, **methods: Any) -> Any:
    """A function of a kind that takes down its life."""
    return type(name, (Life, base) if base is not object else (Life,), {"__module__": __name__, **methods})


def gives(self: Life, value: Any) -> Any:
    self.called()
    return value


def gives_list(self: Life, value: Any) -> list[Any]:
    self.called()
    return [value]


def gives_second(self: Life, value1: Any, value2: Any) -> Any:
    self.called()
    return value2


def gives_first(self: Life, value1: Any, value2: Any) -> Any:
    self.called()
    return value1


def keeps(self: Life, value: Any) -> bool:
    self.called()
    return True


def yields(self: Life, value: Any, ctx: Any) -> Iterator[Any]:
    self.called()
    yield value


def takes(self: Life, value: Any, context: Any = None) -> None:
    self.called()


def lists_second(self: Life, context: Any, elements: Any) -> Any:
    self.called()
    return list(elements)


def lists_third(self: Life, key: Any, window: Any, elements: Any) -> Any:
    self.called()
    return list(elements)


def joins(self: Life, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
    self.called()
    yield left


async def awaits(self: Life, value: Any) -> list[Any]:
    self.called()
    return [value]


def runs(self: Life, ctx: Any) -> None:
    for record in RECORDS:
        self.called()
        ctx.collect_with_timestamp(record, record[1])


def partitions(self: Life, key: Any, num_partitions: int) -> int:
    self.called()
    return ord(key) % num_partitions


Map = _kind("Map", MapFunction, map=gives)
FlatMap = _kind("FlatMap", FlatMapFunction, flat_map=gives_list)
Filter = _kind("Filter", FilterFunction, filter=keeps)
Process = _kind("Process", ProcessFunction, process_element=yields)
KeyedProcess = _kind("KeyedProcess", KeyedProcessFunction, process_element=yields)
Reduce = _kind("Reduce", ReduceFunction, reduce=gives_second)
Folder = _kind("Folder", object, fold=gives_second)
Sink = _kind("Sink", SinkFunction, invoke=takes)
Source = _kind("Source", SourceFunction, run=runs)
ParallelSource = type("ParallelSource", (Source, ParallelSourceFunction), {"__module__": __name__})
CoMap = _kind("CoMap", CoMapFunction, map1=gives, map2=gives)
CoFlatMap = _kind("CoFlatMap", CoFlatMapFunction, flat_map1=gives_list, flat_map2=gives_list)
CoProcess = _kind("CoProcess", CoProcessFunction, process_element1=yields, process_element2=yields)
KeyedCoProcess = _kind("KeyedCoProcess", KeyedCoProcessFunction, process_element1=yields, process_element2=yields)
Broadcast = _kind("Broadcast", BroadcastProcessFunction, process_element=yields, process_broadcast_element=takes)
KeyedBroadcast = _kind(
    "KeyedBroadcast", KeyedBroadcastProcessFunction, process_element=yields, process_broadcast_element=takes
)
Async = _kind("Async", AsyncFunction, async_invoke=awaits)
Window = _kind("Window", WindowFunction, apply=lists_third)
ProcessWindow = _kind("ProcessWindow", ProcessWindowFunction, process=lists_third)
AllWindow = _kind("AllWindow", AllWindowFunction, apply=lists_second)
ProcessAllWindow = _kind("ProcessAllWindow", ProcessAllWindowFunction, process=lists_second)
Join = _kind("Join", JoinFunction, join=gives_first)
FlatJoin = _kind("FlatJoin", FlatJoinFunction, join=lambda self, first, second: [gives_first(self, first, second)])
CoGroup = _kind("CoGroup", CoGroupFunction, co_group=lambda self, first, second: list(gives_first(self, first, second)))
ProcessJoin = _kind("ProcessJoin", ProcessJoinFunction, process_element=joins)
Key = _kind("Key", KeySelector, get_key=lambda self, value: gives(self, value)[0])
Part = _kind("Part", Partitioner, partition=partitions)
