"""What the API refuses when a method is called: the message says what was meant, the Flink class what Flink throws."""

from __future__ import annotations

import re

import pytest

from penstock.common import Configuration, OutputTag, Row, RuntimeExecutionMode, Types
from penstock.datastream import (
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ReduceFunction,
    ResourceSpec,
    StreamExecutionEnvironment,
)
from penstock.datastream.data_stream import DataStream
from penstock.errors import ConfigurationError, InvalidProgramError, TypeInfoError, UnsupportedError

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class AddOne(MapFunction):
    def map(self, value):
        return value + 1


class Twice(FlatMapFunction):
    def flat_map(self, value):
        return [value, value]


class Counting(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Opened(ReduceFunction):
    def open(self, runtime_context):
        self.ready = True

    def reduce(self, value1, value2):
        return value1


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


@pytest.fixture
def pairs(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection([("a", 1)], PAIR)


CALLS = {
    "class instead of object": (lambda s: s.map(AddOne), "AddOne()", None),
    "called instead of passed": (lambda s: s.map(None), "map(f())", None),
    "wrong kind of function": (lambda s: s.map(Twice()), "did you mean flat_map()", None),
    "no function at all": (lambda s: s.filter(3), "filter() needs a callable", None),
    "keyed function on plain stream": (lambda s: s.process(Counting()), "key_by()", None),
    "python type as output type": (lambda s: s.map(len, int), "which is no type", None),
    "type without parentheses": (lambda s: s.map(len, Types.INT), "Types.STRING()", None),
    "parallelism as text": (lambda s: s.map(len).set_parallelism("4"), "set_parallelism(int('4'))", None),
    "parallelism as bool": (lambda s: s.map(len).set_parallelism(True), "is a bool", None),
    "parallelism zero": (
        lambda s: s.map(len).set_parallelism(0),
        "at least 1",
        "java.lang.IllegalArgumentException",
    ),
    "serial source": (lambda s: s.set_parallelism(2), "not parallel", "java.lang.IllegalArgumentException"),
    "forced": (
        lambda s: s.map(len).force_non_parallel().set_max_parallelism(2),
        "max parallelism can only be 1",
        "java.lang.IllegalArgumentException",
    ),
    "uid hash": (
        lambda s: s.map(len).set_uid_hash("xyz"),
        "32 hex digits",
        "java.lang.IllegalArgumentException",
    ),
    "uid as number": (lambda s: s.map(len).uid(7), "a text is needed", None),
    "name none": (lambda s: s.map(len).name(None), "a text is needed", "java.lang.NullPointerException"),
    "memory weight": (
        lambda s: s.transformation.set_managed_memory_weight(-1),
        "0 or more",
        "java.lang.IllegalArgumentException",
    ),
    "resources": (
        lambda s: s.transformation.set_resources(ResourceSpec(2, 1), ResourceSpec(1, 1)),
        "below the minimum",
        "java.lang.IllegalArgumentException",
    ),
    "partition of keyed": (
        lambda s: s.key_by(0).shuffle(),
        "before key_by()",
        "java.lang.UnsupportedOperationException",
    ),
    "selector and fields": (lambda s: s.key_by(len, 1), "either one selector", None),
    "positions and names": (lambda s: s.key_by(0, "f1"), "positions only, or field names only", None),
    "array key": (
        lambda s: s.key_by(lambda v: [v], key_type=Types.PRIMITIVE_ARRAY(Types.INT())),
        "contains an array",
        "org.apache.flink.api.common.InvalidProgramException",
    ),
    "key type of fields": (lambda s: s.key_by(0, key_type=Types.STRING()), "Leave key_type out", None),
    "rich reduce in window": (
        lambda s: s.key_by(0).count_window(3).reduce(Opened()),
        "never be called",
        "java.lang.UnsupportedOperationException",
    ),
    "window size as text": (lambda s: s.key_by(0).count_window("3"), "an int is needed", None),
    "sum of text": (lambda s: s.key_by(0).sum(0), "cannot be added up", "java.lang.RuntimeException"),
    "union with a list": (lambda s: s.union([s]), "no DataStream", None),
    "tag as text": (lambda s: s.map(len).get_side_output("late"), "give the OutputTag", None),
    "blank path": (lambda s: s.write_as_text(" "), "blank", "java.lang.IllegalArgumentException"),
    "limit": (lambda s: s.execute_and_collect(limit=0), "at least 1", "java.lang.IllegalArgumentException"),
}


@pytest.mark.parametrize("case", CALLS)
def test_refused_at_the_call(case: str, pairs: DataStream) -> None:
    call, words, flink_class = CALLS[case]
    with pytest.raises(InvalidProgramError) as caught:
        call(pairs)
    assert words in str(caught.value)
    assert caught.value.flink_class == flink_class


ENVIRONMENT_CALLS = {
    "collection of characters": (lambda e: e.from_collection("abc"), "['abc']"),
    "consumed iterator": (lambda e: e.from_collection(iter([])), "read before"),
    "no collection": (lambda e: e.from_collection(3), "no collection"),
    "source class": (lambda e: e.add_source(AddOne), "run(ctx)"),
    "parallelism": (lambda e: e.set_parallelism(0), "at least 1"),
    "sequence": (lambda e: e.generate_sequence(2, 1), "Swap"),
    "interval": (lambda e: e.enable_checkpointing(9), "at least 10 ms"),
    "checkpointing mode": (lambda e: e.enable_checkpointing(10, "EXACTLY_ONCE"), "CheckpointingMode"),
    "time characteristic": (lambda e: e.set_stream_time_characteristic("EventTime"), "TimeCharacteristic"),
    "nothing to execute": (lambda e: e.execute("empty"), "no operators"),
}


@pytest.mark.parametrize("case", ENVIRONMENT_CALLS)
def test_refused_by_the_environment(case: str) -> None:
    call, words = ENVIRONMENT_CALLS[case]
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    with pytest.raises(InvalidProgramError, match=re.escape(words)):
        call(env)


def test_streams_of_two_environments_do_not_mix(pairs: DataStream) -> None:
    other = StreamExecutionEnvironment.get_execution_environment().from_collection([("b", 2)], PAIR)
    with pytest.raises(InvalidProgramError, match="another StreamExecutionEnvironment"):
        pairs.union(other)


def test_setters_are_only_on_operators_and_say_so(pairs: DataStream) -> None:
    virtual = [pairs.union(pairs), pairs.rebalance(), pairs.key_by(0), pairs.map(len).get_side_output(OutputTag("t"))]
    for stream in virtual:
        for setter in ("name", "uid", "set_parallelism", "slot_sharing_group", "start_new_chain"):
            assert not hasattr(stream, setter)
    with pytest.raises(AttributeError, match="operators only"):
        virtual[0].name("x")  # type: ignore[attr-defined]


def test_undeclared_types_are_not_checked(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection([("a", 1)])
    stream.key_by(7).sum("f9")
    stream.project(5)
    stream.union(env.from_collection([1], Types.INT()))


def test_batch_mode_is_refused_by_name(env: StreamExecutionEnvironment) -> None:
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    with pytest.raises(UnsupportedError, match="BATCH"):
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)


def test_async_execution_is_refused(env: StreamExecutionEnvironment) -> None:
    with pytest.raises(UnsupportedError, match="execute_async"):
        env.execute_async()


def test_settings_nobody_reads_are_named() -> None:
    with pytest.warns(UserWarning, match="state.backend"):
        StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"state.backend": "rocksdb"}))


def test_settings_are_checked_like_the_methods() -> None:
    with pytest.raises(InvalidProgramError, match="at least 1"):
        StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"parallelism.default": "0"}))
    settings = Configuration.from_dict({"execution.buffer-timeout": "2 weeks"})
    with pytest.raises(ConfigurationError, match="2 weeks"):
        StreamExecutionEnvironment.get_execution_environment(settings)


def test_types_refuse_what_is_no_type() -> None:
    with pytest.raises(TypeInfoError, match="parentheses"):
        Types.TUPLE([Types.INT])  # type: ignore[list-item]
    with pytest.raises(TypeInfoError, match="1 to 25"):
        Types.TUPLE([])
    with pytest.raises(TypeInfoError, match="more than once"):
        Types.ROW_NAMED(["a", "a"], [Types.INT(), Types.INT()])
    with pytest.raises(TypeInfoError, match="one name per type"):
        Types.ROW_NAMED(["a"], [])
    with pytest.raises(TypeInfoError, match="positional"):
        Row(1, a=2)
