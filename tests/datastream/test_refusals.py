"""What the API refuses when a method is called: the message says what was meant, the Flink class what Flink throws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.common import Configuration, OutputTag, Row, Types
from penstock.datastream import (
    AggregateFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ReduceFunction,
    ResourceSpec,
    StreamExecutionEnvironment,
    WindowFunction,
)
from penstock.datastream.streams.data_stream import DataStream
from penstock.errors import InvalidProgramError, JobExecutionError, TypeInfoError

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


class Agg(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator


class ForeignInt:
    def __index__(self):
        return 2


class Opened(ReduceFunction):
    def open(self, runtime_context):
        self.ready = True

    def reduce(self, value1, value2):
        return value1


class Applied(WindowFunction):
    def apply(self, key, window, inputs):
        return []


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
    "window function for process": (
        lambda s: s.key_by(0).count_window(1).process(Applied()),
        "A Applied has apply(); did you mean apply()?",
        None,
    ),
    "no function at all": (lambda s: s.filter(3), "filter() needs a callable", None),
    "keyed function on plain stream": (lambda s: s.process(Counting()), "key_by()", None),
    "python type as output type": (lambda s: s.map(len, int), "which is not a type", None),
    "type without parentheses": (lambda s: s.map(len, Types.INT), "Types.STRING()", None),
    "parallelism as text": (lambda s: s.map(len).set_parallelism("4"), "Convert it first: int('4')", None),
    "parallelism of another library": (lambda s: s.map(len).set_parallelism(ForeignInt()), "Convert it first", None),
    "parallelism beyond an int": (lambda s: s.map(len).set_parallelism(2**31), "fit into 32 bits", None),
    "timeout beyond a long": (lambda s: s.map(len).set_buffer_timeout(2**63), "fit into 64 bits", None),
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
    "union with a list": (lambda s: s.union([s]), "not a DataStream", None),
    "tag as text": (lambda s: s.map(len).get_side_output("late"), "Give the OutputTag", None),
    "blank path": (lambda s: s.write_as_text(" "), "blank", "java.lang.IllegalArgumentException"),
    "path object": (lambda s: s.write_as_text(Path("lines.txt")), "Convert it first: str(", None),
    "overwrite as text": (lambda s: s.write_as_text("lines.txt", "OVERWRITE"), "True or False", None),
    "first as number": (lambda s: s.key_by(0).min_by(1, 0), "True or False", None),
    "key type without parentheses": (lambda s: s.key_by(len, Types.STRING), "Types.STRING()", None),
    "aggregate with a lambda": (lambda s: s.key_by(0).count_window(2).aggregate(max), "create_accumulator()", None),
    "aggregate with a class": (
        lambda s: s.key_by(0).count_window(2).aggregate(Agg),
        "Pass an object of it: Agg()",
        None,
    ),
    "state as text": (lambda s: s.broadcast("rules"), "MapStateDescriptor", None),
    "text as partitioner": (lambda s: s.partition_custom("rebalance", 0), "needs a callable", None),
    "half a surrogate pair": (lambda s: s.map(len).name("\ud800"), "decode", None),
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
    "no collection": (lambda e: e.from_collection(3), "not a collection"),
    "source class": (lambda e: e.add_source(AddOne), "run(ctx)"),
    "parallelism": (lambda e: e.set_parallelism(0), "at least 1"),
    "sequence": (lambda e: e.generate_sequence(2, 1), "Swap"),
    "interval": (lambda e: e.enable_checkpointing(9), "at least 10 ms"),
    "checkpointing mode": (lambda e: e.enable_checkpointing(10, "EXACTLY_ONCE"), "CheckpointingMode"),
    "force": (lambda e: e.enable_checkpointing(10, None, "no"), "True or False"),
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


ADVICE = {
    "sum": "Call key_by() before sum()",
    "count_window": "Call key_by() before count_window()",
    "keyBy": "Did you mean key_by()?",
    "flatmap": "Did you mean flat_map()?",
    "getNumPartitions": "has no method",
}


@pytest.mark.parametrize("method", ADVICE)
def test_a_method_that_is_not_there_is_answered_with_what_was_meant(method: str, pairs: DataStream) -> None:
    with pytest.raises(AttributeError, match=re.escape(ADVICE[method])):
        getattr(pairs, method)


def test_a_window_without_function_says_what_it_needs(pairs: DataStream) -> None:
    windows = pairs.key_by(0).count_window(2)
    with pytest.raises(AttributeError, match="a function first"):
        windows.print()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no method 'foo'\. Call help\(WindowedStream\)"):
        windows.foo()  # type: ignore[attr-defined]


FIELDS_OF_UNDECLARED = {
    "missing position": (("a", 1), 5),
    "missing name": (("a", 1), "x"),
    "position of a text": ("abc", 0),
    "name of a dict": ({"f0": 1}, "f0"),
    "position of a number": (3, 0),
    "missing name of a row": (Row(a=1), "b"),
}


@pytest.mark.parametrize("case", FIELDS_OF_UNDECLARED)
def test_a_record_without_the_key_field_is_shown(case: str) -> None:
    record, field = FIELDS_OF_UNDECLARED[case]
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    for partition in (lambda s: s.key_by(field), lambda s: s.partition_custom(max, field)):
        with pytest.raises(JobExecutionError) as caught:
            partition(env.from_collection([record])).map(str).execute_and_collect()
        assert isinstance(caught.value.__cause__, TypeInfoError)
        assert f"The record {record!r} has no field {field!r}" in str(caught.value.__cause__)


def test_messages_show_the_beginning_of_long_values(env: StreamExecutionEnvironment) -> None:
    for call in (lambda: env.from_collection("x" * 10_000), lambda: env.from_collection([[1] * 10_000], Types.ROW([]))):
        with pytest.raises(InvalidProgramError) as caught:
            call()
        assert "…" in str(caught.value)
        assert len(str(caught.value)) < 1_000


def test_a_record_that_cannot_be_projected_is_shown() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    with pytest.raises(JobExecutionError, match="The record 5 has no field 1"):
        env.from_collection([5]).project(1).execute_and_collect()


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.key_by(-1),
        lambda s: s.key_by(0, -1),
        lambda s: s.partition_custom(max, -1),
        lambda s: s.project(-1),
        lambda s: s.key_by(0).sum(-1),
    ],
)
def test_positions_are_not_counted_from_the_end(call, env: StreamExecutionEnvironment) -> None:
    with pytest.raises(InvalidProgramError, match="count from 0") as caught:
        call(env.from_collection([("a", 1)]))
    assert caught.value.flink_class == "java.lang.IndexOutOfBoundsException"


def test_undeclared_types_are_not_checked(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection([("a", 1)])
    stream.key_by(7).sum("f9")
    stream.project(5)
    stream.union(env.from_collection([1], Types.INT()))


def test_settings_nobody_reads_are_named() -> None:
    settings = {
        "state.backend.incremental": "true",
        "rest.port": 8081,
        "penstock.executor": "local",
        "spark.x": "y",
        "pipline.name": "slip",
        "my.limit": "5",
    }
    with pytest.warns(UserWarning, match="settings") as caught:
        StreamExecutionEnvironment.get_execution_environment(Configuration(settings))
    flinks, nobodys = (str(warning.message) for warning in caught)
    assert flinks.startswith(
        "These settings of Flink have no effect in Penstock: rest.port, state.backend.incremental."
    )
    assert "get_job_parameter() read them: my.limit, pipline.name (did you mean pipeline.name?)" in nobodys
    assert {warning.filename for warning in caught} == {__file__}


def test_types_refuse_what_is_no_type() -> None:
    with pytest.raises(TypeInfoError, match="parentheses"):
        Types.TUPLE([Types.INT])  # type: ignore[list-item]
    with pytest.raises(TypeInfoError, match="a list of types"):
        Types.TUPLE(Types.INT())  # type: ignore[arg-type]
    with pytest.raises(TypeInfoError, match="a list of types"):
        Types.ROW(None)  # type: ignore[arg-type]
    with pytest.raises(TypeInfoError, match="a list of texts"):
        Types.ROW_NAMED("ab", [Types.INT(), Types.INT()])
    with pytest.raises(TypeInfoError, match="a list of texts"):
        Types.ROW_NAMED([1, 2], [Types.INT(), Types.INT()])  # type: ignore[list-item]
    with pytest.raises(TypeInfoError, match="its parentheses"):
        OutputTag("late", Types.INT)  # type: ignore[arg-type]
    with pytest.raises(TypeInfoError, match="1 to 25"):
        Types.TUPLE([])
    with pytest.raises(TypeInfoError, match="more than once"):
        Types.ROW_NAMED(["a", "a"], [Types.INT(), Types.INT()])
    with pytest.raises(TypeInfoError, match="one name per type"):
        Types.ROW_NAMED(["a"], [])
    with pytest.raises(TypeInfoError, match="positional"):
        Row(1, a=2)
