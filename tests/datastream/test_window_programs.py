"""Programs with windows, run to their end in this process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from penstock.common import Types
from penstock.datastream import (
    AllWindowFunction,
    CoMapFunction,
    DataStream,
    StreamExecutionEnvironment,
    WindowFunction,
)
from penstock.runtime.operators.two_inputs import CoMap

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
PAIRS = [("abc"[n % 3], n) for n in range(20)]


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor="local")


def collected(stream: DataStream) -> list[Any]:
    with stream.execute_and_collect() as records:
        return sorted(records)


def added(one: tuple[str, int], other: tuple[str, int]) -> tuple[str, int]:
    return one[0], one[1] + other[1]


class Named(WindowFunction):
    def apply(self, key: str, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        yield key, [n for _, n in inputs]


class AllNamed(AllWindowFunction):
    def apply(self, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        yield [n for _, n in inputs]


def test_apply_of_a_reduce_function_too(env: StreamExecutionEnvironment) -> None:
    keyed = env.from_collection(PAIRS, PAIR).key_by(lambda pair: pair[0], Types.STRING())
    windows = keyed.count_window(2)
    expected = [("a", [n]) for n in (3, 15, 27)] + [("b", [n]) for n in (5, 17, 29)] + [("c", [n]) for n in (7, 19, 31)]
    assert collected(windows.apply(added, Named())) == expected
    assert collected(windows.reduce(added, Named())) == expected
    declared = windows.apply(added, Named(), Types.PICKLED_BYTE_ARRAY())
    assert declared.get_type() == Types.PICKLED_BYTE_ARRAY()
    assert declared.get_name() == windows.apply(added, Named(), output_type=Types.PICKLED_BYTE_ARRAY()).get_name()
    whole = env.from_collection(PAIRS, PAIR).count_window_all(4)
    assert collected(whole.apply(added, AllNamed())) == [[6], [22], [38], [54], [70]]


def test_apply_takes_the_type_by_position(env: StreamExecutionEnvironment) -> None:
    windows = env.from_collection(PAIRS, PAIR).key_by(lambda pair: pair[0], Types.STRING()).count_window(2)
    assert windows.apply(Named(), Types.STRING()).get_type() == Types.STRING()
    assert windows.apply(Named(), output_type=Types.STRING()).get_type() == Types.STRING()
    assert windows.apply(window_function=Named()).transformation.output_type is None


class Sides(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return 1, value

    def map2(self, value: Any) -> Any:
        return 2, value


def test_an_operator_of_two_inputs(env: StreamExecutionEnvironment) -> None:
    both = env.from_elements(1, 2, type_info=Types.INT()).connect(env.from_elements("x"))
    assert collected(both.transform("sides", None, CoMap(Sides()))) == [(1, 1), (1, 2), (2, "x")]
    keyed = both.key_by(lambda n: n % 2, lambda text: len(text), Types.INT())
    assert collected(keyed.transform("sides", None, CoMap(Sides()))) == [(1, 1), (1, 2), (2, "x")]
