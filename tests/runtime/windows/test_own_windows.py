"""Assigners by count, and what programs bring themselves: assigners, windows that merge, triggers on sessions."""

from __future__ import annotations

import pickle
from collections import defaultdict
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Types
from penstock.common.functions.state_descriptor import MapStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from penstock.datastream import window as w
from penstock.errors import InvalidProgramError
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.usercode.failure import OperatorFailure
from penstock.runtime.windows.functions import ApplyWindow
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.windows.test_windows import EVENTS, KEY, run, sessions

KEYS = st.lists(st.sampled_from("abc"), max_size=60)


class Numbers:
    """Shows windows by count."""

    def apply(self, key, window, inputs):
        yield key, window.id, [n for _, n in inputs]


def by_count(assigner, keys):
    """The windows that fire, and what state is left."""
    operator = WindowOperator(assigner, assigner.get_default_trigger(None), None, ApplyWindow(Numbers()), keyed=KEY)
    alone = Alone(operator)
    for n, key in enumerate(keys):
        alone.take((key, n))
    alone.watermark(MAX_WATERMARK)
    return [value for value, _ in alone.results], alone


@given(KEYS, st.integers(1, 6), st.integers(1, 8))
def test_windows_by_count_hold_the_next_elements_of_their_key(keys, size, slide):
    numbers = defaultdict(list)
    for n, key in enumerate(keys):
        numbers[key].append(n)
    expected = sorted(
        (key, start // slide, elements[start : start + size])
        for key, elements in numbers.items()
        for start in range(0, len(elements) - size + 1, slide)
    )
    fired, _ = by_count(w.CountSlidingWindowAssigner.of(size, slide), keys)
    assert sorted(fired) == expected
    if slide == size:
        fired, alone = by_count(w.CountTumblingWindowAssigner.of(size), keys)
        assert sorted(fired) == expected
        tables = [name for _, (name, _), _, _ in alone.state.entries()]
        assert keys == [] or "tumble-count-assigner" in tables


def test_full_windows_by_count_leave_nothing_behind():
    _, alone = by_count(w.CountTumblingWindowAssigner.of(2), "aabbaa")
    left = {name for _, (name, _), _, _ in alone.state.entries()}
    assert left == {"tumble-count-assigner"}


# --- windows that merge -----------------------------------------------------------------------------------------------


class OwnSessions(w.MergingWindowAssigner):
    """Sessions as a program would write them, in PyFlink's spelling."""

    def __init__(self, gap):
        self.gap = gap

    def assign_windows(self, element, timestamp, context):
        return [w.TimeWindow(timestamp, timestamp + self.gap)]

    def merge_windows(self, windows, callback):
        w.TimeWindow.merge_windows(windows, callback)

    def get_default_trigger(self, env):
        return w.EventTimeTrigger()

    def get_window_serializer(self):
        return w.TimeWindowSerializer()

    def is_event_time(self):
        return True


@given(EVENTS, st.integers(1, 15), st.integers(0, 15))
def test_sessions_of_ones_own(events, gap, lateness):
    assert run(OwnSessions(gap), events, lateness) == sessions(lambda event: gap, events, lateness)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6)), max_size=12))
def test_windows_that_touch_are_one(pairs):
    windows = [w.TimeWindow(start, start + size) for start, size in pairs]
    merged = {}

    class Callback:
        def merge(self, to_be_merged, merge_result):
            merged[merge_result] = set(to_be_merged)

    w.TimeWindow.merge_windows(windows, Callback())
    groups = [{window} for window in set(windows)]
    while True:  # as long as two groups have windows that touch, they are one
        pair = next(
            ((a, b) for a in groups for b in groups if a is not b and any(x.intersects(y) for x in a for y in b)), None
        )
        if pair is None:
            break
        groups = [g for g in groups if g is not pair[0] and g is not pair[1]] + [pair[0] | pair[1]]
    expected = {w.TimeWindow(min(x.start for x in g), max(x.end for x in g)): g for g in groups if len(g) > 1}
    assert merged == expected


class EveryTwo(w.Trigger):
    """Fires at every second element of a session, whatever merges, and at its end."""

    SEEN = ReducingStateDescriptor("seen", lambda one, other: one + other, Types.INT())

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        seen = ctx.get_partitioned_state(self.SEEN)
        seen.add(1)
        return self.look(seen)

    def look(self, seen):
        if seen.get() < 2:
            return w.TriggerResult.CONTINUE
        seen.clear()
        return w.TriggerResult.FIRE

    def on_event_time(self, time, window, ctx):
        return w.TriggerResult.FIRE_AND_PURGE if time == window.max_timestamp() else w.TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return w.TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.SEEN)
        ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())
        ctx.get_partitioned_state(self.SEEN).clear()


class Times:
    def apply(self, key, window, inputs):
        yield key, window.start, window.end, sorted(time for _, time in inputs)


@pytest.mark.parametrize("assigner", [w.EventTimeSessionWindows(5), OwnSessions(5)])
def test_a_trigger_of_ones_own_on_sessions(assigner):
    alone = Alone(WindowOperator(assigner, EveryTwo(), None, ApplyWindow(Times()), keyed=KEY))
    for time in (10, 30, 14, 32, 18):
        alone.take(("a", time), time)
    assert [value for value, _ in alone.results] == [
        ("a", 10, 19, [10, 14]),
        ("a", 30, 37, [30, 32]),
    ]
    alone.watermark(MAX_WATERMARK)
    assert [value for value, _ in alone.results[2:]] == [("a", 10, 23, [10, 14, 18]), ("a", 30, 37, [30, 32])]
    assert not list(alone.state.entries())


class Unmerged(EveryTwo):
    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.descriptor)


@pytest.mark.parametrize("descriptor", [ValueStateDescriptor("v"), MapStateDescriptor("m")])
def test_only_some_states_can_be_merged(descriptor):
    trigger = Unmerged()
    trigger.descriptor = descriptor
    alone = Alone(WindowOperator(w.EventTimeSessionWindows(5), trigger, None, ApplyWindow(Times()), keyed=KEY))
    alone.take(("a", 1), 1)
    with pytest.raises(OperatorFailure) as caught:
        alone.take(("a", 3), 3)
    assert isinstance(caught.value.__cause__, InvalidProgramError)
    assert f"{descriptor.name!r}: such states cannot be merged" in str(caught.value.__cause__)


class Colour:
    """A window that is no interval: of all elements of a parity; sixes make the two one."""

    def __init__(self, *names):
        self.names = frozenset(names)

    def __eq__(self, other):
        return self.names == other.names

    def __hash__(self):
        return hash(self.names)

    def max_timestamp(self):
        return 99


class Colours(w.MergingWindowAssigner):
    def assign_windows(self, element, timestamp, context):
        return [Colour("odd", "even") if timestamp == 6 else Colour("odd" if timestamp % 2 else "even")]

    def merge_windows(self, windows, callback):
        both = Colour("odd", "even")
        if both in windows and len(windows) > 1:
            callback.merge(windows, both)


class Names:
    def apply(self, key, window, inputs):
        yield sorted(window.names), sorted(time for _, time in inputs)


def test_windows_that_are_no_intervals():
    alone = Alone(WindowOperator(Colours(), w.EventTimeTrigger(), None, ApplyWindow(Names()), keyed=KEY))
    for time in (1, 2, 3):
        alone.take(("a", time), time)
    alone.take(("b", 6), 6)
    alone.take(("a", 6), 6)
    alone.take(("a", 8), 8)
    alone.watermark(MAX_WATERMARK)
    both = ["even", "odd"]
    assert sorted(value for value, _ in alone.results) == [(both, [1, 2, 3, 6, 8]), (both, [6])]
    assert not list(alone.state.entries())


# --- assigners by other means -----------------------------------------------------------------------------------------


class FirstComesAlone(w.WindowAssigner):
    """Asks for the clock, and for state of the key."""

    def assign_windows(self, element, timestamp, context):
        known = context.get_runtime_context().get_state(ValueStateDescriptor("known", Types.BOOLEAN()))
        start = 0 if known.value() else context.get_current_processing_time()
        known.update(True)
        return [w.TimeWindow(start, start + 10)]

    def is_event_time(self):
        return False


def test_an_assigner_knows_clock_and_state():
    operator = WindowOperator(
        FirstComesAlone(), FirstComesAlone().get_default_trigger(None), None, ApplyWindow(Times()), keyed=KEY
    )
    assert isinstance(operator.trigger, w.ProcessingTimeTrigger)
    alone = Alone(operator, clock=1_000)
    for element in (("a", 1), ("a", 2), ("b", 3), ("a", 4)):
        alone.take(element)
    alone.wait_until(2_000)
    assert sorted(value for value, _ in alone.results) == [
        ("a", 0, 10, [2, 4]),
        ("a", 1_000, 1_010, [1]),
        ("b", 1_000, 1_010, [3]),
    ]


def test_the_assigners_answer_as_pyflinks_do():
    context = w.WindowAssigner.WindowAssignerContext(lambda: 70, None)
    assert list(w.TumblingEventTimeWindows.of(10).assign_windows("x", 25, context)) == [w.TimeWindow(20, 30)]
    assert list(w.TumblingProcessingTimeWindows.of(10).assign_windows("x", 25, context)) == [w.TimeWindow(70, 80)]
    assert list(w.EventTimeSessionWindows.with_gap(5).assign_windows("x", 25, context)) == [w.TimeWindow(25, 30)]
    assert list(w.GlobalWindows.create().assign_windows("x", 25, context)) == [w.GlobalWindow.get()]
    assert [a.is_event_time() for a in (w.TumblingEventTimeWindows(1), w.GlobalWindows())] == [True, False]
    assert isinstance(w.GlobalWindows().get_default_trigger(None), w.NeverTrigger)
    assert isinstance(w.EventTimeSessionWindows(3), w.MergingWindowAssigner)
    assert str(w.CountSlidingWindowAssigner.of(5, 2)) == "CountSlidingWindowAssigner(5, 2)"


class Halved(w.SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[1] // 2


@given(EVENTS)
def test_a_gap_extractor_of_ones_own(events):
    events = [event if isinstance(event, int) else (event[0], 2 + abs(event[1])) for event in events]
    results = run(w.DynamicEventTimeSessionWindows.with_dynamic_gap(Halved()), events)
    assert results == sessions(Halved().extract, events, 0)
    assert results == run(w.EventTimeSessionWindows.with_dynamic_gap(Halved()), events)


WINDOWS = [
    (w.TumblingEventTimeWindows(5), w.TimeWindow(-3, 2**40), 16),
    (w.CountTumblingWindowAssigner(5), w.CountWindow(7), 8),
    (w.GlobalWindows(), w.GlobalWindow(), 1),
]


@pytest.mark.parametrize(("assigner", "window", "size"), WINDOWS)
def test_windows_are_written_and_read(assigner, window, size):
    serializer, stream = assigner.get_window_serializer(), BytesIO()
    serializer.serialize(window, stream)
    assert len(stream.getvalue()) == size
    stream.seek(0)
    assert serializer.deserialize(stream) == window
    assert pickle.loads(pickle.dumps(window)) == window
    assert w.GlobalWindow() is w.GlobalWindow.get()
