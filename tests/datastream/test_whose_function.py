"""A failure names the function that failed: a key selector, partitioner or timestamp assigner is not the operator
beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.common import Configuration, RuntimeExecutionMode, WatermarkGenerator, WatermarkStrategy
from penstock.datastream import (
    DataStreamUtils,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.streams.data_stream import DataStream
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.errors import JobExecutionError

BATCH = RuntimeExecutionMode.BATCH
STREAMING = RuntimeExecutionMode.STREAMING


class Keeping(KeyedProcessFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state("last")

    def process_element(self, value, ctx):
        yield value


class Both(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state("last")

    def process_element1(self, value, ctx):
        yield value

    def process_element2(self, value, ctx):
        yield value


class Failing(WatermarkGenerator):
    def on_event(self, event, event_timestamp, output):
        raise ValueError(event)


class Late(Failing):
    def on_event(self, event, event_timestamp, output):
        """Nothing."""

    def on_periodic_emit(self, output):
        raise ValueError("late")


def broken(value: Any) -> Any:
    return value["word"]


def timed(strategy: WatermarkStrategy) -> Callable[[DataStream], Any]:
    return lambda s: s.assign_timestamps_and_watermarks(strategy).print()


def reinterpreted(s: DataStream) -> Any:
    s.get_execution_environment().set_parallelism(1)
    return DataStreamUtils.reinterpret_as_keyed_stream(s, broken)


def of_key(behind: str = "behind operator 'Clean'", call: str = "key_by") -> tuple[str, str]:
    return f"key selector of {call}()", behind


BEFORE = "before operator '{}"
IN = "in operator 'Timestamps/Watermarks'"
CASES: dict[str, tuple[Callable[[DataStream], Any], RuntimeExecutionMode, tuple[str, str]]] = {
    "selector": (lambda s: s.key_by(broken).map(str).print(), STREAMING, of_key()),
    "selector of a reduce": (lambda s: s.key_by(broken).reduce(max).print(), STREAMING, of_key()),
    "selector that is built in": (lambda s: s.key_by(abs).sum(1).print(), STREAMING, of_key()),
    "selector by field": (lambda s: s.key_by(5).sum(1).print(), STREAMING, of_key()),
    "no key": (lambda s: s.key_by(lambda v: None).sum(1).print(), STREAMING, of_key()),
    "no such key": (lambda s: s.key_by(set).sum(1).print(), STREAMING, of_key()),
    "reduce in BATCH mode": (lambda s: s.key_by(broken).reduce(max).print(), BATCH, of_key()),
    "no key in BATCH mode": (lambda s: s.key_by(lambda v: None).reduce(max).print(), BATCH, of_key()),
    "process in BATCH mode": (lambda s: s.key_by(broken).process(Keeping()).print(), BATCH, of_key()),
    "second input": (
        lambda s: s.connect(s).key_by(len, broken).process(Both()).print(),
        STREAMING,
        of_key(),
    ),
    "join": (
        lambda s: s.join(s).where(len).equal_to(broken).window(TumblingEventTimeWindows.of(1)).apply(max).print(),
        STREAMING,
        of_key("behind operator 'Map'", "where"),
    ),
    "not sent": (
        lambda s: reinterpreted(s).reduce(max).print(),
        STREAMING,
        of_key(BEFORE.format("Keyed Reduce"), "reinterpret_as_keyed_stream"),
    ),
    "not sent, in a chain": (
        lambda s: reinterpreted(s).process(Keeping()).print(),
        STREAMING,
        of_key(BEFORE.format("KeyedProcess"), "reinterpret_as_keyed_stream"),
    ),
    "not sent, into windows": (
        lambda s: reinterpreted(s).count_window(2).reduce(max).print(),
        STREAMING,
        of_key(BEFORE.format("Window("), "reinterpret_as_keyed_stream"),
    ),
    "selector of a partitioner": (
        lambda s: s.partition_custom(max, broken).print(),
        STREAMING,
        of_key(call="partition_custom"),
    ),
    "partitioner": (
        lambda s: s.partition_custom(lambda key, n: key["x"], 1).print(),
        STREAMING,
        ("partitioner of partition_custom()", "behind operator 'Clean'"),
    ),
    "no channel": (
        lambda s: s.partition_custom(lambda key, n: 77, 1).print(),
        STREAMING,
        ("partitioner of partition_custom()", "behind operator 'Clean'"),
    ),
    "assigner": (
        timed(WatermarkStrategy.no_watermarks().with_timestamp_assigner(lambda v, t: v["time"])),
        STREAMING,
        ("timestamp assigner of the watermark strategy", IN),
    ),
    "generator": (
        timed(WatermarkStrategy.for_generator(Failing)),
        STREAMING,
        ("watermark generator of the strategy", IN),
    ),
    "generator at the end": (
        timed(WatermarkStrategy.for_generator(Late)),
        STREAMING,
        ("watermark generator of the strategy", IN),
    ),
    "supplier of generators": (
        timed(WatermarkStrategy.for_generator(lambda: [][0])),
        STREAMING,
        ("watermark generator of the strategy", IN),
    ),
}


def failure(build: Callable[[DataStream], Any], mode: RuntimeExecutionMode, **settings: Any) -> JobExecutionError:
    configuration = Configuration.from_dict({key.replace("_", "."): value for key, value in settings.items()})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor="local")
    env.set_parallelism(2).set_runtime_mode(mode)
    build(env.from_collection([("a", 1), ("b", 2)]).map(lambda value: value).name("Clean").set_parallelism(1))
    with pytest.raises(JobExecutionError) as caught:
        env.execute()
    return caught.value


@pytest.mark.parametrize("form", ["fused", "listed"])
@pytest.mark.parametrize("case", CASES)
def test_the_function_is_named(case: str, form: str) -> None:
    build, mode, (function, place) = CASES[case]
    error = failure(build, mode, penstock_runtime_form=form)
    assert f"The {function}" in str(error)
    assert f" {place}" in str(error)
    assert error.function is not None
    assert error.function.startswith(function)
    assert error.operator is not None
    assert error.operator in str(error)


@pytest.mark.parametrize("case", [case for case in CASES if "(" in CASES[case][2][0]])
def test_the_line_of_the_call_is_named(case: str) -> None:
    build, mode, _ = CASES[case]
    assert ") (line " in str(failure(build, mode))
    assert f" of {__file__.rpartition('/')[2]})" in str(failure(build, mode))


@pytest.mark.parametrize("form", ["fused", "listed"])
@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.key_by(lambda v: 1).reduce(lambda one, other: one["x"]).print(),
        lambda s: s.key_by(lambda v: 1).count_window(2).reduce(lambda one, other: one["x"]).print(),
        lambda s: s.key_by(len).map(broken).print(),
        lambda s: s.assign_timestamps_and_watermarks(WatermarkStrategy.no_watermarks()).map(broken).print(),
    ],
)
def test_the_function_of_an_operator_is_the_operator(build: Callable[[DataStream], Any], form: str) -> None:
    error = failure(build, STREAMING, penstock_runtime_form=form)
    assert error.function is None
    assert str(error).startswith(f"Operator {error.operator!r} with the ID ")


def test_a_loop_of_calls_is_told_apart_by_lines() -> None:
    def build(s: DataStream) -> Any:
        for selector in (len, broken):
            s = s.key_by(selector).map(lambda value: value).name(f"by {selector.__name__}")
        return s.print()

    error = failure(build, STREAMING)
    assert error.operator == "by len"
