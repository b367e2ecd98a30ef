"""What is seen of functions: names however they were imported, what they write and carry; nothing is called."""

from __future__ import annotations

import functools
import random
import time
import uuid
from datetime import datetime
from random import randint
from time import time as now
from typing import Any

import pytest

from penstock.lint.inspection import Inspector, user_functions
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.elementwise import StreamMap

LIMIT = 10_000
LARGE = list(range(LIMIT))


class Mapper:
    """A function object of a user."""

    def __init__(self, table: Any = None) -> None:
        self.table = table

    def map(self, value: Any) -> Any:
        return self.helper(value)

    @staticmethod
    def helper(value: Any) -> Any:
        return time.time() + value

    @property
    def dangerous(self) -> Any:
        raise AssertionError("nobody asks")


class Printing:
    """Has a method with the name of a built-in function."""

    def print(self, value: Any) -> Any:
        return value


def nested(value: Any) -> Any:
    return [randint(0, number) for number in value] and (lambda: uuid.uuid4())()


def calls(function: Any) -> frozenset[str]:
    return Inspector(LIMIT).uses(function).calls


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda value: print(value), "builtins.print"),
        (lambda value: time.time(), "time.time"),
        (lambda value: now(), "time.time"),
        (lambda value: random.random(), "random.random"),
        (nested, "random.randint"),
        (nested, "uuid.uuid4"),
        (lambda value: datetime.now(), "datetime.datetime.now"),
        (lambda value: hash(value), "builtins.hash"),
        (functools.partial(lambda a, b: id(a), 1), "builtins.id"),
        (Mapper(), "time.time"),
        (Mapper, "time.time"),
    ],
)
def test_a_function_is_known_by_its_full_name(function: Any, name: str) -> None:
    assert name in calls(function)


def test_what_a_function_calls_in_turn_is_not_looked_into() -> None:
    assert "time.time" not in calls(Mapper().map)


def test_a_method_of_that_name_is_another_function() -> None:
    printer = Printing()
    assert "builtins.print" not in calls(lambda value: printer.print(value))
    print_ = printer.print
    assert "builtins.print" not in calls(lambda value: print_(value))


def test_what_is_written_outside() -> None:
    count = 0

    def enclosing(value: Any) -> Any:
        nonlocal count
        count += 1
        local = 1

        def inner() -> None:
            nonlocal local
            local += 1

        return inner() or local

    uses = Inspector(LIMIT).uses
    assert uses(enclosing).written == {"count"}
    assert uses(lambda value: [number + 1 for number in value]).written == frozenset()


@pytest.mark.parametrize(
    ("function", "constant"),
    [
        (lambda value: 0, True),
        (lambda value: "all", True),
        (lambda value: None, True),
        (lambda value: value, False),
        (lambda value: (value, 1), False),
        (Mapper(), False),
    ],
)
def test_a_constant_is_seen(function: Any, constant: bool) -> None:
    assert Inspector(LIMIT).uses(function).constant is constant


def carrying(table: Any) -> Any:
    return lambda value: table


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (carrying(LARGE), "table"),
        (carrying({"a": {"b": LARGE}}), "table"),
        (carrying("x" * LIMIT), "table"),
        (Mapper(LARGE), "self.table"),
        (Mapper(LARGE).map, "self.table"),
        (functools.partial(max, LARGE), "argument 0"),
        (lambda value, table=LARGE: table, "table"),
        (carrying([1, 2]), None),
        (carrying(carrying), None),
        (lambda value: LARGE, None),  # a global variable of a module that tasks import
    ],
)
def test_what_is_carried(function: Any, name: str | None) -> None:
    largest = Inspector(LIMIT).carried(function)
    assert (None if largest is None else largest[0]) == name


def test_data_that_contains_itself_is_measured() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert Inspector(LIMIT).carried(carrying(loop)) is None


def test_the_functions_of_an_operator() -> None:
    function, key = Mapper(), carrying(1)
    assert user_functions(StreamMap(function, None).keyed_by(KeyPartition(key))) == [key, function]
    assert user_functions(None) == []


class Proxy:
    """Must not be touched: it would connect."""

    def __getattribute__(self, name: str) -> Any:
        raise ConnectionError(name)


class Untouchable(dict[str, Any]):
    """Likewise, as a container."""

    def __iter__(self) -> Any:
        raise ConnectionError

    def values(self) -> Any:
        raise ConnectionError

    def __sizeof__(self) -> int:
        raise ConnectionError


PROXY = Proxy()


def test_no_object_is_touched() -> None:
    inspector = Inspector(LIMIT)
    for function in (
        carrying(PROXY),
        Mapper(PROXY),
        lambda value: PROXY.name(value),
        PROXY,
        carrying(Untouchable(a=1)),
    ):
        assert inspector.carried(function) is None
        assert "builtins.print" not in inspector.uses(function).calls
        assert len(user_functions(StreamMap(function))) == 1
    assert inspector.carried(carrying(Untouchable(a=LARGE))) is not None


def test_libraries_are_not_looked_into() -> None:
    import rich

    assert calls(rich.get_console().log) == frozenset()
    assert len(user_functions(StreamMap(rich.get_console().log))) == 1
