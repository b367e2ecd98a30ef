"""Windows, many records at once, against the same operator record by record: results, order, state, timers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import OutputTag, Types
from penstock.datastream import window as w
from penstock.datastream.window import TriggerResult
from penstock.errors import InvalidProgramError
from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators import window_batches
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.usercode.failure import OperatorFailure
from penstock.runtime.windows.functions import AggregateWindow, ApplyWindow, FoldWindow, ProcessWindow, ReduceWindow
from penstock.runtime.windows.steady import is_steady
from tests.runtime.checkpoint.programs import tables, timers
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.snapshots import carry_over


class Batched(Alone):
    """An operator that is given lists of records where it can take them."""

    def take_all(self, elements, keys=None):
        if not hasattr(self, "taker"):
            self.taker = self.live.taker(0)
            assert self.taker is not None
        times = iter([element[1] for element in elements] + [77])  # one more, which is not theirs
        self.taker(elements, times, keys)
        assert list(times) == [77]


class OneByOne(Alone):
    def take_all(self, elements, keys=None):
        for element in elements:
            self.take(element, element[1])


class Show:
    def apply(self, key, window, inputs):
        yield key, tuple(window), list(inputs)


class Process:
    """Has state of the window and of the key, and emits to a side output too."""

    def __init__(self, merges):
        self.merges = merges

    def process(self, key, context, elements):
        assert not self.merges or context.window() is not None
        yield key, tuple(context.window()), list(elements), context.current_watermark()

    def clear(self, context):
        CLEARED.append(tuple(context.window()))


CLEARED = []


class Count:
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, one, other):
        return one + other


class CountFloats(Count):
    """Whose order of additions can be seen."""

    def create_accumulator(self):
        return 0.1

    def add(self, value, accumulator):
        return 1 + accumulator


class Values(Count):
    """An accumulator that changes in place."""

    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value)
        return accumulator

    def get_result(self, accumulator):
        return len(accumulator), accumulator[-1]


class EveryThird(w.Trigger):
    """Fires and purges at times, and waits for the end of the window, as the records come."""

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        ctx.register_processing_time_timer(ctx.get_current_processing_time() + element[2])
        return [w.TriggerResult.FIRE, w.TriggerResult.PURGE, *[w.TriggerResult.CONTINUE] * 7][element[2] % 9]

    def on_event_time(self, time, window, ctx):
        return w.TriggerResult.FIRE_AND_PURGE

    def on_processing_time(self, time, window, ctx):
        return w.TriggerResult.FIRE

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())


class ByEither(w.Trigger):
    """Fires when the clock or the watermark is far enough: what it does is the same for each element."""

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_processing_time_timer(SOME_TIME)
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE_AND_PURGE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.FIRE_AND_PURGE

    def clear(self, window, ctx):
        ctx.delete_processing_time_timer(SOME_TIME)
        ctx.delete_event_time_timer(window.max_timestamp())


class Keeping(ByEither):
    """Does not purge."""

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE


class Branching(ByEither):
    """Looks at elements."""

    def on_element(self, element, timestamp, window, ctx):
        if element:
            ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE


class Remembering(ByEither):
    """Has an attribute."""

    time = 5

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(self.time)
        return TriggerResult.CONTINUE


SOME_TIME = 7
SPANS = st.integers(1, 12)
OFFSETS = st.integers(-2, 2)
ASSIGNERS = {
    "tumbling": st.builds(w.TumblingEventTimeWindows, SPANS, OFFSETS),
    "tumbling by the clock": st.builds(w.TumblingProcessingTimeWindows, SPANS, OFFSETS),
    "sliding": st.builds(w.SlidingEventTimeWindows, SPANS, SPANS, OFFSETS),
    "sliding by the clock": st.builds(w.SlidingProcessingTimeWindows, SPANS, SPANS, OFFSETS),
    "sessions": st.builds(w.EventTimeSessionWindows, SPANS),
    "sessions by the clock": st.builds(w.ProcessingTimeSessionWindows, st.integers(2, 12)),
}
TRIGGERS = [EveryThird(), w.CountTrigger(2), w.PurgingTrigger(w.CountTrigger(3)), w.ContinuousEventTimeTrigger(5)]
TRIGGERS += [w.EventTimeTrigger(), w.ProcessingTimeTrigger(), ByEither(), Keeping()]
FUNCTIONS = [
    lambda merges: ApplyWindow(Show()),
    lambda merges: ProcessWindow(Process(merges)),
    lambda merges: ReduceWindow(lambda one, other: (*one[:2], one[2] + other[2])),
    lambda merges: ReduceWindow(SumAggregator(2)),
    lambda merges: ReduceWindow(ComparableAggregator(2, "max"), ApplyWindow(Show())),
    lambda merges: AggregateWindow(Count()),
    lambda merges: AggregateWindow(CountFloats()),
    lambda merges: AggregateWindow(Count(), ProcessWindow(Process(merges))),
    lambda merges: AggregateWindow(Values(), ApplyWindow(Show())),
    lambda merges: ReduceWindow(max) if merges else FoldWindow((), lambda value, element: (*value, element[2])),
]
TEXTS = (st.sampled_from("aab"), Types.STRING()), (st.sampled_from("aab"), None), (st.sampled_from("bcdefg"), None)
OTHERS = (st.integers(0, 3), Types.LONG()), (st.sampled_from([1, True, 1.0, "a"]), None)
KEYS = [*TEXTS, *OTHERS, (st.tuples(st.integers(0, 1), st.integers(0, 1)), Types.TUPLE([Types.INT(), Types.INT()]))]


def events_with(keys):
    element = st.tuples(keys, st.integers(0, 40), st.integers(0, 9))
    near = st.tuples(keys, st.integers(10, 20), st.integers(0, 9))
    batches = st.one_of(st.lists(element, min_size=1, max_size=8), st.lists(near, min_size=1, max_size=20))
    return st.lists(
        st.one_of(
            batches.map(lambda elements: ("take", elements)),
            batches.map(lambda elements: ("take", elements)),
            st.tuples(st.just("watermark"), st.integers(1, 12)),
            st.tuples(st.just("clock"), st.integers(1, 6)),
            st.tuples(st.sampled_from(["written", "restored"]), st.none()),
        ),
        min_size=3,
        max_size=20,
    )


def replaced(operator, alone):
    """Another one with the state of this one."""
    later = type(alone)(
        operator, alone.now, tracked=alone.context.tracked, restored=lambda s: carry_over(alone.state, s)
    )
    later.context.time.watermark = alone.context.time.watermark
    later.results, later.sides = alone.results, alone.sides
    later.context.time.watch_clock()
    return later


def play(operator, events, tracked):
    """Give the same events to both, and compare after each."""
    both, watermark, clock, cleared = [kind(operator, tracked=tracked) for kind in (Batched, OneByOne)], 0, 0, []
    for kind, payload in [*events, ("watermark", MAX_WATERMARK), ("clock", 50)]:
        if kind == "watermark":
            watermark = min(watermark + payload, MAX_WATERMARK)
        elif kind == "clock":
            clock += payload
        elif kind == "restored":
            both = [replaced(operator, alone) for alone in both]
        cleared.clear()
        for alone in both:
            CLEARED.clear()
            if kind == "take":
                alone.take_all(payload)
            elif kind == "watermark":
                alone.watermark(watermark)
            elif kind == "clock":
                alone.wait_until(clock)
            elif kind == "written":
                alone.state.written()
            cleared.append([*CLEARED])
        batched, one_by_one = both
        assert cleared[0] == cleared[1]
        assert batched.results == one_by_one.results
        assert batched.sides == one_by_one.sides
        assert batched.live.late_dropped == one_by_one.live.late_dropped
        assert batched.live.emitted == one_by_one.live.emitted
        assert sorted(map(repr, batched.state.entries())) == sorted(map(repr, one_by_one.state.entries()))
        assert tables(batched.state) == tables(one_by_one.state)
        assert batched.state.slot == one_by_one.state.slot
        for (_, queue), (_, other) in zip(batched.state.queues(), one_by_one.state.queues(), strict=True):
            assert timers(queue) == timers(other)
            assert [(n, t.time, t.slot) for n, t in queue.noted or ()] == [
                (n, t.time, t.slot) for n, t in other.noted or ()
            ]
        if tracked:
            contents = {place: slots for place, slots in batched.state.changes if place[0] == "window-contents"}
            assert contents == {p: slots for p, slots in one_by_one.state.changes if p[0] == "window-contents"}


@pytest.mark.slow
@pytest.mark.parametrize("assigner", ASSIGNERS)
@given(st.data(), st.integers(0, 6), st.booleans(), st.booleans(), st.sampled_from(FUNCTIONS), st.sampled_from(KEYS))
def test_batches_do_what_records_do_one_by_one(assigner, data, lateness, late_output, tracked, function, key):
    windows = data.draw(ASSIGNERS[assigner])
    default = windows.default_trigger()
    trigger = default if windows.merging else data.draw(st.sampled_from([*[default] * 3, *TRIGGERS]))
    late = "late" if late_output else None
    partition = KeyPartition(lambda element: element[0], key[1])
    operator = WindowOperator(windows, trigger, None, function(windows.merging), lateness, late, keyed=partition)
    play(operator, data.draw(events_with(key[0])), tracked)


@pytest.mark.parametrize("assigner", [name for name in ASSIGNERS if "sessions" not in name])
@given(st.data(), st.integers(0, 6), st.booleans(), st.sampled_from(KEYS))
def test_a_trigger_that_always_does_the_same_is_asked_once(assigner, data, lateness, tracked, key):
    windows, function = data.draw(ASSIGNERS[assigner]), AggregateWindow(Count(), ApplyWindow(Show()))
    partition = KeyPartition(lambda element: element[0], key[1])
    operator = WindowOperator(windows, ByEither(), None, function, lateness, keyed=partition)
    play(operator, data.draw(events_with(key[0])), tracked)


@pytest.mark.parametrize(
    ("trigger", "steady"),
    [(ByEither(), True), (Keeping(), False), (Branching(), False), (Remembering(), False), (EveryThird(), False)],
)
def test_which_triggers_always_do_the_same(trigger, steady):
    assert is_steady(trigger) == steady


class Begun(Count):
    def create_accumulator(self):
        return "0"


FAILURES = [
    (lambda element: element[0], Begun),
    (lambda element: 1 // (element[2] - 5), Count),
    (lambda element: {} if element[2] == 5 else element[2], Count),
    (lambda element: element[0], lambda: Failing()),
]


class Failing(Count):
    def add(self, value, accumulator):
        return accumulator + 1 // (value[2] - 5)


@pytest.mark.parametrize(("select", "aggregate"), FAILURES)
@pytest.mark.parametrize("windows", [w.TumblingEventTimeWindows(10), w.EventTimeSessionWindows(5)])
def test_failures_are_those_of_the_record(select, aggregate, windows):
    """Also where records before it are to be taken first."""
    operator = WindowOperator(
        windows, w.EventTimeTrigger(), None, AggregateWindow(aggregate()), 0, None, keyed=KeyPartition(select)
    )
    failures = []
    for kind in (Batched, OneByOne):
        alone = kind(operator)
        with pytest.raises(OperatorFailure) as caught:
            alone.take_all([("a", time, time) for time in range(10)])
        failures.append((type(caught.value.error), str(caught.value.error), caught.value.function))
        cause = caught.value.error.__cause__
        failures[-1] += (type(cause), str(cause), len([*alone.state.entries()]))
    assert failures[0] == failures[1]


def test_a_record_without_a_timestamp_is_refused_as_alone():
    operator = WindowOperator(
        w.TumblingEventTimeWindows(10), w.EventTimeTrigger(), None, ApplyWindow(Show()), keyed=KeyPartition(len)
    )
    for times in (None, iter([3, None])):
        alone = Alone(operator)
        with pytest.raises(OperatorFailure) as caught:
            alone.live.taker(0)(["a", "b"], times, None)
        assert isinstance(caught.value.error, InvalidProgramError)
        assert "no timestamp marker" in str(caught.value.error)
        assert caught.value.error.__context__ is None
        assert len([*alone.state.entries()]) == (times is not None)


@pytest.mark.parametrize("time", [MAX_WATERMARK - 3, MIN_WATERMARK + 3])
@pytest.mark.parametrize("windows", [w.TumblingEventTimeWindows(10), w.EventTimeSessionWindows(5)])
def test_the_ends_of_time(windows, time):
    operator = WindowOperator(windows, w.EventTimeTrigger(), None, AggregateWindow(Count()), 3, keyed=KeyPartition(len))
    both = [kind(operator) for kind in (Batched, OneByOne)]
    for alone in both:
        alone.take_all([("a", time + n) for n in (0, 1, 3)])
        alone.watermark(time + 2)
        alone.watermark(MAX_WATERMARK)
    assert both[0].results == both[1].results
    assert timers(both[0].state.event_timers) == timers(both[1].state.event_timers)


class Many:
    """Emits more than goes together, and to a side output too."""

    def process(self, key, context, elements):
        for number in range(3):
            yield (OutputTag("side"), number) if number == 1 else (key, number)


@pytest.mark.parametrize("together", [1, 2, 3, 4, 100])
def test_results_are_emitted_some_at_a_time(monkeypatch, together):
    monkeypatch.setattr(window_batches, "_TOGETHER", together)
    key = KeyPartition(lambda element: element[0])
    operator = WindowOperator(
        w.TumblingEventTimeWindows(10), w.EventTimeTrigger(), None, ProcessWindow(Many()), keyed=key
    )
    both = [kind(operator) for kind in (Batched, OneByOne)]
    for alone in both:
        alone.take_all([("a" * n, n) for n in range(3, 12)])
        alone.watermark(MAX_WATERMARK)
    assert both[0].results == both[1].results
    assert both[0].sides == both[1].sides == {"side": [1] * 9}
    assert both[0].live.emitted == len(both[0].results) == 18


def test_what_only_counts_is_known_by_its_code():
    class Longer(Count):
        def add(self, value, accumulator):
            """One more."""
            return accumulator + 1

    class Two(Count):
        def add(self, value, accumulator):
            return accumulator + 2

    class Noisy(Count):
        def add(self, value, accumulator):
            print(value)
            return accumulator + 1

    known = {kind.__name__: AggregateWindow(kind()).kept().counts for kind in (Count, CountFloats, Longer, Two, Noisy)}
    assert known == {"Count": True, "CountFloats": True, "Longer": True, "Two": False, "Noisy": False}
    shadowed = Count()
    shadowed.add = lambda value, accumulator: accumulator + 1
    assert not AggregateWindow(shadowed).kept().counts


def test_windows_of_a_program_are_taken_one_by_one():
    class Mine(w.TumblingEventTimeWindows):
        pass

    for assigner in (Mine(10), w.EventTimeSessionWindows.with_dynamic_gap(len), w.GlobalWindows()):
        operator = WindowOperator(assigner, w.EventTimeTrigger(), None, ApplyWindow(Show()), keyed=KeyPartition(len))
        assert Alone(operator).live.taker(0) is None
