"""Functions as programs give what CPython gives, in value and type, or Doubt where it raises."""

from __future__ import annotations

import functools
import json
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from penstock.common.row import Row
from penstock.compiler.functions import CompiledAggregate, compile_aggregate, compile_function
from penstock.compiler.program import Compiled, Refusal
from penstock.datastream.functions import AggregateFunction, FlatMapFunction, KeySelector, MapFunction
from tests.compiler.reference import Doubt, Program

LIMIT = 5
STOP_WORDS = {"the", "a"}
NAMES = {1: "one", 2: "two"}
TABLES = {"small": {"a": 1}, "large": {"b": 2}}
PREFIX = ">"


class Color(Enum):
    RED = "r"


@dataclass(frozen=True)
class Point:
    x: int
    y: int


def shown(value: Any) -> Any:
    """A value with all its types, so that 1, 1.0 and True differ, and NaN does not."""
    if isinstance(value, tuple | list):
        return type(value), [shown(item) for item in value]
    if isinstance(value, dict):
        return dict, [(shown(key), shown(item)) for key, item in value.items()]
    return type(value), repr(value)


def program(function: Any, kind: str = "map") -> Program:
    compiled = compile_function(function, kind)
    assert isinstance(compiled, Compiled), str(compiled)
    return Program(compiled.program)


def check(function: Any, *records: Any, kind: str = "map", method: str = "", doubts: int = 0) -> None:
    """The program of a function gives the same as the function for all records; it doubts where Python raises, and for
    some others."""
    compiled = program(function, kind)
    called: Callable[..., Any] = getattr(function, method) if method else function
    for record in records:
        arguments = record if kind in ("reduce", "time", "add", "merge") else (record,)
        try:
            expected = called(*arguments)
            if kind == "flat_map":
                expected = list(expected)
        except Exception:
            with pytest.raises(Doubt):
                compiled.run(*arguments)
            continue
        try:
            result = compiled.run(*arguments)
        except Doubt:
            doubts -= 1
            continue
        assert shown(list(result) if kind == "flat_map" else result) == shown(expected)
    assert doubts == 0


LINES = ["", "the quick brown fox", " a  b\tc ", "1,2,3,4", "x", "ÄÖ ß", "a,b,c;d"]
PAIRS = [("a", 1), ("b", 2.5), ("", -3), ("z", None), ("only",), ["l", 7]]
NUMBERS = [0, 1, -7, 2.5, -0.0, True, float("inf"), 2**62, "text", None]
SEQUENCES = [[], [1], [3, 1, 2], [2.5, 1], (1, 2, 3), ["b", "a"], "abc", [(1, "b"), (1, "a"), (0, "c")], 5]

ONE_RECORD: list[tuple[Callable[[Any], Any], list[Any]]] = [
    (lambda x: x + 1, NUMBERS),
    (lambda x: -x * 2 - 1 if x > LIMIT else x // 3, NUMBERS),
    (lambda x: 0 < x <= 5 != 7, NUMBERS),
    (lambda x: (x, x is None, x is not True, not x), NUMBERS),
    (lambda x: (x % 3 == 0 and x) or "no", NUMBERS),
    (lambda x: [x, -1, -0.0, ~3, 1 << 4, 2**10, 7 & 3 | 8 ^ 1], NUMBERS),
    (lambda x: f"{x:>8} {x!r:<6} {x}% {{}} {LIMIT:0{3}d}", NUMBERS),
    (lambda x: "%s is %5d, %-6.2f|%r %%" % (x, 3, 2.5, x), NUMBERS),  # noqa: UP031
    (lambda x: f"{x} and {2!r:>4}" if x else f"{x}{1:>3}{x}", NUMBERS),
    (lambda x: (abs(x), round(x), round(x, ndigits=1), int(x), float(x), bool(x)), NUMBERS),
    (lambda x: (math.sqrt(x), math.floor(x), math.pi), NUMBERS),
    (lambda x: (isinstance(x, str), isinstance(x, (int, float)), isinstance(x, bool)), NUMBERS),
    (lambda x: NAMES.get(x, PREFIX) + NAMES[1], NUMBERS),
    (lambda x: Color.RED.value + str(x), NUMBERS),
    (lambda x: TABLES["small"].get(x, TABLES["large"]["b"]), NUMBERS),
    (lambda d: ("a" in d.keys(), 1 not in d.keys()), [{"a": 1}, {}, {1: 2}, [1], "a", None]),  # noqa: SIM118
    (lambda line: line.split(), LINES),
    (lambda line: line.split(maxsplit=1), LINES),
    (lambda line: [w.upper() for w in line.split() if w not in STOP_WORDS], LINES),
    (lambda line: sum(len(w) for w in line.split(",")), LINES),
    (lambda line: ",".join(reversed(line.split())), LINES),
    (lambda line: (line.strip().title(), line.replace("a", "b"), line.find("c"), line[1:-1], line[::-1]), LINES),
    (lambda line: dict(zip(line, range(3), strict=False)), LINES),
    (lambda line: {w: len(w) for w in line.split()}, LINES),
    (lambda line: list(map(str.upper, line.split())) + list(filter(None, line.split(","))), LINES),
    (lambda line: [i * 10 + j for i, w in enumerate(line.split(), start=1) for j in range(i) if j != 1], LINES),
    (lambda line: line in ("x", "y") or line in {"", "1,2,3,4"} or "o" in line, LINES),
    (lambda line: json.loads("[" + line + "]"), LINES),
    (lambda pair: (pair[0], pair[1] * 2), PAIRS),
    (lambda pair: (lambda_free(pair), with_default(pair[0]), with_default(pair[0], end="?")), PAIRS),
    (lambda pair: {"key": pair[0], "value": pair[1], "key2": [*pair, 1]}, PAIRS),
    (lambda pair: (*pair, "end"), PAIRS),
    (lambda pair: Row(name=pair[0], count=pair[1]), PAIRS),
    (lambda pair: Row(pair[0], 1), PAIRS),
    (lambda row: (row.x, row.y - 1), [Point(1, 2), Row(x=3, y=4), Row(3, 4), 5]),
    (lambda xs: (sorted(xs), sorted(xs, reverse=True), len(xs), min(xs), max(xs)), SEQUENCES),
    (lambda xs: sorted(xs, key=lambda x: (x[1], -x[0])), SEQUENCES),
    (lambda xs: max(xs, key=operator.itemgetter(1), default=None), SEQUENCES),
    (lambda xs: (any(x > 1 for x in xs), all(xs), tuple(xs), sum(xs), max(xs[0], xs[1])), SEQUENCES),
    (lambda xs: [x for x in xs if True] + [y for x in [xs] for y in x], SEQUENCES),
    (lambda xs: operator.add(xs[0], 1), SEQUENCES),
    (lambda xs: (lambda n: n)(xs) if False else [len(xs)] * 2, SEQUENCES[:0]),
]


def lambda_free(pair: Any) -> Any:
    return pair[0] + "!"


def with_default(text: str, start: str = "<", *, end: str = ">") -> str:
    return start + text + end


@pytest.mark.parametrize("case", range(len(ONE_RECORD) - 1))
def test_expressions(case: int) -> None:
    function, records = ONE_RECORD[case]
    check(function, *records)


def test_what_cannot_be_translated_in_the_table_is_refused() -> None:
    assert isinstance(compile_function(ONE_RECORD[-1][0], "map"), Refusal)


def total(line: str) -> int:
    """The sum of the numbers of a line."""
    result: int = 0
    for part in line.split(","):
        try:
            result += int(part)
        except ValueError:
            result -= 1
    return result


def first_long(line: str) -> Any:
    for index, word in enumerate(line.split()):
        if len(word) < 3:
            continue
        if index > 2:
            break
        return index, word
    return None


def collatz(n: int) -> list[int]:
    steps = [n]
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps.append(n)
    return steps


def counted(line: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in line.split(","):
        counts[word] = counts.get(word, 0) + 1
        counts["all"] = len(counts)
        counts["all"] += 1
    counts.update({"end": 1})
    return counts


def updated(line: str) -> Any:
    data = json.loads("{" + line + "}")
    data["x"] = 1
    return data["x"], json.dumps(data)


def placed(xs: Any) -> Any:
    places = [0] * 3 if xs == 5 else [0, 0, 0]
    places[0] = xs[0]
    places[-1] += 1
    return places


def unpacked(pair: Any) -> Any:
    first, *rest = pair
    (a, b), c = (first, rest), 1
    a, b = b, a
    x = y = c
    return a, b, x + y


def unpacked_in_a_loop(xs: Any) -> Any:
    result = []
    for first, *others in [xs, (1,), *([x, x] for x in xs), xs]:
        result.append((first, others))
    for *others, (first) in [xs, "ab"]:
        result.append((others, first))
    return result


def guarded(x: Any) -> Any:
    if x is None:
        raise ValueError("no value")
    if x == 1:
        raise ValueError(x)
    if x == 2.5:
        return "two"
    return x


def maybe_unset(x: Any) -> Any:
    if x:
        value = 1
    return value


def joined(xs: Any) -> str:
    text = ""
    for x in xs:
        text += str(x)
    return text


def scoped(xs: Any) -> Any:
    x = 10
    inside = [x for x in xs if x]
    return inside, x


def imported_inside(text: Any) -> Any:
    import json as reader
    from math import floor

    return reader.loads(text), floor(2.5)


@pytest.mark.parametrize(
    ("function", "records"),
    [
        (first_long, LINES),
        (collatz, NUMBERS[:6]),
        (counted, LINES),
        (updated, ["", '"a": [1, 2]', '"x": null', "1"]),
        (placed, SEQUENCES),
        (unpacked, PAIRS),
        (unpacked_in_a_loop, SEQUENCES),
        (guarded, NUMBERS),
        (maybe_unset, NUMBERS),
        (joined, SEQUENCES),
        (scoped, SEQUENCES),
        (imported_inside, LINES),
    ],
)
def test_statements(function: Callable[[Any], Any], records: list[Any]) -> None:
    check(function, *records)


def test_handlers_of_exceptions_stay_in_python() -> None:
    check(total, *LINES, doubts=6)


def words(line: str) -> Any:
    for word in line.split():
        if word in STOP_WORDS:
            continue
        if word == "fox":
            return
        yield word, 1


def words_of_list(line: str) -> Any:
    result: list[Any] = []
    for word in line.split():
        result.append(word)
        result.extend(word)
        result += [len(word)]
    return result


def words_of_two_lists(line: str) -> Any:
    if not line:
        return []
    result = []
    for word in line.split():
        result.append(word)
    return result


def parts(line: str) -> Any:
    yield from line.split(",")
    yield


@pytest.mark.parametrize(
    "function",
    [words, words_of_list, words_of_two_lists, parts, lambda line: (word for word in line.split()), str.split, list],
)
def test_functions_with_many_results(function: Callable[[Any], Any]) -> None:
    check(function, *LINES, kind="flat_map")


def test_a_list_that_is_only_returned_is_not_built() -> None:
    assert "append" not in json.dumps(program(words_of_list, "flat_map").functions)
    assert "append" in json.dumps(program(words_of_list).functions)
    assert "append" in json.dumps(program(words_of_two_lists, "flat_map").functions)


class Scale(MapFunction):
    BASE = 10

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def open(self, runtime_context: Any) -> None:
        """Nothing."""

    def map(self, value: Any) -> Any:
        return self._scaled(value) + self.BASE

    def _scaled(self, value: Any) -> Any:
        return value * self.factor + self.half(value)

    @staticmethod
    def half(value: Any) -> Any:
        return value / 2


class Words(FlatMapFunction):
    def flat_map(self, value: Any) -> Any:
        for word in value.split():
            yield word.lower()


class First(KeySelector):
    def get_key(self, value: Any) -> Any:
        return value[0]


class Callable_:
    def __call__(self, value: Any) -> Any:
        return value, 1


def power(base: Any, exponent: Any, *, more: int = 0) -> Any:
    return base**exponent + more


def test_objects_partials_and_builtins() -> None:
    check(Scale(3), *NUMBERS, method="map")
    check(Scale(3).map, *NUMBERS)
    check(Words(), *LINES, kind="flat_map", method="flat_map")
    check(First(), *PAIRS, kind="key", method="get_key")
    check(Callable_(), *PAIRS)
    check(functools.partial(operator.add, 7), *NUMBERS[:6])
    check(functools.partial(power, 2), *NUMBERS[:6])
    check(functools.partial(power, exponent=2, more=1), *NUMBERS[:6])
    check(operator.itemgetter(0), *PAIRS, kind="key")
    check(operator.itemgetter(1, 0), *PAIRS, kind="key")
    check(operator.attrgetter("x"), Point(1, 2), 5, kind="key")
    for builtin in (str, int, len, float, bool, abs, repr, sorted, sum, tuple):
        check(builtin, *NUMBERS, *SEQUENCES)
    check(str.lower, *LINES, 5, b"A")
    check(json.loads, "[1, 2]", "{", 5)
    check(lambda a, b: (a[0], a[1] + b[1]), ((1, 2), (1, 3)), (1, 2), kind="reduce")
    check(operator.add, (1, 2), ("a", 2), kind="reduce")
    check(max, (1, 2), ("a", 2), kind="reduce")
    check(lambda value, previous: value[1] * 1000, ((1, 2), 5), ((1, None), 5), kind="time")


def test_closures_are_constants() -> None:
    def closure(limit: int, words_: set[str]) -> Any:
        return lambda x, low=1: (low < x < limit, x in words_)

    check(closure(7, {"text", "b"}), *NUMBERS)


class Counts(AggregateFunction):
    def create_accumulator(self) -> Any:
        return {"count": 0, "words": []}

    def add(self, value: Any, accumulator: Any) -> Any:
        accumulator["count"] += value
        return accumulator

    def get_result(self, accumulator: Any) -> Any:
        return accumulator["count"]

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        acc_a["count"] += acc_b["count"]
        return acc_a


def test_an_aggregate_that_changes_its_accumulator() -> None:
    compiled = compile_aggregate(Counts())
    assert isinstance(compiled, CompiledAggregate), str(compiled)
    assert isinstance(compiled.merge, Compiled)
    assert Program(compiled.add.program).run(2, {"count": 1, "words": []}) == {"count": 3, "words": []}
    assert Program(compiled.merge.program).run({"count": 1}, {"count": 2}) == {"count": 3}


class Average(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0, 0

    def add(self, value: Any, accumulator: Any) -> Any:
        count, total_ = accumulator
        return count + 1, total_ + value[1]

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[1] / accumulator[0]

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


def test_an_aggregate() -> None:
    compiled = compile_aggregate(Average())
    assert isinstance(compiled, CompiledAggregate)
    assert isinstance(compiled.merge, Compiled)
    assert Program(compiled.create_accumulator.program).run() == (0, 0)
    assert Program(compiled.add.program).run(("a", 3), (1, 2)) == (2, 5)
    assert Program(compiled.get_result.program).run((2, 5)) == 2.5
    assert Program(compiled.merge.program).run((2, 5), (1, 1)) == (3, 6)


READING = re.compile(r"(?P<name>\w+)=(\d+)?")


def with_groups(line: str) -> Any:
    match = READING.search(line)
    if not match:
        return None
    name, number = match.group("name", 2)
    return name, number and int(number), match[0], match.groups()


def with_branches(line: str) -> Any:
    match = READING.match(line)
    return line, match


def test_matches_of_patterns() -> None:
    check(with_groups, "size=7", "size=", "none", "", "a b=12 c=3")
    check(lambda line: READING.fullmatch(line) is not None, "a=1", "a=1 ", kind="filter")
    check(lambda line: bool(re.search("ab?c", line, re.IGNORECASE)), "xAC", "abd", kind="filter")
    check(lambda line: [word.lower() for word in re.split(r"\W+", line) if word], "To be, or not", "")
    check(lambda line: re.sub("[aeiou]", "_", line) and re.match("(.)", line)[1], "quiet", "")
    assert isinstance(compile_function(with_branches, "map"), Refusal)


def test_constants_are_looked_into() -> None:
    table = {1: "one", "1": "text", (1, 2): "pair", None: "nothing"}
    values = [1, 1.0, True, "1", (1, 2), (1.0, 2), None, 2, 0.5, "x"]
    check(lambda value: (value in table, value not in table, table.get(value, "?")), *values)
    check(lambda value: table[value], *values)


def test_functions_that_are_called_are_named() -> None:
    compiled = compile_function(lambda pair: lambda_free(pair) + lambda_free(pair) + with_default("a"), "map")
    assert isinstance(compiled, Compiled)
    assert compiled.functions == ("lambda_free", "with_default")


def test_programs_are_the_same_in_every_process() -> None:
    compiled = compile_function(lambda word: word in STOP_WORDS, "filter")
    assert isinstance(compiled, Compiled)
    assert '{"s":["a","the"]}' in compiled.program
