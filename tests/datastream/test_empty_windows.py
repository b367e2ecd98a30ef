"""An evictor that removes everything: the function is called with nothing, and nothing stays."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common import Types
from penstock.datastream import AggregateFunction, StreamExecutionEnvironment
from penstock.datastream.evictor import CountEvictor
from penstock.datastream.streams.windowed_stream import WindowedStream
from penstock.datastream.window import CountTrigger, GlobalWindows
from tests.running import collected

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Total(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + value[1]

    def get_result(self, accumulator: int) -> str:
        return f"total {accumulator}"


def windows(count: int, after: bool = False) -> WindowedStream:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    pairs = env.from_collection([("a", 1), ("a", 2), ("a", 3)], PAIR)
    keyed = pairs.key_by(lambda pair: pair[0], key_type=Types.STRING())
    return keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(1)).evictor(CountEvictor.of(count, after))


@pytest.mark.parametrize("count", [0, -1])
def test_nothing_reduced_is_none_and_nothing_aggregated_is_the_empty_accumulator(count: int) -> None:
    assert collected(windows(count).sum(1)) == [None] * 3
    assert collected(windows(count).max(1)) == [None] * 3
    assert collected(windows(count).reduce(lambda a, b: b)) == [None] * 3
    assert collected(windows(count).aggregate(Total(), output_type=Types.STRING())) == ["total 0"] * 3


def test_evicting_everything_afterwards_starts_each_time_anew() -> None:
    assert collected(windows(0, after=True).sum(1)) == [("a", 1), ("a", 2), ("a", 3)]


def test_a_count_keeps_the_last() -> None:
    assert collected(windows(2).sum(1)) == [("a", 1), ("a", 3), ("a", 5)]
