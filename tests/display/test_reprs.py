"""What a program can hold prints as what it is, without an address."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common import Row, Time, Types, WatermarkStrategy
from penstock.datastream import (
    CoMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapStateDescriptor,
    ProcessWindowFunction,
    SinkFunction,
    SourceFunction,
    StreamExecutionEnvironment,
    TimeCharacteristic,
)
from penstock.datastream.window import GlobalWindows, TumblingEventTimeWindows
from penstock.metrics.group import MetricGroup, Metrics

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
SECOND = TumblingEventTimeWindows.of(Time.seconds(1))
GROUP = MetricGroup(Metrics()).add_group("a", "b")


def pairs() -> Any:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    stamps = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[1])
    return env.from_collection([("a", 5)], PAIR).assign_timestamps_and_watermarks(stamps)


def counted() -> Any:
    counter = GROUP.counter("seen")
    counter.inc(3)
    return counter


OBJECTS = {
    "DataStreamSource": lambda s: s.get_execution_environment().from_collection([1]),
    "SingleOutputStreamOperator": lambda s: s.map(len),
    "KeyedStream": lambda s: s.key_by(lambda v: v[0]),
    "DataStreamSink": lambda s: s.add_sink(print),
    "IterativeStream": lambda s: s.iterate(),
    "ConnectedStreams": lambda s: s.connect(s),
    "ConnectedIterativeStreams": lambda s: s.iterate().with_feedback_type(PAIR),
    "BroadcastStream": lambda s: s.broadcast(RULES),
    "BroadcastConnectedStream": lambda s: s.connect(s.broadcast(RULES)),
    "WindowedStream": lambda s: s.key_by(0).window(SECOND),
    "AllWindowedStream": lambda s: s.window_all(SECOND),
    "JoinedStreams": lambda s: s.join(s),
    "Where": lambda s: s.join(s).where(lambda v: v[0]),
    "EqualTo": lambda s: s.join(s).where(lambda v: v[0]).equal_to(lambda v: v[0]),
    "WithWindow": lambda s: s.join(s).where(lambda v: v[0]).equal_to(lambda v: v[0]).window(SECOND),
    "IntervalJoin": lambda s: s.key_by(0).interval_join(s.key_by(0)),
    "IntervalJoined": lambda s: s.key_by(0).interval_join(s.key_by(0)).between(0, 1),
    "StreamExecutionEnvironment": lambda s: s.get_execution_environment(),
    "CloseableIterator with 1 records": lambda s: s.execute_and_collect(),
    "Counter 3": lambda s: counted(),
    "Meter count=0": lambda s: GROUP.meter("rate"),
    "Distribution count=0": lambda s: GROUP.distribution("sizes"),
    "MetricGroup 'a.b'": lambda s: GROUP,
}


@pytest.mark.parametrize("begin", OBJECTS)
def test_an_object_says_what_it_is(begin: str) -> None:
    text = repr(OBJECTS[begin](pairs()))
    assert text.startswith(f"<{begin}")
    assert " at 0x" not in text


@pytest.mark.parametrize(
    "value",
    [
        PAIR,
        Types.ROW_NAMED(["a"], [Types.INT()]),
        Types.LIST(Types.STRING()),
        Types.MAP(Types.STRING(), Types.INT()),
        Types.PRIMITIVE_ARRAY(Types.INT()),
        Types.BASIC_ARRAY(Types.STRING()),
        Types.OBJECT_ARRAY(Types.STRING()),
        Types.PICKLED_BYTE_ARRAY(),
        Types.SQL_DATE(),
        RULES,
        SECOND,
        GlobalWindows.create(),
        Row(1),
        Time.seconds(1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_has_no_address(value: object) -> None:
    assert " at 0x" not in repr(value)


SEEN: list[str] = []


class Look(KeyedProcessFunction, KeyedBroadcastProcessFunction, ProcessWindowFunction, SinkFunction, SourceFunction):
    """Takes down what it is given."""

    def open(self, runtime_context: Any) -> None:
        SEEN.append(repr(runtime_context))

    def run(self, ctx: Any) -> None:
        SEEN.append(repr(ctx))
        ctx.collect_with_timestamp(("a", 5), 5)

    def process_element(self, value: Any, ctx: Any) -> Any:
        SEEN.extend([repr(ctx), repr(ctx.timer_service())])
        yield value

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        SEEN.append(repr(context))
        yield from elements

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        SEEN.extend([repr(ctx), repr(ctx.get_broadcast_state(RULES))])

    def invoke(self, value: Any, context: Any = None) -> None:
        SEEN.append(repr(context))


class Both(CoMapFunction):
    def open(self, runtime_context: Any) -> None:
        SEEN.append(repr(runtime_context))

    def map1(self, value: Any) -> Any:
        return value

    map2 = map1


def look_at_both(one: Any, other: Any, ctx: Any) -> list[Any]:
    SEEN.append(repr(ctx))
    return []


def test_contexts_say_where_they_are() -> None:
    SEEN.clear()
    stream = pairs()
    env = stream.get_execution_environment()
    keyed = env.add_source(Look(), type_info=PAIR).key_by(lambda v: v[0])
    keyed.process(Look(), PAIR).connect(stream).map(Both()).add_sink(Look())
    stream.key_by(lambda v: v[0]).window(SECOND).process(Look())
    keyed.connect(stream.broadcast(RULES)).process(Look())
    joined = stream.key_by(lambda v: v[0]).interval_join(stream.key_by(lambda v: v[0])).between(0, 1)
    joined.process(look_at_both)
    env.execute()
    assert not [text for text in SEEN if " at 0x" in text]
    kinds = {
        "RuntimeContext of",
        "SourceContext emitted=0",
        "Context timestamp=5 watermark=",
        "TimerService watermark=",
    }
    kinds |= {"Context window=TimeWindow", "SinkContext timestamp=5", "BroadcastState {}", "JoinContext left=5 right=5"}
    assert not [kind for kind in kinds if not any(text.startswith(f"<{kind}") for text in SEEN)]
