"""Functions that call others give what CPython gives, one record at a time and many, whatever the arguments are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock._native import Pipeline, Program
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled
from tests.compiler.test_functions import shown
from tests.compiler.test_machine import DOUBT, RAISED, of_python, on_machine, together

WEIGHTS = {"a": 1, "b": 2}


def order(record: Any) -> Any:
    number, _, text, _ = record
    return -number, text


def weighed(record: Any, factor: int) -> Any:
    number, _, text, _ = record
    return number * factor + len(text) + number


def largest(numbers: Any) -> Any:
    return max(number * number for number in numbers)


def halves(number: int) -> Any:
    number = number // 2
    return number, number


def with_default(number: int) -> Any:
    return number or 7


def looked_up(text: str, other: str) -> Any:
    return WEIGHTS.get(text, 0) + WEIGHTS.get(other, 1)


def twice(record: Any) -> Any:
    return weighed(record, with_default(record[1])), order(record)


def first_and_last(pair: Any) -> Any:
    first, last = pair
    return last, first


def compares(record: Any) -> Any:
    return (
        order(record) < order((record[1], 0, "b", None)),
        order(record) == order(record),
        order(record) >= order(record),
    )


def repeats(record: Any) -> Any:
    return [first_and_last((number, record[1])) for number in range(min(record[0], 9))], largest([record[0], record[1]])


def chooses(record: Any) -> Any:
    number, *_ = record
    return halves(number) if number > 2 else looked_up(record[2], record[2] + "a")


def orders(record: Any) -> Any:
    return sorted([record, (1, 2, "a", None), (record[1], 0, "c", None)], key=order)


def exchanges(record: Any) -> Any:
    return first_and_last(first_and_last((record[0], record[2])))


def parts(record: Any) -> Any:
    for part in record[:2]:
        if part == 7:
            return
        yield part, record[1]


def gone_through(record: Any) -> Any:
    first = []
    for part, number in parts(record):
        if part == number:
            break
        first.append(part)
    return first, [one for one, _ in parts(record)], any(other for _, other in parts(record)), tuple(parts(record))


CALLERS = [
    order, twice, compares, repeats, chooses, orders, exchanges, gone_through,
    lambda record: weighed(record, record[1] - 1),
]  # fmt: skip
RECORDS = st.tuples(
    st.integers(-3, 9) | st.sampled_from([2**62, -(2**63)]),
    st.integers(-3, 9),
    st.text("ab\N{SNOWMAN}", max_size=2),
    st.none() | st.booleans() | st.floats(),
)
OTHERS = st.tuples(st.integers(), st.integers()) | st.text(max_size=4) | st.lists(st.integers(), min_size=4, max_size=4)


def program(function: Callable[[Any], Any]) -> Pipeline:
    compiled = compile_function(function, "map")
    assert isinstance(compiled, Compiled), str(compiled)
    return Pipeline([("map", Program(compiled.program))])


@pytest.mark.parametrize("function", CALLERS)
@given(rows=st.lists(RECORDS, min_size=1, max_size=12))
def test_a_function_that_calls_others_gives_what_it_gives(function: Callable[[Any], Any], rows: list[Any]) -> None:
    pipeline = program(function)
    expected = [of_python(function, "map", row)[0] for row in rows]
    for row, result in zip(rows, expected, strict=True):
        alone = on_machine(pipeline, "map", row)
        assert alone is DOUBT or alone == shown(result), row
        small = all(abs(number) < 100 for number in row[:2])
        assert alone is not DOUBT or result is RAISED or not small, row
    results = together(pipeline, function, "map", rows)
    assert results is None or shown(results) == shown(expected)


@pytest.mark.parametrize("function", CALLERS)
@given(rows=st.lists(OTHERS, min_size=1, max_size=4))
def test_records_of_another_form_are_those_of_python(function: Callable[[Any], Any], rows: list[Any]) -> None:
    results = together(program(function), function, "map", rows)
    expected = [of_python(function, "map", row)[0] for row in rows]
    assert results is None or shown(results) == shown(expected)


def counting(record: Any) -> Any:
    number = record[0]
    while number >= 0:
        yield number
        number += 1


def test_a_generator_that_does_not_end_is_left_to_python() -> None:
    def some(record: Any) -> Any:
        for number in counting(record):
            if number > 4:
                return number
        return None

    rows = [(3, 0, "", None), (-1, 0, "", None)]
    assert on_machine(program(some), "map", rows[0]) is DOUBT
    assert [of_python(some, "map", row)[0] for row in rows] == [5, None]


def deep(record: Any) -> Any:
    return weighed(weighed_again(record), 1)


def weighed_again(record: Any) -> Any:
    return (weighed(record, 2), *record[1:])


def test_functions_within_functions_are_the_same() -> None:
    rows = [(number, number, "a" * number, None) for number in range(5)]
    assert together(program(deep), deep, "map", rows) == [deep(row) for row in rows]
