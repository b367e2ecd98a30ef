"""Sinks of a program that keep attributes give the same with native code and without, and so do functions with state of
keyed streams: map, filter and flat_map, of one stream and of two."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Time, Types
from penstock.datastream import (
    CoFlatMapFunction,
    CoMapFunction,
    FilterFunction,
    FlatMapFunction,
    ListStateDescriptor,
    MapFunction,
    MapStateDescriptor,
    SinkFunction,
    StateTtlConfig,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.errors import JobExecutionError
from penstock.runtime.operators.native_accumulator import NativeAccumulator
from penstock.runtime.operators.native_process import NativeProcess
from tests.job.steps.evolving import environment, fed
from tests.running import collected

LONG, STRING = Types.LONG(), Types.STRING()
PAIR = Types.TUPLE([STRING, LONG])


class Keeping(SinkFunction):
    """A sink that leaves its attributes in a file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.rows = self.total = 0
        self.share, self.greatest, self.last = 0.0, None, ("", 0)
        self.limit = 0
        self.seen: list[Any] = []

    def open(self, runtime_context: Any) -> None:
        self.limit = 40

    def close(self) -> None:
        kept = {name: value for name, value in vars(self).items() if name != "path"}
        Path(self.path).write_text(json.dumps(kept, default=repr), encoding="utf-8")


class Counts(Keeping):
    def invoke(self, value: Any) -> None:
        self.rows += 1
        self.total += value[1] * 3
        self.share += value[1] / 7


class Greatest(Keeping):
    def invoke(self, value: Any) -> None:
        name, number = value
        if self.greatest is None or number > self.greatest:
            self.greatest = number
            self.last = name, number
        if number > self.limit:
            return
        self.rows = self.rows + 1


class Failing(Keeping):
    def invoke(self, value: Any) -> None:
        self.rows += 1
        self.total += 100 // (value[1] - 77)


class Growing(Keeping):
    """Beyond 64 bits in the middle, and back."""

    def invoke(self, value: Any) -> None:
        self.rows += 1
        self.total += (value[1] - 50) * 2**57


class Changing(Keeping):
    """What it keeps becomes a list after a while."""

    def invoke(self, value: Any) -> None:
        if self.rows == 30:
            self.last = [value[1]]
        self.rows += 1


class Dated(Keeping):
    """Keeps a day, a time, and for a while a time with a zone, which only Python keeps."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.first, self.at = date.max, datetime(2024, 2, 29)

    def invoke(self, value: Any) -> None:
        self.rows += 1
        day = date.fromordinal(730_000 + value[1])
        if day < self.first:
            self.first = day
        at = self.at + timedelta(hours=value[1])
        self.at = at.replace(tzinfo=timezone.utc) if 40 < self.rows < 60 else at.replace(tzinfo=None)


class Reading(Keeping):
    def invoke(self, value: Any) -> None:
        self.seen.append(value)


class Exceptional(Keeping):
    """Its class has an attribute that it never assigns, though it could."""

    exceptional = 0

    def invoke(self, value: Any) -> None:
        self.rows += 1
        if value[1] > 1_000:
            self.exceptional = value[1]


class Guessing(Keeping):
    """Notes who asks for attributes that it does not have."""

    def __getattr__(self, name: str) -> Any:
        if name != "guess":
            raise AttributeError(name)
        self.seen.append(name)
        return 5

    def invoke(self, value: Any) -> None:
        if value[1] == 99:
            self.guess = value[1]
        self.total = self.guess


class Slotted(SinkFunction):
    """Keeps nothing, and has no attributes of its own."""

    __slots__ = ()

    def __init__(self, path: str) -> None:
        Path(path).write_text("", encoding="utf-8")

    def invoke(self, value: Any) -> None:
        value[1] + 1


RECORDS = [(f"n{number % 7}", number * 37 % 101) for number in range(3_000)]


def of_sink(sink: type[Keeping], way: str, path: Path) -> Any:
    settings = Configuration().set_string("penstock.native", way)
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(1)
    records = env.from_collection(RECORDS, PAIR).map(lambda record: (record[0], record[1]), PAIR)
    records.add_sink(sink(str(path / way)))
    try:
        env.execute()
    except JobExecutionError as error:
        return repr(error.__cause__), Path(path / way).read_text(encoding="utf-8")
    return Path(path / way).read_text(encoding="utf-8")


@pytest.mark.parametrize("sink", [Counts, Greatest, Failing, Growing, Changing, Dated])
def test_a_sink_keeps_the_same(sink: type[Keeping], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    run = NativeAccumulator.run

    def noted(*arguments: Any) -> Any:
        result = run(*arguments)
        runs.append(result[2])
        return result

    monkeypatch.setattr(NativeAccumulator, "run", noted)
    assert of_sink(sink, "auto", tmp_path) == of_sink(sink, "off", tmp_path)
    assert max(runs) > 3


def test_a_sink_takes_many_records_of_a_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lines").write_text("a line\n" * 20_000, encoding="utf-8")
    runs, run = [], NativeAccumulator.run
    monkeypatch.setattr(NativeAccumulator, "run", lambda *arguments: runs.append(arguments) or run(*arguments))
    env = StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(1)
    lines = env.read_text_file(str(tmp_path / "lines"))
    lines.map(lambda line: ("a", len(line)), PAIR).add_sink(Counts(str(tmp_path / "counts")))
    env.execute()
    assert json.loads((tmp_path / "counts").read_text())["total"] == 20_000 * 18
    assert len(runs) < 80


@pytest.mark.parametrize("sink", [Exceptional, Guessing, Slotted])
def test_attributes_of_objects_and_of_classes_are_told_apart(sink: Any, tmp_path: Path) -> None:
    assert of_sink(sink, "auto", tmp_path) == of_sink(sink, "off", tmp_path)


class CountPerKey(MapFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", LONG))

    def map(self, value: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        return f"{value[0]} {self.count.value()} {10_000 // (value[1] - 77) if value[1] > 70 else value[1]}"


class Changed(FilterFunction):
    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", LONG))

    def filter(self, value: Any) -> Any:
        before = self.last.value()
        self.last.update(value[1] // 10)
        return before != value[1] // 10


class InPairs(FlatMapFunction):
    def open(self, runtime_context: Any) -> None:
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", LONG))

    def flat_map(self, value: Any) -> Iterator[Any]:
        self.waiting.add(value[1])
        pair = list(self.waiting)
        if len(pair) == 2:
            self.waiting.clear()
            yield f"{value[0]} {pair}"


class Missing(FlatMapFunction):
    """Returns None after a while, which is no list."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", LONG))

    def flat_map(self, value: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        if self.count.value() < 400:
            return [str(self.count.value())]
        return None


class Entries(FlatMapFunction):
    """Returns a list; its state expires."""

    def open(self, runtime_context: Any) -> None:
        descriptor = MapStateDescriptor("entries", LONG, LONG)
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(1)).build())
        self.entries = runtime_context.get_map_state(descriptor)

    def flat_map(self, value: Any) -> list[str]:
        place = value[1] % 3
        self.entries.put(place, (self.entries.get(place) or 0) + value[1])
        return [f"{value[0]} {place} {self.entries.get(place)}", "next"]


class Both(CoMapFunction):
    def open(self, runtime_context: Any) -> None:
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", LONG))

    def map1(self, value: Any) -> Any:
        return self.add(value[0], value[1])

    def map2(self, value: Any) -> Any:
        return self.add(value[0], -value[1])

    def add(self, name: str, number: int) -> str:
        self.sum.update((self.sum.value() or 0) + number)
        return f"{name} {self.sum.value()}"


class BothFlat(CoFlatMapFunction):
    def open(self, runtime_context: Any) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def flat_map1(self, value: Any) -> Iterator[Any]:
        if not self.seen.value():
            self.seen.update(True)
            yield f"first {value[0]}"

    def flat_map2(self, value: Any) -> Iterator[Any]:
        if self.seen.value():
            yield f"again {value[0]}"
            self.seen.clear()


def with_state(keyed: Any, other: Any, function: Any) -> Any:
    """The results of a function on a keyed stream, or two, as texts."""
    if isinstance(function, CoMapFunction):
        return keyed.connect(other).map(function, STRING)
    if isinstance(function, CoFlatMapFunction):
        return keyed.connect(other).flat_map(function, STRING)
    if isinstance(function, FilterFunction):
        return keyed.filter(function).map(lambda record: f"{record[0]}{record[1]}", STRING)
    if isinstance(function, FlatMapFunction):
        return keyed.flat_map(function, STRING)
    return keyed.map(function, STRING)


FUNCTIONS = [CountPerKey, Changed, InPairs, Missing, Entries, Both, BothFlat]


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_with_state_gives_the_same(function: Any, fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes, done = [], []
    run = NativeProcess.run_input

    def noted(process: Any, number: int, batch: Any, start: int, end: int) -> Any:
        result = run(process, number, batch, start, end)
        done.append(result[2] - start)
        return result

    monkeypatch.setattr(NativeProcess, "run_input", noted)
    for way in ("auto", "off"):
        settings = Configuration().set_string("penstock.native", way)
        env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(2)
        records = RECORDS if fails else [(name, number % 70) for name, number in RECORDS]
        first = env.from_collection(records, PAIR).key_by(lambda record: record[0], STRING)
        second = env.from_collection(records[:500], PAIR).key_by(lambda record: record[0], STRING)
        try:
            outcomes.append(sorted(collected(with_state(first, second, function()))))
        except JobExecutionError as error:
            outcomes.append([repr(error.__cause__)])
    assert outcomes[0] == outcomes[1]
    assert (len(outcomes[0]) == 1) == ((fails and function is CountPerKey) or function is Missing)
    assert sum(done) > 10


def in_turn(folder: Path, ways: list[str], function: Any) -> list[list[Any]]:
    """The results of a job that goes on with more records, native code on or off each time."""
    results = []
    for turn, way in enumerate(ways, 1):
        env = environment(folder, 2, penstock__native=way, penstock__step__records=20)
        records = [(f"key {number % 3}", number * number % 23) for number in range(60 * turn)]
        keyed = fed(env, folder, records, PAIR).key_by(lambda record: record[0], STRING)
        results.append(sorted(collected(with_state(keyed, keyed, function()).uid("all"))))
    return results


@pytest.mark.slow
@pytest.mark.parametrize("function", [CountPerKey, InPairs, Entries])
def test_state_goes_on_with_native_code_and_without(function: Any, tmp_path: Path) -> None:
    expected = in_turn(tmp_path / "off" / "job", ["off"] * 3, function)
    for ways in (["auto", "off", "auto"], ["off", "auto", "off"]):
        assert in_turn(tmp_path / "".join(ways) / "job", ways, function) == expected
