"""Sources of made-up records: how far they go by the clock, and that their numbers do not depend on the steps."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.datastream.connectors import (
    DataGeneratorSource,
    NumberSequenceSource,
    RateLimiterStrategy,
    Split,
    datagen,
)
from penstock.errors import InvalidProgramError

PER_SECOND = RateLimiterStrategy.per_second(10)


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(datagen, "now", lambda: time[0])
    time = [100.0]
    return time


def step(source, positions, parallelism=2, records=1 << 40):
    """What one step reads; moves the positions on."""
    numbers = []
    for split in source.pending(parallelism, dict(positions)):
        for some in source.read(source.limited(split, records)):
            numbers += some.values
            positions[split.id] = some.position
    return numbers


def test_a_rate_is_that_of_the_clock(clock):
    source = DataGeneratorSource(lambda number: number, None, rate_limiter_strategy=PER_SECOND)
    positions: dict[str, int] = {}
    assert not source.bounded
    assert step(source, positions) == []
    clock[0] += 0.55
    assert sorted(step(source, positions)) == [0, 1, 2, 3, 4]
    assert step(source, positions) == []
    clock[0] += 1
    assert sorted(step(source, positions)) == [*range(5, 15)]
    clock[0] += 1_000
    assert sorted(step(source, positions, records=3)) == [*range(15, 21)]
    assert not source.ended()


def test_after_a_restart_nothing_is_made_up_for_and_the_number_of_splits_stays(clock):
    source = DataGeneratorSource(lambda number: number, None, rate_limiter_strategy=PER_SECOND)
    positions: dict[str, int] = {}
    step(source, positions)
    clock[0] += 1
    assert sorted(step(source, positions)) == [*range(10)]
    assert step(source, positions) == []
    again = copy.deepcopy(source)
    clock[0] += 60
    assert step(again, positions, parallelism=7) == []
    clock[0] += 0.5
    assert sorted(step(again, positions, parallelism=7)) == [*range(10, 15)]
    assert set(positions) == {"0/2", "1/2"}
    assert step(source, {}) == []  # another job with the same object begins at the beginning, and slowly
    clock[0] += 0.15
    assert step(source, {}) == [0]


def test_a_limited_source_with_an_end_ends(clock):
    source = NumberSequenceSource(5, 11, RateLimiterStrategy.per_checkpoint(3))
    positions: dict[str, int] = {}
    steps = []
    while not source.ended():
        assert not source.bounded
        steps.append(sorted(step(source, positions)))
    assert steps == [[5, 6, 7], [8, 9, 10], [11]]
    assert source.pending(2, positions) == []
    assert DataGeneratorSource(str, 0, rate_limiter_strategy=PER_SECOND).pending(3, {}) == []


def test_a_limit_by_checkpoints_counts_from_the_last_one():
    source = NumberSequenceSource(0, 100, RateLimiterStrategy.per_checkpoint(3))
    source.resume(None)
    positions: dict[str, int] = {}
    assert sorted(step(source, positions)) == [0, 1, 2]
    assert step(source, positions) == []
    source.committed(positions)
    assert sorted(step(source, positions, records=1)) == [3, 4]
    assert step(source, positions) == [5]
    assert step(source, positions) == []
    source.resume({"0/2": 2, "1/2": 1})  # a failure
    assert sorted(step(source, {"0/2": 2, "1/2": 1})) == [3, 4, 5]


@given(st.integers(1, 5), st.lists(st.integers(1, 3_000), min_size=1, max_size=20))
def test_numbers_do_not_depend_on_steps(parallelism, sizes):
    source = DataGeneratorSource(lambda number: number, None)
    positions: dict[str, int] = {}
    numbers = [number for records in sizes for number in step(source, positions, parallelism, records)]
    assert len(set(numbers)) == len(numbers) == sum(sizes) * parallelism
    assert set(numbers) == {*range(len(numbers))}


def test_without_a_limit_and_with_an_end_splits_are_ranges():
    source = DataGeneratorSource(str, 5, rate_limiter_strategy=RateLimiterStrategy.no_op())
    assert source.bounded
    assert source.splits(2) == [Split("0", 0, 3, 3), Split("1", 3, 5, 2)]
    assert source.pending(2, {"0": 2, "1": 5}) == [Split("0", 2, 3, 3)]
    assert source.limited(Split("0", 0, 3, 3), 2) == Split("0", 0, 2, 3)
    assert source.ended()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: RateLimiterStrategy.per_second(0), "per_second.0.: a rate is above 0"),
        (lambda: RateLimiterStrategy.per_second("1"), "per_second.. was given '1'"),
        (lambda: RateLimiterStrategy.per_checkpoint(0), "Give 1 or more"),
        (lambda: DataGeneratorSource(str, None, None, 5), "DataGeneratorSource.*5"),
        (lambda: NumberSequenceSource(1, 2, "fast"), "NumberSequenceSource.*'fast'"),
    ],
)
def test_what_is_no_rate_is_refused(call, says):
    with pytest.raises(InvalidProgramError, match=says):
        call()
