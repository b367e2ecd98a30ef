"""Pipelines of translated functions against the functions themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock._native import Batch, Pipeline, Program
from penstock.common.row import Row
from tests.runtime.columns.test_batches import Point, batch_of, exact

Stages = list[tuple[str, Program, Callable[[Any], Any]]]


def program(*body: Any, locals: int = 4, more: tuple[Any, ...] = ()) -> Program:
    first = {"params": 1, "locals": locals, "body": body}
    return Program(json.dumps({"v": 1, "functions": [first, *more]}))


def local(number: int = 0) -> list[Any]:
    return ["local", number]


def at(place: int | str, expr: Any = None) -> list[Any]:
    return ["index", expr or local(), ["const", place]]


def const(value: Any) -> list[Any]:
    return ["const", value]


def give(expr: Any) -> list[Any]:
    return ["return", expr]


def plain(stages: Stages, record: Any) -> tuple[list[Any], list[int]]:
    """What Python gives for a record, and how many records each stage gave."""
    counts = [0] * len(stages)
    out: list[Any] = []

    def feed(first: int, value: Any) -> None:
        for index, (kind, _, function) in enumerate(stages[first:], first):
            result = function(value)
            if kind == "flat_map":
                for item in result:
                    counts[index] += 1
                    feed(index + 1, item)
                return
            if kind == "filter" and not result:
                return
            counts[index] += 1
            value = value if kind == "filter" else result
        out.append(value)

    feed(0, record)
    return out, counts


def driven(stages: Stages, batch: Batch) -> tuple[list[Any], list[Any], list[int], int]:
    """What comes out of a batch, with its timestamps, the counts, and how many records Python had to do."""
    pipeline = Pipeline([(kind, translated) for kind, translated, _ in stages])
    at, doubts, counts = 0, 0, [0] * len(stages)
    values: list[Any] = []
    times: list[Any] = []
    while at < len(batch):
        out, more, end, doubtful = pipeline.run(batch, at, len(batch))
        assert at <= end
        assert (out is None) == (more[-1] == 0)
        values += [] if out is None else out.objects()
        times += [] if out is None else out.times or [None] * len(out)
        assert doubtful or end > at
        if doubtful:
            result, ones = plain(stages, batch[end])
            values += result
            times += [(batch.times or [None] * len(batch))[end]] * len(result)
            more = [a + b for a, b in zip(more, ones, strict=True)]
            doubts += 1
            end += 1
        counts = [a + b for a, b in zip(counts, more, strict=True)]
        at = end
    return values, times, counts, doubts


def check(stages: Stages, values: list[Any]) -> int:
    """Holds a pipeline to Python; returns how many records were doubtful."""
    batch = batch_of(values, list(range(len(values))))
    out, times, counts, doubts = driven(stages, batch)
    expected = [plain(stages, value) for value in values]
    assert exact(out) == exact([item for result, _ in expected for item in result])
    assert times == [time for time, (result, _) in enumerate(expected) for _ in result]
    assert counts == [sum(column) for column in zip(*(ones for _, ones in expected), strict=True)] or not values
    return doubts


def split(line: str) -> Iterable[tuple[str, int]]:
    for word in line.split():
        yield word, 1


SPLIT = program(["for", 1, ["method", "split", local()], [["yield", ["tuple", local(1), const(1)]]]])
LONG = program(give(["compare", ["builtin", "len", at(0)], "gt", const(1)]))
WORDS: Stages = [
    ("flat_map", SPLIT, split),
    ("filter", LONG, lambda pair: len(pair[0]) > 1),
    (
        "map",
        program(give(["tuple", at(0), ["mul", at(1), const(2)]])),
        lambda pair: (pair[0], pair[1] * 2),
    ),
]

PRICE = program(give(["tuple", at(0), at(1), ["floordiv", ["mul", at(2), const(908)], const(1000)], at(3), at(4)]))


def price(r: Any) -> Any:
    return (r[0], r[1], r[2] * 908 // 1000, r[3], r[4])


def halves(number: int) -> Any:
    while number % 2 == 0:
        number = number // 2
    return number


HALVES = program(
    ["while", ["compare", ["mod", local(), const(2)], "eq", const(0)], [["set", 0, ["floordiv", local(), const(2)]]]],
    give(local()),
)


@given(st.lists(st.text(" \t\nabcß\u2003", max_size=12), max_size=20))
def test_words(lines: list[str]) -> None:
    check(WORDS, lines)


def test_words_need_no_python() -> None:
    assert check(WORDS, ["to be or not to be", "", "that is  the question"] * 100) == 0


NUMBERS = st.one_of(st.integers(-(2**53), 2**53), st.integers(-5, 5))


@given(
    st.lists(st.tuples(st.none() | st.integers(0, 9), st.text(max_size=2), NUMBERS, st.floats(), st.binary(max_size=2)))
)
def test_prices(records: list[Any]) -> None:
    assert check([("map", PRICE, price)], records) == sum(abs(record[2] * 908) >= 2**63 for record in records)


@given(st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-20, 20)).filter(bool)))
def test_loops(numbers: list[int]) -> None:
    assert check([("map", HALVES, halves)], numbers) == 0


def test_an_endless_loop_is_doubtful() -> None:
    pipeline = Pipeline([("map", HALVES)])
    out, counts, end, doubtful = pipeline.run(batch_of([4, 0, 6]), 0, 3)
    assert (out and out.objects(), counts, end, doubtful) == ([1], [1], 1, True)
    out, counts, end, doubtful = pipeline.run(batch_of([4, 0, 6]), 2, 3)
    assert (out and out.objects(), counts, end, doubtful) == ([3], [1], 3, False)


@given(st.lists(st.one_of(NUMBERS, st.sampled_from([2**63 - 1, -(2**63)]))))
def test_doubtful_records_leave_nothing_behind(numbers: list[int]) -> None:
    doubled = program(["yield", local()], ["yield", ["add", local(), local()]], ["yield", const(1)])
    stages: Stages = [
        ("filter", program(give(["compare", local(), "ne", const(3)])), lambda n: n != 3),
        ("flat_map", doubled, lambda n: [n, n + n, 1]),
        ("map", program(give(["sub", local(), const(1)])), lambda n: n - 1),
    ]
    doubts = check(stages, numbers)
    assert doubts == sum(n != 3 and not all(-(2**63) <= m < 2**63 for m in (n - 1, n + n, n + n - 1)) for n in numbers)


@given(st.lists(st.integers(0, 4)))
def test_results_of_several_types_end_the_batch(numbers: list[int]) -> None:
    table = [1, "a", None, [0.5, "b"], (1, "a")]
    kinds = [1, "a", None, {"l": [1, 2]}, {"t": [1, "a"]}]
    expr: Any = const(kinds[4])
    for index in (3, 2, 1, 0):
        expr = ["if", ["compare", local(), "eq", const(index)], const(kinds[index]), expr]
    table[3] = [1, 2]
    assert check([("map", program(give(expr)), lambda n: table[n])], numbers) == 0


SOME = ["compare", local(1), "ne", const(1)]
SQUARES = ["each", ["mul", local(1), local(1)], [[1, ["builtin", "range", local()], [SOME]]]]


@pytest.mark.parametrize(
    ("expr", "function", "doubts"),
    [
        (const({"l": [1, 2]}), lambda n: [1, 2], 0),
        (const({"t": []}), lambda n: (), 0),
        (const("äb"), lambda n: "äb", 0),
        (["dict", [const("a"), local()], [const("b"), local()], [const("a"), const(1)]], lambda n: {"a": 1, "b": n}, 0),
        (["builtin", "range", local()], range, 0),
        (["builtin", "enumerate", const({"t": ["x", "y"]})], lambda n: enumerate(["x", "y"]), 0),
        (["tuple", local(), const("a")], lambda n: (n, "a"), 3),
        (SQUARES, lambda n: [i * i for i in range(n) if i != 1], 0),
    ],
)
def test_what_a_flat_map_gives_is_gone_through(expr: Any, function: Any, doubts: int) -> None:
    assert check([("flat_map", program(give(expr)), function)], [0, 3, 2]) == doubts


def test_a_flat_map_of_what_is_not_iterable_is_doubtful() -> None:
    for value in (1, None, True, {"f": "0"}):
        out = Pipeline([("flat_map", program(give(const(value))))]).run(batch_of([1]), 0, 1)
        assert out == (None, [0], 0, True)


@given(
    st.lists(st.tuples(st.integers(-2, 2), st.text("ab", max_size=2)).map(lambda pair: Row(n=pair[0], word=pair[1])))
)
def test_rows(rows: list[Row]) -> None:
    stages: Stages = [
        ("filter", program(give(["attr", local(), "n"])), lambda row: row.n),
        (
            "map",
            program(give(["row", ["word", "more"], at("word"), ["add", at(0), const(1)]])),
            lambda row: Row(word=row["word"], more=row[0] + 1),
        ),
        ("map", program(give(["row", None, ["attr", local(), "more"], local()])), lambda row: Row(row.more, row)),
    ]
    assert check(stages, rows) == 0


def test_objects_of_dataclasses() -> None:
    points = [Point(n, str(n)) for n in range(5)] + [None]
    big = program(
        give(["and", ["compare", local(), "is_not", const(None)], ["compare", ["attr", local(), "x"], "gt", const(2)]])
    )
    assert check([("filter", big, lambda point: point is not None and point.x > 2)], points) == 0
    pairs = program(give(["tuple", ["attr", local(), "y"], local()]))
    assert check([("map", pairs, lambda point: (point.y, point))], points[:-1]) == 0
    item = Pipeline([("map", program(give(at(0))))])
    assert item.run(batch_of(points), 0, 5) == (None, [0], 0, True)


def test_functions_call_others() -> None:
    words = {
        "params": 2,
        "locals": 3,
        "body": [["for", 2, ["method", "split", local(0), local(1)], [["yield", local(2)]]]],
    }
    twice = {"params": 1, "locals": 1, "body": [give(["add", local(), local()])]}
    body = ["for", 1, ["call", 1, local(), const(",")], [["yield", ["call", 2, local(1)]]]]
    stages: Stages = [("flat_map", program(body, more=(words, twice)), lambda line: [w + w for w in line.split(",")])]
    assert check(stages, ["a,b", "", ",x,"]) == 0


def test_no_record_and_no_stage() -> None:
    out, counts, end, doubtful = Pipeline([]).run(batch_of([1, 2, 3], [7, 8, 9]), 1, 3)
    assert out is not None
    assert (out.objects(), out.times, counts, end, doubtful) == ([2, 3], [8, 9], [], 3, False)
    with pytest.raises(ValueError, match="fewer"):
        Pipeline([]).run(batch_of([1]), 0, 2)


def test_much_output_ends_a_run() -> None:
    pipeline = Pipeline([("flat_map", program(give(["builtin", "range", const(100)])))])
    out, counts, end, doubtful = pipeline.run(batch_of([None] * 3000), 0, 3000)
    assert out is not None
    assert (len(out), counts, end, doubtful) == (102_400, [102_400], 1024, False)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"v": 2, "functions": []}', '{"v": 1, "functions": []}', "[" * 100_000),
        '{"v": 1, "functions": [{"params": 2, "locals": 1, "body": []}]}',
    ],
)
def test_other_texts_are_no_programs(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Program(text)


@pytest.mark.parametrize(
    "body",
    [
        *(
            [give(["builtin", "exec", local()])],
            [give(["method", "fly", local()])],
            [give(["lib", "os.system", local()])],
        ),
        *(
            [give(["builtin", "len"])],
            [give(["local", 4])],
            [["break"]],
            [["set", 9, local()]],
            [give(["call", 0, local()])],
        ),
        *([["set", 1, ["builtin", "zip", local()]]], [give(["tuple", ["method", "items", local()]])]),
    ],
)
def test_what_is_not_known_is_refused(body: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        program(*body)


def test_functions_that_are_no_stages_are_refused() -> None:
    iterator = program(give(["builtin", "zip", local(), local()]))
    two = Program('{"v": 1, "functions": [{"params": 2, "locals": 2, "body": []}]}')
    assert two.parameters == 2
    for kind, function in (("map", SPLIT), ("filter", SPLIT), ("map", iterator), ("map", two), ("fold", PRICE)):
        with pytest.raises(ValueError, match="stage"):
            Pipeline([(kind, function)])
    with pytest.raises(ValueError, match="stage"):
        Pipeline([("map", PRICE)] * 65)
