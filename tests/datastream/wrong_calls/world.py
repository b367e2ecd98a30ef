"""What wrong calls are made on."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from penstock.common import Time, Types
from penstock.datastream import (
    AggregateFunction,
    CoMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    MapStateDescriptor,
    ProcessFunction,
    ReduceFunction,
    SourceFunction,
    StreamExecutionEnvironment,
    TimeCharacteristic,
    WindowFunction,
)
from penstock.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
SECOND = TumblingEventTimeWindows.of(Time.seconds(1))


class World:
    """An environment and streams of every kind, made when first asked for. Checkers know nothing of it, as calls are
    wrong on purpose."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def env(self) -> Any:
        env = StreamExecutionEnvironment.get_execution_environment(executor="local")
        return env.set_stream_time_characteristic(TimeCharacteristic.EventTime)

    @cached_property
    def checkpoints(self) -> Any:
        return self.env.get_checkpoint_config()

    @cached_property
    def pairs(self) -> Any:
        """Of a declared type."""
        return self.env.from_collection([("a", 1)], PAIR)

    @cached_property
    def raw(self) -> Any:
        """Of no declared type."""
        return self.env.from_collection([("a", 1)])

    @cached_property
    def ints(self) -> Any:
        """Single values."""
        return self.env.from_collection([1, 2], Types.INT())

    @cached_property
    def op(self) -> Any:
        """An operator."""
        return self.pairs.map(len)

    @cached_property
    def keyed(self) -> Any:
        return self.pairs.key_by(0)

    @cached_property
    def windowed(self) -> Any:
        return self.keyed.window(SECOND)

    @cached_property
    def sessions(self) -> Any:
        return self.keyed.window(EventTimeSessionWindows.with_gap(Time.seconds(1)))

    @cached_property
    def both(self) -> Any:
        """Connected streams."""
        return self.pairs.connect(self.ints)

    @cached_property
    def rules(self) -> Any:
        """A broadcast stream."""
        return self.ints.broadcast(MapStateDescriptor("rules"))

    @cached_property
    def stranger(self) -> Any:
        """A stream of another environment."""
        return StreamExecutionEnvironment.get_execution_environment().from_collection([("b", 2)], PAIR)

    def run(self, stream: Any) -> Any:
        """Run a stream's program."""
        return stream.execute_and_collect(limit=1)


class Mapper(MapFunction):
    def map(self, value):
        return value


class Reducer(ReduceFunction):
    def reduce(self, value1, value2):
        return value1


class RichReducer(Reducer):
    def open(self, runtime_context):
        """Is never called in a window."""


class Shown(WindowFunction):
    def apply(self, key, window, inputs):
        return list(inputs)


class Counting(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Passing(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator

    def get_result(self, accumulator):
        return accumulator


class Both(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value


class Numbers(SourceFunction):
    def run(self, ctx):
        ctx.collect(1)


class Empty:
    """Has nothing of a function."""


class Shy:
    def map(self):
        """Takes no record."""


class Greedy(ProcessFunction):
    def process_element(self, value, ctx, out):
        out.collect(value)


class Ruled(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(MapStateDescriptor("rules")).put("last", value)
