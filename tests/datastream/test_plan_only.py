"""Every call that can only be planned so far: it makes a plan, and execute() refuses it by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import (
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoMapFunction,
    FileProcessingMode,
    InputFormat,
    MapStateDescriptor,
    OutputFormat,
    Source,
    StreamExecutionEnvironment,
    TimeCharacteristic,
)
from penstock.datastream.data_stream import DataStream
from penstock.datastream.plan_only import PLAN_ONLY
from penstock.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from penstock.errors import UnsupportedError

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
WINDOW = TumblingEventTimeWindows.of(1000)


class Call(AsyncFunction):
    async def async_invoke(self, value):
        return [value]


class Both(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value


class Rules(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        return None


def first(value: Any) -> Any:
    return value[0]


def loop(env: StreamExecutionEnvironment, stream: DataStream) -> Any:
    start = stream.iterate(1000)
    return start.close_with(start.map(lambda v: v))


def interval(env: StreamExecutionEnvironment, stream: DataStream) -> Any:
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    return stream.key_by(0).interval_join(stream.key_by(0)).between(-1, 1).process(lambda left, right, ctx: [left])


def joined(how: str) -> Callable[[StreamExecutionEnvironment, DataStream], Any]:
    def build(env: StreamExecutionEnvironment, stream: DataStream) -> Any:
        keyed = getattr(stream, how)(stream).where(first, Types.STRING()).equal_to(first, Types.STRING())
        return keyed.window(WINDOW).apply(lambda left, right: left)

    return build


PROGRAMS: dict[str, Callable[[StreamExecutionEnvironment, DataStream], Any]] = {
    "assign_timestamps_and_watermarks": lambda env, s: s.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps()
    ),
    "co_group": joined("co_group"),
    "connect": lambda env, s: s.connect(s).map(Both()),
    "create_input": lambda env, s: env.create_input(InputFormat()).map(str),
    "from_source": lambda env, s: env.from_source(Source(), WatermarkStrategy.no_watermarks(), "in").map(str),
    "interval_join": interval,
    "iterate": loop,
    "join": joined("join"),
    "ordered_wait": lambda env, s: AsyncDataStream.ordered_wait(s, Call(), 1000),
    "read_file": lambda env, s: env.read_file("in", FileProcessingMode.PROCESS_CONTINUOUSLY, 100),
    "socket_text_stream": lambda env, s: env.socket_text_stream("localhost", 9).map(str),
    "unordered_wait": lambda env, s: AsyncDataStream.unordered_wait(s, Call(), 1000),
    "window": lambda env, s: s.key_by(0).window(EventTimeSessionWindows.with_gap(5)).sum(1),
    "write_as_csv": lambda env, s: s.write_as_csv("out"),
    "write_to_socket": lambda env, s: s.write_to_socket("localhost", 9),
    "write_using_output_format": lambda env, s: s.write_using_output_format(OutputFormat()),
}


def test_the_table_is_complete() -> None:
    assert set(PROGRAMS) == set(PLAN_ONLY)


@pytest.mark.parametrize("call", PROGRAMS)
def test_planned_and_refused_by_name(call: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    PROGRAMS[call](env, env.from_collection([("a", 1)], PAIR))
    assert env.get_stream_graph().job_graph().vertices
    with pytest.raises(UnsupportedError, match=call):
        env.execute()


def test_broadcast_state_counts_as_connected() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    stream = env.from_collection([("a", 1)], PAIR)
    stream.connect(stream.broadcast(MapStateDescriptor("rules", Types.STRING(), Types.INT()))).process(Rules())
    with pytest.raises(UnsupportedError, match=r"connect\(broadcast\).process"):
        env.execute()
