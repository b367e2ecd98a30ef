"""Process functions of streams without keys, or of two of these, give the same with native code and without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Configuration, OutputTag, Types, WatermarkStrategy
from penstock.datastream import (
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    DataStream,
    ProcessFunction,
    StreamExecutionEnvironment,
)
from penstock.errors import JobExecutionError
from penstock.runtime import native
from penstock.runtime.operators.native_function import NativeFunction

pytestmark = pytest.mark.skipif(native.functions() is None, reason="there is no native module")
LONG = Types.LONG()
PAIR = Types.TUPLE([Types.STRING(), LONG])
LARGE, ODD = OutputTag("large", PAIR), OutputTag("odd", LONG)
NUMBERS = st.lists(st.integers(-3, 9) | st.sampled_from([2**62, 2**63 - 1, -(2**63)]), max_size=40)


class Stamping(ProcessFunction):
    """Asks all that a context has, and emits to side outputs in between."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        if value % 2:
            yield ODD, value
        yield f"{ctx.timestamp()}", value
        if value > 5:
            yield LARGE, (f"{ctx.timer_service().current_watermark()}", value * 2)  # perhaps of more than 64 bits
        if ctx.timer_service().current_processing_time() < 0:
            yield "before 1970", value
        yield "twice", value + value if value < 2**62 else 0


class Failing(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield f"{ctx.timestamp()}", 100 // (value - 3)


class Opened(ProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.index = runtime_context.get_index_of_this_subtask()

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield f"{self.index}", value - 2**62


class Both(CoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield f"first at {ctx.timestamp()}", value
        yield ODD, value + 1

    def process_element2(self, value: Any, ctx: Any) -> list[Any] | None:
        if value == 9:
            return None
        return [(f"second {ctx.timer_service().current_watermark() < 0}", -value)]


class Mapping(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return f"first {value}", value

    def map2(self, value: Any) -> Any:
        return "second", value * 3


class Flattening(CoFlatMapFunction):
    def flat_map1(self, value: Any) -> Iterator[Any]:
        yield from (("first", number) for number in range(min(value, 4)))

    def flat_map2(self, value: Any) -> Iterator[Any]:
        if value != 5:
            yield "second", 10 // (value - 4)


ONE: tuple[Any, ...] = (Stamping(), Failing(), Opened())
TWO: tuple[Any, ...] = (Both(), Mapping(), Flattening())


def results_of(function: Any, numbers: list[int], way: str, pyflink: bool = False) -> Any:
    """What comes out of a function behind others, or that the job fails, and how."""
    settings = Configuration({"penstock.native": way})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(1)
    records = env.from_collection(numbers, LONG)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value % 1_000)
    timed = records.assign_timestamps_and_watermarks(strategy)
    taken = through(function, timed, records)
    results = taken.map(lambda pair: (pair[0] + "!", pair[1]), PAIR)
    for tag in (LARGE, ODD):
        side = taken.get_side_output(tag).map(lambda value: (f"side {value}", 0), PAIR)
        results = results.union(side)
    try:
        with results.execute_and_collect() as collected:
            return list(collected)
    except JobExecutionError as error:
        return str(error)


def through(function: Any, timed: DataStream, records: DataStream) -> DataStream:
    if isinstance(function, ProcessFunction):
        return timed.process(function, PAIR)
    both = timed.connect(records)
    if isinstance(function, CoProcessFunction):
        return both.process(function, PAIR)
    return both.map(function, PAIR) if isinstance(function, CoMapFunction) else both.flat_map(function, PAIR)


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of each batch that native code takes, how many records it has."""
    taken, run = list[int](), NativeFunction._run

    def noting(self: NativeFunction, batch: Any, start: int, end: int) -> int:
        taken.append(end - start)
        return run(self, batch, start, end)

    monkeypatch.setattr(NativeFunction, "_run", noting)
    return taken


@pytest.mark.parametrize("function", [*ONE, *TWO], ids=lambda function: type(function).__name__)
def test_results_are_those_of_python(function: Any, batches: list[int]) -> None:
    numbers = [*range(-3, 3), 7, 9, 2**62, 8, 2**63 - 1, 6]
    results = results_of(function, numbers, "auto")
    assert batches, "native code took none"
    taken = len(batches)
    assert results == results_of(function, numbers, "off")
    assert len(batches) == taken


@pytest.mark.parametrize("function", [*ONE, *TWO], ids=lambda function: type(function).__name__)
@settings(max_examples=15)
@given(numbers=NUMBERS)
def test_random_records_give_the_same(function: Any, numbers: list[int]) -> None:
    assert results_of(function, numbers, "auto") == results_of(function, numbers, "off")


def test_many_records_in_doubt_end_native_code(batches: list[int]) -> None:
    numbers = [2**62] * 10_000
    results = results_of(Stamping(), numbers, "auto")
    assert sum(1 for _ in batches) < 5_000
    assert results == results_of(Stamping(), numbers, "off")


class Keyed(ProcessFunction):
    """Asks for a key, which its stream has not."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield f"{ctx.get_current_key()}", value


class Timed(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        ctx.timer_service().register_event_time_timer(value)
        yield "", value


@pytest.mark.parametrize("function", [Keyed(), Timed()], ids=lambda function: type(function).__name__)
def test_what_needs_keys_stays_in_python(function: Any, batches: list[int]) -> None:
    results = results_of(function, [1, 2], "auto")
    assert not batches
    assert results == results_of(function, [1, 2], "off")
    assert "its input is not keyed" in results or ("None!", 1) in results
