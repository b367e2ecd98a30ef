"""Where event time goes on otherwise in PyFlink: it forgets timestamp assigners, and a strategy changes itself."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from penstock import datastream
from penstock.common import Configuration, Duration, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import NumberSequenceSource
from penstock.errors import InvalidProgramError
from penstock.pyflink import datastream as pyflink
from penstock.pyflink import deviations
from penstock.pyflink.common import WatermarkStrategy as Strategy
from tests.pyflink.test_deviations import Stamps, Subtask, program
from tests.running import collected


@pytest.fixture
def no_earlier_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No warning has been given yet."""
    monkeypatch.setattr(deviations, "_SAID", set())


def size(value: Any, _: Any) -> int:
    """A timestamp."""
    return len(value)


def times(stream: Any) -> list[Any]:
    """The timestamps of the records of a stream."""
    return collected(stream.process(Stamps()))


def test_a_strategy_for_pyflink_is_changed_by_its_assigner() -> None:
    env = pyflink.StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(1)
    strategy = Strategy.for_monotonous_timestamps()
    assert strategy.with_timestamp_assigner(lambda value, _: value * 10) is strategy
    stamped = env.from_collection([1, 2]).assign_timestamps_and_watermarks(strategy)
    strategy.with_timestamp_assigner(lambda value, _: value * 1000)
    assert times(stamped) == [10, 20]
    assert WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(size).assigner is size
    plain = WatermarkStrategy.for_monotonous_timestamps()
    plain.with_timestamp_assigner(size)
    assert plain.assigner is None


@pytest.mark.usefixtures("no_earlier_warnings")
@pytest.mark.parametrize(
    "then",
    [
        lambda strategy: strategy.with_idleness(Duration.of_seconds(1)),
        lambda strategy: strategy.with_watermark_alignment("group", Duration.of_seconds(1)),
    ],
    ids=["idleness", "alignment"],
)
def test_a_warning_tells_of_an_assigner_that_pyflink_forgets(then: Any) -> None:
    def with_assigner() -> Any:
        return Strategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value * 10)

    with pytest.warns(UserWarning, match=r"PyFlink forgets the timestamp assigner .* Penstock keeps it") as warned:
        strategies = [then(with_assigner()), then(with_assigner())]
    assert len(warned) == 1
    assert warned[0].filename == __file__
    env = pyflink.StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(1)
    assert times(env.from_collection([1]).assign_timestamps_and_watermarks(strategies[0])) == [10]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert then(Strategy.for_monotonous_timestamps()).with_timestamp_assigner(size).assigner is size
        then(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value))


@pytest.mark.usefixtures("no_earlier_warnings")
def test_a_warning_tells_of_an_assigner_that_pyflink_leaves_out_in_a_source() -> None:
    def numbers(module: Any, strategies: Any) -> Any:
        env = module.StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(1)
        strategy = strategies.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value * 10)
        return env.from_source(NumberSequenceSource(1, 2), strategy, "numbers")

    with pytest.warns(UserWarning, match=r"PyFlink leaves out the timestamp assigner .* Penstock applies it") as warned:
        streams = [numbers(pyflink, Strategy), numbers(pyflink, Strategy)]
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert times(streams[0]) == [10, 20]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert times(numbers(datastream, WatermarkStrategy)) == [10, 20]


def test_a_source_has_the_parallelism_that_is_set() -> None:
    env = pyflink.StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(1)
    numbers = env.from_source(NumberSequenceSource(1, 4), Strategy.no_watermarks(), "numbers").set_parallelism(2)
    assert sorted(collected(numbers.map(Subtask()).set_parallelism(2))) == [(1, 0), (2, 0), (3, 1), (4, 1)]
    with pytest.raises(InvalidProgramError, match="not parallel"):
        program().from_source(NumberSequenceSource(1, 4), WatermarkStrategy.no_watermarks(), "n").set_parallelism(2)
    later = StreamExecutionEnvironment.get_execution_environment(Configuration({"penstock.flink": "2.3"}))
    later.from_source(NumberSequenceSource(1, 4), WatermarkStrategy.no_watermarks(), "n").set_parallelism(2)
