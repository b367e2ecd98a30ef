"""Lists of a function that it sorts, and takes items out of; and variables that have iterators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock import _native
from penstock.common import Configuration, Types
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled, Refusal
from penstock.datastream import (
    KeyedProcessFunction,
    ListStateDescriptor,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.runtime.native import program
from tests.compiler.test_functions import check, shown
from tests.running import collected

LISTS: list[Any] = [[], [1], [3, 1, 2], [2.5, 1, 2.5, -1], ["b", "a"], [1, "a"], (4, 3), "ba", 7]
LONG = Types.LONG()


def ordered(values: Any) -> Any:
    items = list(values)
    items.sort()
    return items


def from_behind(values: Any) -> Any:
    items = list(values)
    items.sort(key=lambda item: -item, reverse=True)
    items.reverse()
    return items


def without_some(values: Any) -> Any:
    items = list(values)
    last = items.pop()
    first = items.pop(0)
    items.pop(-1)
    return first, last, items


def put_in(values: Any) -> Any:
    items = list(values)
    items.insert(1, "one")
    items.insert(-1, "before the last")
    items.insert(99, "behind")
    items.insert(-99, "in front")
    return items


def deleted(values: Any) -> Any:
    items = list(values)
    del items[0]
    del items[-1], items[True]
    return items


def emptied(values: Any) -> Any:
    items = [*values, 1]
    items.clear()
    items.append(2)
    return items


def worked_off(values: Any) -> Iterator[Any]:
    stack = list(values)
    while stack:
        top = stack.pop()
        yield top
        if top == 3:
            stack.insert(0, 4)


def in_a_variable(values: Any) -> Any:
    items = list(values)
    pairs = zip(items, items[1:], items[2:], strict=False)
    numbered = enumerate(items, 1)
    backwards = reversed(items)
    return list(pairs), [number * 2 for number, _ in numbered], tuple(backwards)


SAME: dict[str, tuple[Callable[[Any], Any], str]] = {
    "sort": (ordered, "map"),
    "sort by a key": (from_behind, "map"),
    "pop": (without_some, "map"),
    "insert": (put_in, "map"),
    "del": (deleted, "map"),
    "clear": (emptied, "map"),
    "a stack": (worked_off, "flat_map"),
    "iterators": (in_a_variable, "map"),
}


@pytest.mark.parametrize("case", SAME)
def test_lists_are_those_of_python(case: str) -> None:
    function, kind = SAME[case]
    check(function, *LISTS, kind=kind)
    compiled = compile_function(function, kind)
    assert isinstance(compiled, Compiled)
    stages = _native.Pipeline([(kind, program(_native, compiled.program))])
    for record in LISTS:
        batch = _native.Batch.of([record])
        out, _, done, in_doubt = (None, [], 0, True) if batch is None else stages.run(batch, 0, 1)
        if not in_doubt:
            assert done == 1
            results = function(record) if kind == "flat_map" else [function(record)]
            assert shown([] if out is None else out.objects()) == shown(list(results))


def looks_while_sorting(values: Any) -> Any:
    items = list(values)
    items.sort(key=lambda item: len(items))
    return items


def of_a_dict(values: Any) -> Any:
    counts = {}
    counts[1] = values
    counts.pop(1)
    return counts


def of_a_dict_or_another(values: Any) -> Any:
    counts = values or {}
    counts.pop(1)
    return counts


def of_somebody(values: Any) -> Any:
    values.sort()
    return values


def goes_through_it(values: Any) -> Any:
    items = list(values)
    for _ in items:
        items.pop()
    return items


def in_two_places(values: Any) -> Any:
    items = list(values)
    pair = (items, 1)
    items.sort()
    return pair


def twice(values: Any) -> Any:
    pairs = zip(values, values, strict=False)
    return list(pairs), list(pairs)


def again_and_again(values: Any) -> Any:
    out = []
    pairs = zip(values, values, strict=False)
    for _ in range(2):
        out.append(list(pairs))
    return out


def of_what_changes(values: Any) -> Any:
    items = list(values)
    pairs = zip(items, items, strict=False)
    items.append(1)
    return list(pairs)


def later(values: Any) -> Any:
    pairs = zip((value for value in values), values, strict=False)
    return list(pairs)


@pytest.mark.parametrize(
    "function",
    [
        *(looks_while_sorting, of_a_dict, of_a_dict_or_another, of_somebody, goes_through_it, in_two_places),
        *(twice, again_and_again, of_what_changes, later),
    ],
    ids=lambda function: function.__name__,
)
def test_what_others_could_see_stays_in_python(function: Any) -> None:
    refusal = compile_function(function, "map")
    assert isinstance(refusal, Refusal)
    assert refusal.line is not None


class Largest(KeyedProcessFunction):
    """Keeps the three largest numbers in a list state."""

    def open(self, runtime_context: Any) -> None:
        self.largest = runtime_context.get_list_state(ListStateDescriptor("largest", LONG))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.largest.add(value[1])
        kept = self.largest.get()
        numbers = []
        for number in kept:
            numbers.append(number)
        numbers.sort(reverse=True)
        if len(numbers) > 3:
            numbers.pop(3)
        yield f"{value[0]}: {numbers}"
        self.largest.update(numbers)


class Latest(KeyedProcessFunction):
    """Keeps the last numbers, sorted, in the list of a value state."""

    def open(self, runtime_context: Any) -> None:
        self.latest = runtime_context.get_state(ValueStateDescriptor("latest", Types.LIST(LONG)))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        latest = self.latest.value() or []
        latest.append(value[1])
        latest.sort()
        if len(latest) > 4:
            del latest[0]
        self.latest.update(latest)
        yield f"{value[0]}: {sum(latest)}"


def results_of(function: Any, way: str) -> list[Any]:
    settings = Configuration({"penstock.native": way})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(1)
    records = [("abc"[number % 3], number * number % 101) for number in range(300)]
    pairs = env.from_collection(records, Types.TUPLE([Types.STRING(), LONG]))
    return collected(pairs.key_by(lambda pair: pair[0]).process(function, Types.STRING()))


@pytest.mark.parametrize("function", [Largest(), Latest()], ids=lambda function: type(function).__name__)
def test_lists_of_state_are_those_of_python(function: Any) -> None:
    assert isinstance(compile_function(function, "process"), Compiled)
    assert results_of(function, "auto") == results_of(function, "off")
