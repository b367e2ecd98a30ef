"""Programs give the same with native code and without: results in their order, counts, and failures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Types
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.functions import MapFunction, RuntimeContext
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
