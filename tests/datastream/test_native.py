"""Programs give the same with native code and without: results in their order, counts, and failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Duration, Time, Types, WatermarkStrategy
from penstock.datastream import (
    CoFlatMapFunction,
    DataStream,
    FlatJoinFunction,
    KeyedCoProcessFunction,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.datastream.functions import MapFunction, RuntimeContext
from penstock.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.errors import JobExecutionError
from penstock.runtime import native

Program = Callable[[StreamExecutionEnvironment, Path], DataStream]

LINES = [
    "to be or not to be",
    "",
    "  that is   the question ",
    "naïve café — ŉ ß",
    "1,2,3",
    f"{2**63},1,2",
    "7,0,9",
    *(f"{i % 7},{i},{i * i}" for i in range(3_000)),
]
PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


def lines(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    path = folder / "lines.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return env.read_text_file(str(path))


def numbers(env: StreamExecutionEnvironment) -> DataStream:
    values = [0, 1, -1, 2**62, 2**63 - 1, 5, 7, *range(2_000)]
    return env.from_collection(values, Types.LONG())


def word_count(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    words = lines(env, folder).flat_map(lambda line: line.split(), output_type=Types.STRING())
    pairs = words.map(lambda word: (word, 1), output_type=PAIR)
    return pairs.key_by(lambda pair: pair[0], key_type=Types.STRING()).sum(1)


def reduced(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    words = lines(env, folder).flat_map(lambda line: [(word, len(word)) for word in line.split()], output_type=PAIR)
    return words.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))


def in_doubt(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    """Some results are beyond 64 bits: Python makes them."""
    return numbers(env).map(lambda n: n * 3 + 1).filter(lambda n: n % 2 == 0).map(lambda n: (n, str(n)))


def sums_beyond_64_bits(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    pairs = numbers(env).map(lambda n: ("all", n), output_type=PAIR)
    return pairs.key_by(lambda pair: pair[0], key_type=Types.STRING()).sum(1)


def mixed_types(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return numbers(env).map(lambda n: n / 2 if n % 2 else n).map(lambda n: (n, None if n == 5 else "x")).rebalance()


def parsed(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    fields = lines(env, folder).filter(lambda line: line[:1].isdigit()).map(lambda line: line.split(","))
    return fields.map(lambda f: (int(f[0]), int(f[1]), float(f[2])))


def divides_by_zero(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return parsed(env, folder).map(lambda t: t[0] // t[1])


def objects_behind(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    """A function that is not compiled, as it keeps something."""
    seen: list[int] = []

    def remember(n: int) -> int:
        seen.append(n)
        return len(seen)

    return numbers(env).map(lambda n: n + 0).map(remember).map(lambda n: n + 1)


LONG = Types.LONG()
THREE = Types.TUPLE([LONG, LONG, LONG])


def in_time(stream: DataStream, field: int) -> DataStream:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(500))
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(lambda record, _: record[field]))


def two_kinds(env: StreamExecutionEnvironment, folder: Path) -> tuple[DataStream, DataStream]:
    """Numbers from one source: those that end in 0, and the others, some of them beyond 64 bits."""
    source = numbers(env).map(lambda n: n if n > 0 else 5, LONG)
    tens = source.filter(lambda n: n % 10 == 0).map(lambda n: (n % 30, n, n % 5_000), THREE)
    others = source.filter(lambda n: n % 10 != 0).map(lambda n: (n * 3 % 30, n, n % 5_000), THREE)
    return tens, others


class Latest(KeyedCoProcessFunction):
    """Records of the second input with the last one of the first, and how many there were when a timer fires."""

    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", THREE))
        self.count = runtime_context.get_state(ValueStateDescriptor("count", LONG))

    def process_element1(self, value: Any, ctx: Any) -> None:
        self.last.update(value)
        ctx.timer_service().register_event_time_timer(value[2] + 100)

    def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.count.update((self.count.value() or 0) + 1)
        if self.last.value() is not None:
            yield value[1], ctx.timestamp(), ctx.get_current_key()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield self.count.value() or 0, timestamp, ctx.timer_service().current_watermark()


def connected(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    tens, others = (in_time(stream, 2).key_by(lambda record: record[0] % 2, LONG) for stream in two_kinds(env, folder))
    return tens.connect(others).process(Latest(), THREE)


def keyed_by_pairs(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    pairs = Types.TUPLE([LONG, LONG])
    tens, others = (in_time(s, 2).key_by(lambda r: (r[0] % 2, r[2] % 5), pairs) for s in two_kinds(env, folder))
    return tens.connect(others).process(Latest(), Types.PICKLED_BYTE_ARRAY())


def grouped(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    tens, others = (in_time(stream, 2) for stream in two_kinds(env, folder))
    joined = tens.co_group(others).where(lambda r: r[0] % 3, LONG).equal_to(lambda r: r[0] % 3, LONG)
    windows = joined.window(TumblingEventTimeWindows.of(Time.milliseconds(700)))
    return windows.apply(lambda one, two: [(len(one), len(two), one[:1], two[-1:])])


def joined(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    """Of different types, one of them with None."""
    tens, others = two_kinds(env, folder)
    maybe = others.map(lambda r: (r[2], None if r[0] == 3 else str(r[0])), Types.PICKLED_BYTE_ARRAY())
    both = in_time(tens, 2).join(in_time(maybe, 0)).where(lambda r: r[2] % 7).equal_to(lambda r: r[0] % 7)
    windows = both.window(SlidingEventTimeWindows.of(Time.milliseconds(40), Time.milliseconds(20)))
    return windows.apply(lambda one, two: (one, two))


def in_both(ones: Any, twos: Any) -> Iterator[Any]:
    if any(one[2] % 7 for one in ones):
        for number, (two, *_) in enumerate(twos):
            yield number, two, 100 // (ones[0][2] % 840)


def grouped_by_a_generator(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    """It fails in a late window."""
    tens, others = (in_time(stream.filter(lambda r: r[2] > 0), 2) for stream in two_kinds(env, folder))
    groups = tens.co_group(others).where(lambda r: r[0] % 3, LONG).equal_to(lambda r: r[0] % 3, LONG)
    triple = Types.TUPLE([LONG, LONG, LONG])
    return groups.window(TumblingEventTimeWindows.of(Time.milliseconds(70))).apply(in_both, triple)


class Unequal(FlatJoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        if first[2] % 3 != second[2] % 3:
            yield first[2], second[0]


class Few(FlatJoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        return [(first[2], second[2])] if second[2] % 2 else None


def joined_flat(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    tens, others = (in_time(stream, 2) for stream in two_kinds(env, folder))

    def both(function: Any) -> DataStream:
        pairs = tens.join(others).where(lambda r: r[0] % 2, LONG).equal_to(lambda r: r[2] % 2, LONG)
        windows = pairs.window(TumblingEventTimeWindows.of(Time.milliseconds(30)))
        return windows.apply(function, Types.TUPLE([LONG, LONG]))

    return both(Unequal()).union(both(Few()))


def joined_lists(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    """Native windows do not keep what can change."""
    tens, others = two_kinds(env, folder)
    lists = others.map(lambda r: [r[2], r[0]], Types.LIST(LONG))
    both = in_time(tens, 2).join(in_time(lists, 0)).where(lambda r: r[0] % 2, LONG).equal_to(lambda r: r[1] % 2, LONG)
    return both.window(TumblingEventTimeWindows.of(Time.milliseconds(9))).apply(lambda one, two: (one, two))


def one_branch_in_python(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    """A branch of columns, and one with a function that keeps something."""
    tens, others = two_kinds(env, folder)
    seen: list[int] = []

    def remember(record: Any) -> tuple[int, int]:
        seen.append(record[1])
        return record[0], len(seen)

    pairs = others.map(remember, Types.TUPLE([LONG, LONG])).key_by(lambda pair: pair[0], LONG)
    return tens.key_by(lambda record: record[0], LONG).connect(pairs).flat_map(Both(), Types.PICKLED_BYTE_ARRAY())


class Both(CoFlatMapFunction):
    def flat_map1(self, value: Any) -> Iterator[Any]:
        yield "ten", value

    def flat_map2(self, value: Any) -> Iterator[Any]:
        yield "other", value


def both_branches_fail(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    """The second branch fails for an earlier record than the first one."""
    source = env.from_collection(list(range(2_000)), LONG).map(lambda n: n, LONG)
    late = source.map(lambda n: (n % 7, 1 // (n - 1_500)), Types.TUPLE([LONG, LONG]))
    early = source.map(lambda n: (n % 7, 1 // (1_480 - n)), Types.TUPLE([LONG, LONG]))
    one, two = (stream.key_by(lambda pair: pair[0], LONG) for stream in (late, early))
    return one.connect(two).flat_map(Both(), Types.PICKLED_BYTE_ARRAY())


class Names(MapFunction):
    """Looks numbers up in what ``open`` has read: texts by text, with keys that are missing."""

    def __init__(self, path: str) -> None:
        self.path = path

    def open(self, runtime_context: RuntimeContext) -> None:
        with open(self.path, encoding="utf-8") as file:
            self.names = dict(line.rstrip("\n").split(",", 1) for line in file if line.count(",") == 1)
        self.numbers = {n: (n, str(n)) for n in range(50)}
        self.factor = len(self.names)

    def map(self, value: int) -> tuple[object, ...]:
        name = self.names.get(str(value % 100), "nobody") if value % 3 else self.names[str(value % 7)]
        return value, name, self.numbers[value % 50], self.numbers.get(value), value % 5 * self.factor


def looked_up(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    path = folder / "names.csv"
    path.write_text("".join(f"{n},name {n}\n" for n in range(70)), encoding="utf-8")
    return numbers(env).filter(lambda n: n >= 0).map(Names(str(path))).map(lambda t: (t[1], t[0], t[2][1], t[3], t[4]))


def looked_up_in_vain(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    path = folder / "few.csv"
    path.write_text("0,a\n1,b\n", encoding="utf-8")
    return numbers(env).map(Names(str(path)))


PROGRAMS: list[Program] = [
    connected,
    keyed_by_pairs,
    grouped,
    grouped_by_a_generator,
    joined,
    joined_flat,
    joined_lists,
    one_branch_in_python,
    both_branches_fail,
    looked_up,
    looked_up_in_vain,
    word_count,
    reduced,
    in_doubt,
    sums_beyond_64_bits,
    mixed_types,
    parsed,
    divides_by_zero,
    objects_behind,
]


def outcome(program: Program, folder: Path, **settings: str) -> Any:
    """The results of a program, or the texts of its failure."""
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key.replace("_", "."), value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor="local").set_parallelism(2)
    try:
        with program(env, folder).execute_and_collect() as results:
            return [(type(result), result) for result in results]
    except JobExecutionError as error:
        return str(error), repr(error.__cause__)


@pytest.mark.skipif(native.functions() is None, reason="needs the native module")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_results_are_the_same_with_native_off(program: Program, tmp_path: Path) -> None:
    compiled = outcome(program, tmp_path, penstock_native="auto")
    assert compiled == outcome(program, tmp_path, penstock_native="off")
    assert compiled
