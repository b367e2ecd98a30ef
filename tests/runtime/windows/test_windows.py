"""Windows against brute force: what belongs together by definition, looked up element by element."""

from __future__ import annotations

import pickle
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Time, Types
from penstock.datastream import evictor, window
from penstock.errors import InvalidProgramError
from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.operators.window_contents import STATE
from penstock.runtime.usercode.failure import OperatorFailure
from penstock.runtime.windows.assigners import (
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)
from penstock.runtime.windows.evictors import CountEvictor, DeltaEvictor, TimeEvictor
from penstock.runtime.windows.functions import AggregateWindow, ApplyWindow, FoldWindow, ReduceWindow
from penstock.runtime.windows.time_window import TimeWindow
from penstock.runtime.windows.triggers import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    EventTimeTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
)
from tests.runtime.operators.operators_alone import Alone

KEY = KeyPartition(lambda element: element[0], Types.STRING())
ELEMENT = st.tuples(st.sampled_from("ab"), st.integers(-40, 40))
EVENTS = st.lists(st.one_of(ELEMENT, st.integers(-40, 60)), max_size=40)
"""Elements (key, time), and watermarks."""


class Show:
    def apply(self, key, window, inputs):
        yield key, window.start, window.end, tuple(sorted(inputs))


def run(assigner, events, lateness=0, function=None, trigger=None):
    """What an operator emits per event, and what is late."""
    operator = WindowOperator(
        assigner, trigger or EventTimeTrigger(), None, function or ApplyWindow(Show()), lateness, "late", keyed=KEY
    )
    alone, steps, largest = Alone(operator), [], MIN_WATERMARK
    for event in [*events, MAX_WATERMARK]:
        before = len(alone.results)
        if isinstance(event, tuple):
            alone.take(event, event[1])
        elif event > largest:
            largest = event
            alone.watermark(event)
        steps.append(sorted(value for value, _ in alone.results[before:]))
    assert not list(alone.state.entries()), "state is left behind"
    assert len(alone.state.event_timers) == 0
    return steps, alone.sides.get("late", [])


def brute_force(starts, size, events, lateness):
    """The same by definition, for windows of a size that start at ``starts``."""
    contents, steps, late, now = defaultdict(list), [], [], MIN_WATERMARK
    for event in [*events, MAX_WATERMARK]:
        fired = []
        if isinstance(event, tuple):
            key, time = event
            mine = [s for s in starts if s <= time < s + size]
            live = [s for s in mine if s + size - 1 + lateness > now]
            for start in live:
                contents[key, start].append(event)
                if start + size - 1 <= now:
                    fired.append((key, start))
            if not live and time + lateness <= now:
                late.append(event)
        elif event > now:
            fired = [place for place in contents if now < place[1] + size - 1 <= event]
            now = event
        steps.append(sorted((key, s, s + size, tuple(sorted(contents[key, s]))) for key, s in fired))
        for place in [place for place in contents if place[1] + size - 1 + lateness <= now]:
            del contents[place]
    return steps, late


@given(EVENTS, st.integers(1, 25), st.integers(-20, 20), st.integers(0, 15))
def test_tumbling_windows(events, size, offset, lateness):
    starts = range(offset - 100 * size, offset + 100 * size, size)
    assigner = TumblingEventTimeWindows(size, offset)
    assert run(assigner, events, lateness) == brute_force(starts, size, events, lateness)


@given(EVENTS, st.integers(1, 25), st.integers(1, 25), st.integers(0, 15))
def test_sliding_windows(events, size, slide, lateness):
    starts = range(-100 * slide, 100 * slide, slide)
    assigner = SlidingEventTimeWindows(size, slide)
    assert run(assigner, events, lateness) == brute_force(starts, size, events, lateness)


@given(EVENTS, st.integers(1, 15), st.integers(0, 15))
def test_session_windows(events, gap, lateness):
    assert run(EventTimeSessionWindows(gap), events, lateness) == sessions(lambda event: gap, events, lateness)


@given(EVENTS, st.integers(1, 15))
def test_dynamic_sessions_never_lose_an_element(events, most):
    def gap_of(event):
        return 1 + abs(event[1]) % most

    results = run(DynamicEventTimeSessionWindows(gap_of), events)
    assert results == sessions(gap_of, events, 0)


def sessions(gap_of, events, lateness):
    """Sessions by definition: live ones that touch are one."""
    live, steps, late, now = [], [], [], MIN_WATERMARK
    for event in [*events, MAX_WATERMARK]:
        fired = []
        if isinstance(event, tuple):
            key, time = event
            one = (key, time, time + gap_of(event), [event])
            touching = [s for s in live if s[0] == key and s[1] <= one[2] and one[1] <= s[2]]
            whole = [one, *touching]
            merged = (
                key,
                min(s[1] for s in whole),
                max(s[2] for s in whole),
                [e for s in whole for e in s[3]],
            )
            if merged[2] - 1 + lateness <= now:
                if time + lateness <= now:
                    late.append(event)
            else:
                live = [s for s in live if s not in touching] + [merged]
                if merged[2] - 1 <= now:
                    fired = [merged]
        elif event > now:
            fired = [s for s in live if now < s[2] - 1 <= event]
            now = event
        steps.append(sorted((key, start, end, tuple(sorted(elements))) for key, start, end, elements in fired))
        live = [s for s in live if s[2] - 1 + lateness > now]
    return steps, late


@given(EVENTS, st.integers(1, 20))
def test_reductions_are_those_of_the_elements(events, size):
    assigner = TumblingEventTimeWindows(size)
    reduce = ReduceWindow(lambda one, other: (one[0], one[1] + other[1]))
    whole, _ = run(assigner, events)
    reduced, _ = run(assigner, events, function=reduce)
    expected = [sorted((key, sum(time for _, time in elements)) for key, _, _, elements in step) for step in whole]
    assert reduced == expected


def test_windows_by_the_clock():
    operator = WindowOperator(
        TumblingProcessingTimeWindows(10), ProcessingTimeTrigger(), None, ApplyWindow(Show()), keyed=KEY
    )
    alone = Alone(operator, clock=12)
    alone.take(("a", 1))
    alone.wait_until(18)
    alone.take(("a", 2))
    alone.wait_until(19)
    assert [value for value, _ in alone.results] == [("a", 10, 20, (("a", 1), ("a", 2)))]
    alone.take(("a", 3))
    alone.wait_until(30)
    assert alone.results[1:] == [(("a", 10, 20, (("a", 3),)), 19)]
    assert not list(alone.state.entries())


def test_an_element_without_timestamp_is_refused():
    operator = WindowOperator(TumblingEventTimeWindows(10), EventTimeTrigger(), None, ApplyWindow(Show()), keyed=KEY)
    with pytest.raises(OperatorFailure) as caught:
        Alone(operator).take(("a", 1))
    assert isinstance(caught.value.__cause__, InvalidProgramError)
    assert caught.value.__cause__.flink_class == "java.lang.RuntimeException"


class Apart(WindowAssigner):
    """An assigner of one's own, of an ordinary class: sessions, or windows that stay apart."""

    def __init__(self, size, merging):
        self.size = size
        self.merging = merging

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp, timestamp + self.size)]


@given(EVENTS, st.integers(1, 15))
def test_an_assigner_of_ones_own_can_make_sessions(events, size):
    assert run(Apart(size, merging=True), events) == sessions(lambda event: size, events, 0)


@given(EVENTS, st.integers(1, 15))
def test_windows_of_an_assigner_of_ones_own_stay_apart_unless_it_says_so(events, size):
    steps, _ = run(Apart(size, merging=False), events)
    assert all(end - start == size for step in steps for _, start, end, _ in step)


DESCRIPTIONS = [
    TumblingProcessingTimeWindows.of(Time.seconds(5)),
    SlidingEventTimeWindows.of(10, 5),
    EventTimeSessionWindows.with_gap(3),
    ProcessingTimeSessionWindows.with_dynamic_gap(len),
    GlobalWindows.create(),
    PurgingTrigger.of(CountTrigger.of(3)),
    ContinuousEventTimeTrigger.of(Time.seconds(1)),
    DeltaTrigger.of(1.5, max),
    CountEvictor.of(3),
    TimeEvictor.of(Time.seconds(1)),
    DeltaEvictor.of(1.5, max),
]


@pytest.mark.parametrize("description", DESCRIPTIONS, ids=lambda description: type(description).__name__)
def test_what_a_program_says_is_what_travels(description):
    data = pickle.dumps(description)
    assert b"penstock.runtime.windows" in data
    assert b"penstock.datastream" not in data
    assert pickle.loads(data) == description
    public_class = getattr(window, type(description).__name__, None) or getattr(evictor, type(description).__name__)
    assert public_class is type(description)


class Longest:
    def create_accumulator(self):
        return 0

    def add(self, element, accumulator):
        return max(accumulator, element[1])

    def get_result(self, accumulator):
        return accumulator

    def merge(self, one, other):
        return max(one, other)


@pytest.mark.parametrize("then", [None, ApplyWindow(Show())], ids=["alone", "with a window function"])
@pytest.mark.parametrize(
    "make",
    [
        lambda then: ReduceWindow(lambda one, other: max(one, other), then),
        lambda then: AggregateWindow(Longest(), then),
        lambda then: FoldWindow(0, lambda largest, element: max(largest, element[1]), then),
    ],
    ids=["reduce", "aggregate", "fold"],
)
@pytest.mark.parametrize(
    ("assigner", "windows"),
    [(TumblingEventTimeWindows(10_000), 1), (SlidingEventTimeWindows(10_000, 2_500), 4)],
    ids=["tumbling", "sliding"],
)
def test_a_window_that_reduces_holds_one_value(make, then, assigner, windows):
    assert held(assigner, make(then)) == windows
    assert held(assigner, ApplyWindow(Show())) == windows * 1000


def test_sessions_that_reduce_hold_one_value():
    assert held(EventTimeSessionWindows(20), ReduceWindow(max)) == 1
    assert held(EventTimeSessionWindows(20), AggregateWindow(Longest())) == 1


def held(assigner, function):
    """Values in the contents of all windows after 1,000 elements of one key."""
    alone = Alone(WindowOperator(assigner, EventTimeTrigger(), None, function, 0, None, keyed=KEY))
    for time in range(7_500, 8_500):
        alone.take(("a", time), time)
    kept = [value for _, (name, _), _, value in alone.state.entries() if name == STATE]
    return sum(len(value) if isinstance(value, list) else 1 for value in kept)
