"""Random process functions give the same with native code and without: records, their order, and failures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Configuration, Duration, Time, Types, WatermarkStrategy
from penstock.datastream import (
    DataStream,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.errors import JobExecutionError
from penstock.runtime import native
from tests.job.steps.evolving import environment, fed
from tests.running import collected

LONG = Types.LONG()
RECORD = Types.TUPLE([LONG, LONG, Types.STRING(), LONG])
"""Key, what to do, text, time."""
RESULT = Types.TUPLE([Types.STRING(), LONG, LONG])
CALLS = (
    "set value", "clear value", "add", "add all", "update", "clear list", "put", "remove", "register", "register late",
    "delete", "register by clock", "emit state", "emit several", "fail",
)  # fmt: skip
Step = tuple[str, int]
RECORDS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 5), st.sampled_from(["", "a", "\N{SNOWMAN}"]), st.integers(0, 200)),
    max_size=60,
)
STEPS = st.lists(st.tuples(st.sampled_from(CALLS), st.integers(0, 5)), min_size=1, max_size=8)


class Doing:
    """Takes the steps whose number is that of the record, or all of them for a timer."""

    def __init__(self, steps: list[Step], at_timers: list[Step]) -> None:
        self.steps, self.at_timers = steps, at_timers

    def open(self, runtime_context: Any) -> None:
        self.value = runtime_context.get_state(ValueStateDescriptor("value", RECORD))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", LONG))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", LONG, Types.STRING()))

    def records(self, value: Any, ctx: Any) -> Iterator[Any]:
        for call, number in self.steps:
            if number in (value[1], 5):
                yield from self.take(call, value, ctx)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        value = ctx.get_current_key(), timestamp % 6, str(ctx.time_domain()), timestamp
        yield "timer", timestamp, ctx.timestamp()
        for call, number in self.at_timers:
            if number == timestamp % 6 and not call.startswith("register"):
                yield from self.take(call, value, ctx)

    def take(self, call: str, value: Any, ctx: Any) -> Iterator[Any]:
        timers, (_, number, text, time) = ctx.timer_service(), value
        if call == "set value":
            self.value.update(value)
        elif call == "clear value":
            self.value.clear()
        elif call == "add":
            shown = self.list.get()
            self.list.add(time)
            yield "before", len(list(shown)), len(list(self.list.get()))
        elif call == "add all":
            self.list.add_all([number, time])
        elif call == "update":
            elements = [time, *self.list][:3]
            self.list.update(elements)
            elements.clear()
        elif call == "clear list":
            self.list.update([])
        elif call == "put":
            self.map.put(number, text)
        elif call == "remove":
            self.map.remove(number)
        elif call == "register":
            timers.register_event_time_timer(time + 10 * number)
        elif call == "register late":
            timers.register_event_time_timer(time - 50)
        elif call == "delete":
            timers.delete_event_time_timer(time + 10 * number)
        elif call == "register by clock":
            timers.register_processing_time_timer(2**62)
        elif call == "emit several":
            yield from ((text, time, at) for at in range(number))
        elif call == "fail" and time == 113:
            raise ValueError(time)
        else:
            value = self.value.value()
            yield f"{value}{list(self.list)}{dict(self.map.items())}", timers.current_watermark() % 1_000, number


class Doings(Doing, KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        return self.records(value, ctx)


class BothDoings(Doing, KeyedCoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any] | None:
        return self.records(value, ctx) if value[0] else None

    def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield "second", ctx.timestamp(), ctx.get_current_key()
        yield from self.records(value, ctx)


def keyed(env: StreamExecutionEnvironment, path: str) -> Any:
    lines = env.read_text_file(path)
    records = lines.map(lambda line: line.split(",")).map(lambda f: (int(f[0]), int(f[1]), f[2], int(f[3])), RECORD)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(20))
    timed = records.assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(lambda record, timestamp: record[3])
    )
    return timed.key_by(lambda record: record[0], LONG)


def program(env: StreamExecutionEnvironment, path: str, both: bool, function: Any) -> DataStream:
    if both:
        results = keyed(env, path).connect(keyed(env, path)).process(function, RESULT)
    else:
        results = keyed(env, path).process(function, RESULT)
    return results.map(lambda result: (result[0] + "!", result[1], result[2]), RESULT)


def outcome(path: str, both: bool, steps: list[Step], at_timers: list[Step], way: str) -> Any:
    settings = Configuration().set_string("penstock.native", way)
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(1)
    function = (BothDoings if both else Doings)(steps, at_timers)
    got = list[Any]()
    try:
        with program(env, path, both, function).execute_and_collect() as results:
            got.extend(results)
    except JobExecutionError as error:
        return str(error)
    return got


@pytest.mark.skipif(native.functions() is None, reason="there is no native module")
@pytest.mark.parametrize("both", [False, True])
@settings(max_examples=15)
@given(records=RECORDS, steps=STEPS, at_timers=STEPS)
def test_random_process_functions_are_the_same(
    both: bool, records: list[Any], steps: list[Step], at_timers: list[Step], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = Path(tmp_path_factory.mktemp("records"), "records")
    path.write_text("".join(",".join(map(str, record)) + "\n" for record in records), encoding="utf-8")
    arguments = str(path), both, steps, at_timers
    assert outcome(*arguments, "auto") == outcome(*arguments, "off")


class AllStates(KeyedProcessFunction):
    """Every kind of state, and a timer. The values may expire, after a day."""

    def __init__(self, expires: bool) -> None:
        self.expires = expires

    def open(self, runtime_context: Any) -> None:
        value, elements = ValueStateDescriptor("value", LONG), ListStateDescriptor("list", LONG)
        entries = MapStateDescriptor("map", LONG, Types.STRING())
        total = ReducingStateDescriptor("sum", lambda a, b: a + b, LONG)
        for descriptor in [value, elements, entries, total]:
            if self.expires:
                descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(1)).build())
        self.value = runtime_context.get_state(value)
        self.list = runtime_context.get_list_state(elements)
        self.map = runtime_context.get_map_state(entries)
        self.sum = runtime_context.get_reducing_state(total)

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        key, number = value
        self.value.update((self.value.value() or 0) + 1)
        self.list.add(number)
        self.map[number % 7] = f"{key}{number}"
        self.map.remove(number % 5)
        self.sum.add(number)
        ctx.timer_service().register_processing_time_timer(2**50 + number)
        yield key, self.value.value(), list(self.list), [*self.map.items()], self.sum.get()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), self.value.value(), [timestamp], [], self.sum.get()


def results_in_turn(folder: Path, ways: list[str], expires: bool) -> list[list[Any]]:
    """The results of a job that goes on with more records, native code on or off each time."""
    results = []
    for turn, way in enumerate(ways, 1):
        env = environment(folder, 2, penstock__native=way, penstock__step__records=20)
        records = [(f"key {number % 3}", number * number % 23) for number in range(60 * turn)]
        keyed = fed(env, folder, records, Types.TUPLE([Types.STRING(), LONG])).key_by(lambda record: record[0])
        shown = keyed.process(AllStates(expires)).uid("all").map(repr, Types.STRING())
        results.append(sorted(collected(shown)))
    return results


@pytest.mark.slow
@pytest.mark.parametrize("expires", [False, True])
def test_state_goes_on_with_native_code_and_without(expires: bool, tmp_path: Path) -> None:
    expected = results_in_turn(tmp_path / "off" / "job", ["off"] * 3, expires)
    assert [len(results) for results in expected] == [60] * 3
    for ways in (["auto", "off", "auto"], ["off", "auto", "off"]):
        assert results_in_turn(tmp_path / "".join(ways) / "job", ways, expires) == expected


class Noting(KeyedProcessFunction):
    """Calls a method that gives nothing, once for each number."""

    def open(self, runtime_context: Any) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", LONG))

    def note(self, number: int, key: int) -> None:
        if number > 2:
            large = number
        total = self.total.value()
        self.total.update((0 if total is None else total) + large + key)

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        for number in range(value[1], 0, -1):
            self.note(number + value[3], ctx.get_current_key() * 100)
        yield "noted", self.total.value() or 0, value[3]


@pytest.mark.parametrize("rows", [[(0, 3, "", 2), (1, 2, "", 9), (0, 1, "", 5)], [(0, 3, "", 2), (0, 3, "", 1)]])
def test_a_method_that_gives_nothing_begins_without_locals(rows: list[Any]) -> None:
    results = []
    for setting in ("auto", "off"):
        settings = Configuration().set_string("penstock.native", setting)
        env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
        records = env.from_collection(rows, RECORD).key_by(lambda row: row[0], LONG).process(Noting(), RESULT)
        try:
            results.append(collected(records))
        except JobExecutionError as error:
            results.append(repr(error.__cause__))
    assert results[0] == results[1]
    assert ("'large'" in results[0]) == (len(rows) == 2)
