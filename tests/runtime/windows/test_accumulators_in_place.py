"""Accumulators of lists and sets that native code changes in place, against the operator in Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import GlobalWindows
from penstock.runtime.windows.functions import AggregateWindow
from penstock.runtime.windows.triggers import EventTimeTrigger
from tests.effort import examples
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.windows.test_native_triggers import ENDLESS, EVICTORS, names_of, spec_of
from tests.runtime.windows.test_native_windows import (
    BY_CLOCK,
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

    def merge(self, a, b):
        a[0] += b[0]
        for at in (0, 1):
            a[1][at].update(b[1][at])
        return a


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

    def merge(self, a, b):
        b[0].extend(a[0])
        for at in range(3):
            b[1][at] += a[1][at]
        b[2] |= a[2]
        b[3] += a[3] + 1
        return b


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

    def merge(self, a, b):
        a[0] += b[0]
        return [a[0], a[1] | b[1]]


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

    def merge(self, a, b):
        return [a[0] + b[0], a[1] + b[1]]


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

    def merge(self, a, b):
        for number in b[1]:
            a[1].append(number)
        return a if b[0] else b


class Shared:
    """One list in two places."""

    def create_accumulator(self):
        return [[0]] * 2

    def add(self, value, accumulator):
        accumulator[0][0] += value[1]
        return accumulator

    def get_result(self, accumulator):
        return accumulator[0][0], accumulator[1][0]

    def merge(self, a, b):
        a[0][0] += b[0][0]
        return a


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

    def merge(self, a, b):
        a[1][0] -= b[1][0]
        return a if a[1][0] < 9 else [b[0], a[1]]


class Nested:
    """An accumulator that is a set, and texts in it."""

    def create_accumulator(self):
        return set()

    def add(self, value, accumulator):
        accumulator.add(f"{value[1] % 5}")
        return accumulator

    def get_result(self, accumulator):
        return len(accumulator), "2" in accumulator, not accumulator

    def merge(self, a, b):
        a |= b
        return a


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

    def merge(self, a, b):
        for at in range(3):
            a[1][at] += b[1][at]
        a[2][0].update(b[2][0])
        a[2][1] |= b[2][1]
        a[3] += b[3]
        a[0] = max(a[0], b[0])
        a[4] += b[4]
        return a


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

    def merge(self, a, b):
        a[0] += b[0]
        a[1] = [a[1][at] + b[1][at] for at in (0, 1)]
        return a


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

    def merge(self, a, b):
        return [[min(a[0][0], b[0][0]), max(a[0][1], b[0][1])], {}]


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

    def merge(self, a, b):
        for at in (0, 1):
            a[at] |= b[at]
        return a


class Words:
    """How often each value came."""

    def create_accumulator(self):
        return {}

    def add(self, value, accumulator):
        accumulator[value[1]] = accumulator.get(value[1], 0) + 1
        return accumulator

    def get_result(self, accumulator):
        return tuple(sorted(accumulator.items()))

    def merge(self, a, b):
        for word, count in b.items():
            a[word] = a.get(word, 0) + count
        return a


class Struct:
    """A dict with numbers, a list, a set, and a dict by text."""

    def create_accumulator(self):
        return {"count": 0, "values": [], "seen": set(), "by sign": {}, "largest": None}

    def add(self, value, accumulator):
        number = value[1]
        accumulator["count"] += 1
        accumulator["values"].append(number)
        accumulator["seen"].add(number)
        signs = accumulator["by sign"]
        sign = "more" if number > 0 else "less"
        if sign in signs:
            signs[sign] += number
        else:
            signs[sign] = number
        if accumulator["largest"] is None or number > accumulator["largest"]:
            accumulator["largest"] = number
        return accumulator

    def get_result(self, accumulator):
        signs = accumulator["by sign"]
        count, values = accumulator["count"], accumulator["values"]
        return (
            count,
            sum(values),
            len(accumulator["seen"]),
            signs.get("more"),
            signs.get("less", 0),
            len(signs),
            str(signs),
        )

    def merge(self, a, b):
        a["count"] += b["count"]
        a["values"] += b["values"]
        a["seen"] |= b["seen"]
        for sign, number in b["by sign"].items():
            a["by sign"][sign] = a["by sign"].get(sign, 0) + number
        if a["largest"] is None or b["largest"] > a["largest"]:
            a["largest"] = b["largest"]
        return a


class Grouped:
    """Lists and sets by key, which begin when the key comes."""

    def create_accumulator(self):
        return [{}, {}]

    def add(self, value, accumulator):
        lists, sets = accumulator
        key = int(value[1]) % 3
        if key not in lists:
            lists[key] = []
            sets[key] = set()
        lists[key].append(value[1])
        sets[key].add(value[1])
        return accumulator

    def get_result(self, accumulator):
        lists, sets = accumulator
        return (
            len(lists),
            str(list(lists)),
            sum(len(lists[key]) for key in lists),
            sum([len(sets[key]) for key in sets]),
        )

    def merge(self, a, b):
        for key in b[0]:
            if key in a[0]:
                a[0][key].extend(b[0][key])
                a[1][key].update(b[1][key])
            else:
                a[0][key] = list(b[0][key])
                a[1][key] = set()
                a[1][key].update(b[1][key])
        return a


class Goes:
    """Goes through a dict that it changes, and asks for keys that are not there."""

    def create_accumulator(self):
        return [{0: 0}, 0]

    def add(self, value, accumulator):
        counts = accumulator[0]
        counts[value[1]] = counts.get(value[1], 0) + value[1]
        for number in counts:
            counts[number] += 1
        accumulator[1] = counts[value[1]] if value[1] != 4 else counts.get(99, -1)
        return accumulator

    def get_result(self, accumulator):
        return accumulator[1], max(accumulator[0].values()), str(accumulator[0])

    def merge(self, a, b):
        a[0].update(b[0])
        a[1] += b[1]
        return a


class Listed:
    """Shows the list that is the accumulator, so that what it has shown is seen to change."""

    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value[1])
        return accumulator

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Within:
    """Shows a list that is in its accumulator, and what is not changed any more."""

    def create_accumulator(self):
        return [[], 0]

    def add(self, value, accumulator):
        accumulator[0].append(value[1])
        accumulator[1] += 1
        return accumulator

    def get_result(self, accumulator):
        return (accumulator[0], accumulator[1]) if accumulator[1] % 3 == 0 else accumulator[1]

    def merge(self, a, b):
        a[0].extend(b[0])
        a[1] += b[1]
        return a


AGGREGATES: list[Any] = [
    *(Distinct, Known, Overflowing, Renewed, Looped, Shared, Moved, Nested),
    *(Changes, Copied, Least, Many, Words, Struct, Grouped, Goes, Listed, Within),
]


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("assigner", BY_EVENT_TIME)
@settings(max_examples=examples(30))
@given(steps=st.one_of(STEPS, DOUBTFUL), tracked=st.booleans(), lateness=st.sampled_from([0, 0, 4, 15]))
def test_accumulators(assigner, aggregate, steps, tracked, lateness):
    function = compiled(AggregateWindow(aggregate()))
    assert function.programs is not None
    assert len(function.programs) == 4
    spec = WindowOperator(BY_EVENT_TIME[assigner], EventTimeTrigger(), None, function, lateness, "late", keyed=KEY)
    assert Alone(spec).live.keyed_stage(_native, 0) is not None
    follow(Both(spec, tracked), steps)


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("assigner", BY_EVENT_TIME)
@settings(max_examples=examples(15))
@given(data=st.data(), steps=st.one_of(STEPS, DOUBTFUL), tracked=st.booleans(), lateness=st.sampled_from([0, 0, 4, 15]))
def test_triggers(assigner, aggregate, data, steps, tracked, lateness):
    trigger = data.draw(st.sampled_from([name for name in names_of(assigner) if name != "event"]))
    function = AggregateWindow(aggregate())
    spec = spec_of(BY_EVENT_TIME[assigner], trigger, function, lateness=lateness, late_tag="late")
    follow(Both(spec, tracked), steps)


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("assigner", BY_CLOCK)
@settings(max_examples=examples(15))
@given(data=st.data(), steps=st.one_of(STEPS, DOUBTFUL))
def test_the_clock(assigner, aggregate, data, steps):
    trigger = data.draw(st.sampled_from(names_of(assigner)))
    follow(Both(spec_of(BY_CLOCK[assigner], trigger, AggregateWindow(aggregate()))), steps)


@pytest.mark.parametrize("aggregate", AGGREGATES)
@settings(max_examples=examples(15))
@given(data=st.data(), steps=st.one_of(STEPS, DOUBTFUL), tracked=st.booleans())
def test_windows_without_an_end(aggregate, data, steps, tracked):
    trigger, evictor = data.draw(st.sampled_from(ENDLESS)), data.draw(st.sampled_from([None, None, *EVICTORS]))
    follow(Both(spec_of(GlobalWindows(), trigger, AggregateWindow(aggregate()), evictor), tracked), steps)


@pytest.mark.parametrize("aggregate", AGGREGATES)
@settings(max_examples=examples(15))
@given(data=st.data(), steps=st.one_of(STEPS, DOUBTFUL))
def test_evictors(aggregate, data, steps):
    assigner, evictor = data.draw(st.sampled_from(list(BY_EVENT_TIME))), data.draw(st.sampled_from(list(EVICTORS)))
    trigger = data.draw(st.sampled_from(names_of(assigner)))
    follow(Both(spec_of(BY_EVENT_TIME[assigner], trigger, AggregateWindow(aggregate()), evictor)), steps)


@pytest.mark.parametrize("aggregate", [Listed, Within])
@pytest.mark.parametrize("trigger", ["each", "count", "early"])
def test_what_was_shown_is_seen_to_change(trigger, aggregate):
    """As it is the accumulator, or in it. Python goes on with such accumulators."""
    both = Both(spec_of(BY_EVENT_TIME["tumbling"], trigger, AggregateWindow(aggregate())))
    for start in range(0, 5_000, 100):
        both.take([(("ab"[number % 2], number % 9), 4) for number in range(start, start + 100)])
        both.check()
    assert both.native.live.shares or trigger == "early"


def is_taken(both: Both, batch: Any) -> bool:
    """Whether no record of a batch is in doubt."""
    done, in_doubt = 0, False
    while done < len(batch) and not in_doubt:
        _, _, done, in_doubt = both.stage.run(batch, done, len(batch))
    return not in_doubt


def test_records_stay_in_native_code():
    """A translation in which all is in doubt would pass all other tests."""
    for aggregate in (Distinct, Renewed, Nested, Changes, Least, Many, Struct, Grouped):
        for assigner in BY_EVENT_TIME:
            for trigger in ("event", "count", "every", "early", "at the end", "each"):
                both = Both(spec_of(BY_EVENT_TIME[assigner], trigger, AggregateWindow(aggregate()), lateness=5))
                values = [("a", number) for number in (1, -2, 1, 5, 3, 2)]
                batch = _native.Batch.of(values, [1, 2, 3, 8, 16, 12])
                assert is_taken(both, batch), (aggregate, assigner, trigger)
        both = Both(spec_of(GlobalWindows(), "count", AggregateWindow(aggregate())))
        batch = _native.Batch.of([("a", number) for number in (1, -2, 1, 5, 3, 2)], [1] * 6)
        assert is_taken(both, batch), aggregate


def test_python_goes_on_with_what_native_code_has_changed():
    spec = WindowOperator(
        BY_EVENT_TIME["tumbling"], EventTimeTrigger(), None, compiled(AggregateWindow(Distinct())), keyed=KEY
    )
    both = Both(spec)
    both.take([(("a", 1), 4), (("a", -1), 5)])
    both.stage.flush()
    [table] = [table for _, spaces in both.native.state.tables() for table in spaces.values()]
    assert dict(table) == {"a": [2, [{("a", -1)}, {1}]]}


def test_sets_are_made_in_accumulators_only():
    assert isinstance(compile_function(Distinct(), "create_accumulator"), Compiled)
    assert not isinstance(compile_function(lambda value: set(), "map"), Compiled)
