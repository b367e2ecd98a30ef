"""Assignments within expressions: those that come first are statements in front, in value, order and exceptions."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.compiler.functions import compile_function
from penstock.compiler.program import Refusal
from penstock.compiler.walruses import with_plain_assignments
from tests.compiler.test_functions import check

PAIR = re.compile(r"(\w+)=(\d+)")


def in_conditions(number: int) -> int:
    if (more := number + 1) > 3:
        return more
    if (double := more * 2) and double != 4:
        return double
    return 0


def in_loops(number: int) -> Iterator[int]:
    while (number := number - 2) > 0:
        if number == 5:
            continue
        yield number


def of_a_match(text: str) -> str | None:
    if (match := PAIR.search(text)) is not None:
        return match.group(1)
    return None


def in_one_another(number: int) -> Any:
    return (first := (inner := number + 1) * 2, first + (second := inner - 3), second)


def in_an_item(numbers: list[int]) -> Any:
    first = numbers[0]
    return first, numbers[(place := first % 2)], place


def in_a_call(number: int) -> int:
    for item in range(top := number % 4):
        top = top + item
    return max(top, (least := 2)) + least


def behind_a_read(number: int) -> int:
    before = number
    return before + (before := 2)


def behind_a_call(number: int) -> int:
    return abs(number) + (other := 2) + other


def perhaps(number: int) -> int:
    if number > 1 and (double := number * 2) > 3:
        return double
    return 0


def in_a_comprehension(number: int) -> Any:
    return [square for item in range(number) if (square := item * item) > 2]


def else_of_a_loop(number: int) -> int:
    while (number := number - 1) > 0:
        pass
    else:
        number = 9
    return number


FIRST: dict[str, tuple[Callable[[Any], Any], str, list[Any]]] = {
    "conditions": (in_conditions, "map", [-2, 0, 1, 2, 3, 1 << 62]),
    "loops": (in_loops, "flat_map", [0, 3, 9]),
    "matches": (of_a_match, "map", ["a=1", "", "b = 2"]),
    "one another": (in_one_another, "map", [0, 5, -7]),
    "items": (in_an_item, "map", [[1, 2], [0, 5], [7, 7]]),
    "calls": (in_a_call, "map", [0, 1, 2, 3]),
}
LATER = [behind_a_read, behind_a_call, perhaps, in_a_comprehension, else_of_a_loop]


@pytest.mark.parametrize("case", FIRST)
def test_assignments_that_come_first_compile(case: str) -> None:
    function, kind, records = FIRST[case]
    check(function, *records, kind=kind)


@pytest.mark.parametrize("function", LATER, ids=lambda function: function.__name__)
def test_others_stay_in_python(function: Callable[[int], Any]) -> None:
    refusal = compile_function(function, "map")
    assert isinstance(refusal, Refusal)
    assert refusal.line is not None


@pytest.mark.parametrize("function", [*(case[0] for case in FIRST.values()), *LATER], ids=lambda f: f.__name__)
def test_a_function_without_them_gives_the_same(function: Callable[[Any], Any]) -> None:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    plain = with_plain_assignments(tree)
    variables = dict(globals())
    exec(compile(ast.Module([plain], []), "<plain>", "exec"), variables)
    for record in next((case[2] for case in FIRST.values() if case[0] is function), [0, 1, 2, 5]):
        results = [called(record) for called in (function, variables[function.__name__])]
        one, other = (list(result) if isinstance(result, Iterator) else result for result in results)
        assert one == other


def test_a_function_that_has_none_is_the_same() -> None:
    tree = ast.parse("def plain(a):\n    return a + 1").body[0]
    assert isinstance(tree, ast.FunctionDef)
    assert with_plain_assignments(tree) is tree
