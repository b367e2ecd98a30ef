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
    """Takes down what happens to it."""

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


class Map(Life, MapFunction):
    def map(self, value: Any) -> Any:
        self.called()
        return value


class FlatMap(Life, FlatMapFunction):
    def flat_map(self, value: Any) -> Any:
        self.called()
        return [value]


class Filter(Life, FilterFunction):
    def filter(self, value: Any) -> bool:
        self.called()
        return True


class Process(Life, ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.called()
        yield value


class KeyedProcess(Life, KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.called()
        yield value


class Reduce(Life, ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        self.called()
        return value2


class Folder(Life):
    def fold(self, accumulator: Any, value: Any) -> Any:
        self.called()
        return value


class Sink(Life, SinkFunction):
    def invoke(self, value: Any, context: Any = None) -> None:
        self.called()


class Source(Life, SourceFunction):
    def run(self, ctx: Any) -> None:
        for record in RECORDS:
            self.called()
            ctx.collect_with_timestamp(record, record[1])


class ParallelSource(Source, ParallelSourceFunction):
    """One in each subtask."""


class CoMap(Life, CoMapFunction):
    def map1(self, value: Any) -> Any:
        self.called()
        return value

    map2 = map1


class CoFlatMap(Life, CoFlatMapFunction):
    def flat_map1(self, value: Any) -> Any:
        self.called()
        return [value]

    flat_map2 = flat_map1


class CoProcess(Life, CoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.called()
        yield value

    process_element2 = process_element1


class KeyedCoProcess(Life, KeyedCoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.called()
        yield value

    process_element2 = process_element1


class Broadcast(Life, BroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.called()
        yield value

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        self.called()


class KeyedBroadcast(Life, KeyedBroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.called()
        yield value

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        self.called()


class Async(Life, AsyncFunction):
    async def async_invoke(self, value: Any) -> list[Any]:
        self.called()
        return [value]


class Window(Life, WindowFunction):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        self.called()
        return list(inputs)


class ProcessWindow(Life, ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        self.called()
        return list(elements)


class AllWindow(Life, AllWindowFunction):
    def apply(self, window: Any, inputs: Any) -> Any:
        self.called()
        return list(inputs)


class ProcessAllWindow(Life, ProcessAllWindowFunction):
    def process(self, context: Any, elements: Any) -> Any:
        self.called()
        return list(elements)


class Join(Life, JoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        self.called()
        return first


class FlatJoin(Life, FlatJoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        self.called()
        return [first]


class CoGroup(Life, CoGroupFunction):
    def co_group(self, first: Any, second: Any) -> Any:
        self.called()
        return list(first)


class ProcessJoin(Life, ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        self.called()
        yield left


class Key(Life, KeySelector):
    def get_key(self, value: Any) -> Any:
        self.called()
        return value[0]


class Part(Life, Partitioner):
    def partition(self, key: Any, num_partitions: int) -> int:
        self.called()
        return ord(key) % num_partitions
