"""Accumulators of lists and sets that native code changes in place, against the operator in Python."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import _native
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.functions import AggregateWindow
from penstock.runtime.windows.triggers import EventTimeTrigger
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.windows.test_native_windows import (
    BY_EVENT_TIME,
    DOUBTFUL,
    KEY,
    STEPS,
    Both,
    compiled,
    follow,
)


class Distinct:
    """How many records, and how many distinct values of them by sign."""

    def create_accumulator(self):
        return [0, [set() for _ in range(2)]]

    def add(self, value, accumulator):
        count, sets = accumulator
        accumulator[0] = count + 1
        if value[1] > 0:
            sets[1].add(value[1])
        else:
            sets[0].add((value[0], value[1]))
        return accumulator

    def get_result(self, accumulator):
        count, sets = accumulator
        return (count, *map(len, sets))


class Known:
    """Values in order, sums by remainder, and how many have been there before."""

    def create_accumulator(self):
        return [[], [0, 0, 0], set(), 0]

    def add(self, value, accumulator):
        number = value[1]
        accumulator[1][int(number) % 3] += number
        if number in accumulator[2]:
            accumulator[3] += 1
        accumulator[2].add(number)
        values = accumulator[0]
        if len(values) < 4 or number not in values:
            values.append(number)
        return accumulator

    def get_result(self, accumulator):
        values, sums, seen, again = accumulator
        return (again, len(seen), *sums, *sorted(values)[:2], sum(values), max(sums), str(values))


class Overflowing:
    """Changes something before it has a number that native code has not."""

    def create_accumulator(self):
        return [[0], set()]

    def add(self, value, accumulator):
        counts, seen = accumulator
        counts[0] += 1
        seen.add(value[1] % 4)
        counts.append(value[1] * (1 << 61) // (1 << 61))
        return accumulator

    def get_result(self, accumulator):
        return accumulator[0][0], len(accumulator[1]), sum(accumulator[0])


class Renewed:
    """Makes a new accumulator now and then."""

    def create_accumulator(self):
        return [[0], 0]

    def add(self, value, accumulator):
        if value[1] == 5:
            return [[value[1]], accumulator[1]]
        seen = accumulator[0]
        seen.append(-value[1])
        accumulator[1] += 1
        return accumulator

    def get_result(self, accumulator):
        return len(accumulator[0]), accumulator[1]


class Looped:
    """Goes through a list that it changes, and through another one."""

    def create_accumulator(self):
        return [[1, 2], [0, 0]]

    def add(self, value, accumulator):
        for number in accumulator[0]:
            accumulator[1][number % 2] += value[1]
        for number in accumulator[1]:
            if number == 7 and len(accumulator[1]) < 5:
                accumulator[1].append(number)
        return accumulator

    def get_result(self, accumulator):
        return len(accumulator[1]), sum(accumulator[1])


class Shared:
    """One list in two places."""

    def create_accumulator(self):
        return [[0]] * 2

    def add(self, value, accumulator):
        accumulator[0][0] += value[1]
        return accumulator

    def get_result(self, accumulator):
        return accumulator[0][0], accumulator[1][0]


class Moved:
    """A list that comes to another place."""

    def create_accumulator(self):
        return [[0], [1]]

    def add(self, value, accumulator):
        if value[1] == 3:
            accumulator[0] = accumulator[1]
        accumulator[1][0] += value[1]
        return accumulator

    def get_result(self, accumulator):
        return accumulator[0][0], accumulator[1][0]


class Nested:
    """An accumulator that is a set, and texts in it."""

    def create_accumulator(self):
        return set()

    def add(self, value, accumulator):
        accumulator.add(f"{value[1] % 5}")
        return accumulator

    def get_result(self, accumulator):
        return len(accumulator), "2" in accumulator, not accumulator


class Changes:
    """Numbers, sets and a list at places that the record says, some of them under conditions."""

    def create_accumulator(self):
        return [0, [0, 0, 0], [set(), set()], [], 0.0]

    def add(self, value, accumulator):
        number = value[1]
        largest, counts, sets, numbers, _ = accumulator
        accumulator[4] += number / 2
        if number > 0:
            counts[int(number) % 3] += number
            numbers.append(number)
        else:
            counts[-1] += 1
        for at in (0, 1 if number > 2 else 0):
            sets[at].add(number)
            counts[at] += at
        if number > largest:
            accumulator[0] = number
        return accumulator

    def get_result(self, accumulator):
        largest, counts, sets, numbers, total = accumulator
        return (largest, *counts, *map(len, sets), str(numbers), total)


class Copied:
    """A number that is read from a variable, after it has been changed."""

    def create_accumulator(self):
        return [0, [0, 0]]

    def add(self, value, accumulator):
        first, counts = accumulator
        accumulator[0] = first + 1
        accumulator[-2] = first + value[1]
        at = int(value[1]) % 2
        counts[at] += 1
        at = 0
        counts[at] += 10
        return accumulator

    def get_result(self, accumulator):
        return accumulator[0], *accumulator[1]


class Least:
    """The least number, and the last one that is at least as large as the largest."""

    def create_accumulator(self):
        return [[99, -99], {}]

    def add(self, value, accumulator):
        if accumulator[0][0] > value[1]:
            accumulator[0][0] = value[1]
        if value[1] >= accumulator[0][1]:
            accumulator[0][1] = value[1]
        return accumulator

    def get_result(self, accumulator):
        return tuple(accumulator[0])


class Many:
    """So many elements that a set has a table, and texts among them."""

    def create_accumulator(self):
        return [set(), set()]

    def add(self, value, accumulator):
        for number in (1, 2, 3, 4, 5, 6, 7):
            accumulator[0].add(number * value[1])
        accumulator[1].add(value[1])
        accumulator[1].add(value[0])
        return accumulator

    def get_result(self, accumulator):
        return len(accumulator[0]), 6 in accumulator[0], len(accumulator[1]), "a" in accumulator[1]


AGGREGATES: list[Any] = [
    *(Distinct, Known, Overflowing, Renewed, Looped, Shared, Moved, Nested),
    *(Changes, Copied, Least, Many),
]


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("assigner", ["tumbling", "sliding", "with gaps"])
@given(steps=st.one_of(STEPS, DOUBTFUL), tracked=st.booleans())
def test_accumulators(assigner, aggregate, steps, tracked):
    function = compiled(AggregateWindow(aggregate()))
    assert function.programs is None or len(function.programs) == 3
    spec = WindowOperator(BY_EVENT_TIME[assigner], EventTimeTrigger(), None, function, 0, "late", keyed=KEY)
    assert Alone(spec).live.keyed_stage(_native, 0) is not None
    follow(Both(spec, tracked), steps)


def test_records_stay_in_native_code():
    """A translation in which all is in doubt would pass all other tests."""
    for aggregate in (Distinct, Known, Renewed, Nested):
        spec = WindowOperator(
            BY_EVENT_TIME["tumbling"],
            EventTimeTrigger(),
            None,
            compiled(AggregateWindow(aggregate())),
            keyed=KEY,
        )
        both = Both(spec)
        batch = _native.Batch.of([("a", number) for number in (1, -2, 1, 5, 3)], [1, 2, 3, 4, 11])
        assert both.stage.run(batch, 0, 5)[2:] == (5, False)


def test_python_goes_on_with_what_native_code_has_changed():
    spec = WindowOperator(
        BY_EVENT_TIME["tumbling"], EventTimeTrigger(), None, compiled(AggregateWindow(Distinct())), keyed=KEY
    )
    both = Both(spec)
    both.take([(("a", 1), 4), (("a", -1), 5)])
    both.stage.flush()
    [table] = [table for _, spaces in both.native.state.tables() for table in spaces.values()]
    assert dict(table) == {"a": [2, [{("a", -1)}, {1}]]}


@pytest.mark.parametrize("changed", [{"lateness": 5}, {"assigner": BY_EVENT_TIME["sessions"]}])
def test_what_stays_in_python(changed):
    function = compiled(AggregateWindow(Distinct()))
    spec = WindowOperator(BY_EVENT_TIME["tumbling"], EventTimeTrigger(), None, function, 0, None, keyed=KEY)
    assert Alone(replace(spec, **changed)).live.keyed_stage(_native, 0) is None


def test_sets_are_made_in_accumulators_only():
    assert isinstance(compile_function(Distinct(), "create_accumulator"), Compiled)
    assert not isinstance(compile_function(lambda value: set(), "map"), Compiled)
