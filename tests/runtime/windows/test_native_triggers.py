"""Windows with other triggers, and with evictors, in native code against the operator in Python: results in order, late
records, state, timers, both ways."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.common import Types
from penstock.common.functions.state_descriptor import (
    ListStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.compiler.operators import Compilation, Verdict
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.operators.native_triggers import inner_trigger
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import GlobalWindows
from penstock.runtime.windows.evictors import CountEvictor, DeltaEvictor, TimeEvictor
from penstock.runtime.windows.triggers import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    Trigger,
    TriggerResult,
)
from tests.effort import examples
from tests.runtime.windows.test_native_counts import SEEING
from tests.runtime.windows.test_native_windows import (
    BY_CLOCK,
    BY_EVENT_TIME,
    DOUBTFUL,
    FUNCTIONS,
    KEY,
    LARGE,
    STEPS,
    Both,
    follow,
    state_of,
)

END = MAX_WATERMARK


def difference(one, other):
    return other[1] - one[1]


class Differences:
    def get_delta(self, old, new):
        return abs(new[1] - old[1]) / 2


class ByClockOrAtEnd(Trigger):
    """Fires when the clock reaches the end of the window, or when the input has ended."""

    def on_element(self, value, timestamp, window, context):
        context.register_processing_time_timer(window.max_timestamp())
        context.register_event_time_timer(END)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, context):
        return TriggerResult.FIRE_AND_PURGE

    def on_event_time(self, time, window, context):
        return TriggerResult.FIRE_AND_PURGE

    def clear(self, window, context):
        context.delete_processing_time_timer(window.max_timestamp())
        context.delete_event_time_timer(END)


@dataclass(frozen=True)
class Early(Trigger):
    """Fires for large values, some time after a record by event time or the clock, and at the end."""

    wait: int
    limit: int

    def can_merge(self):
        return True

    def on_element(self, value, timestamp, window, context):
        end = window.end - 1
        if end <= context.get_current_watermark():
            return TriggerResult.FIRE_AND_PURGE if value[1] < 0 else TriggerResult.FIRE
        context.register_event_time_timer(end)
        if value[1] == self.limit:
            return TriggerResult.PURGE
        if value[1] % 2:
            context.register_processing_time_timer(context.get_current_processing_time() + self.wait)
        else:
            context.register_event_time_timer(min(window.start + self.wait, window.max_timestamp()))
        return TriggerResult.FIRE if value[1] > self.limit else TriggerResult.CONTINUE

    def on_event_time(self, time, window, context):
        if time == window.max_timestamp():
            context.delete_processing_time_timer(time)
            return TriggerResult.FIRE
        if (time - window.start) % 2 == 0 and time + 1 < window.end:
            context.register_event_time_timer(time + 1)
        return TriggerResult.FIRE

    def on_processing_time(self, time, window, context):
        return TriggerResult.FIRE_AND_PURGE if time % 3 == 0 else TriggerResult.FIRE

    def on_merge(self, window, context):
        if window.max_timestamp() > context.get_current_watermark():
            context.register_event_time_timer(window.max_timestamp())

    def clear(self, window, context):
        context.delete_event_time_timer(window.max_timestamp())
        for after in range(3):
            context.delete_event_time_timer(window.start + after)


class EachSecond(Trigger):
    """Fires for each record of an even value, and at times of the clock; on any window."""

    def on_element(self, value, timestamp, window, context):
        if value[1] % 2 == 0:
            return TriggerResult.FIRE
        context.register_processing_time_timer(context.get_current_processing_time() + int(value[1]) % 5)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, context):
        return TriggerResult.PURGE if time % 4 == 0 else TriggerResult.FIRE


class CountsItself(Trigger):
    """Fires with so many records, as Flink's own trigger does, which it remembers in a state of its own."""

    def __init__(self, most):
        self.most = most
        self.count = ReducingStateDescriptor("count", lambda a, b: a + b, Types.LONG())

    def can_merge(self):
        return True

    def on_element(self, value, timestamp, window, context):
        count = context.get_partitioned_state(self.count)
        count.add(1)
        if count.get() >= self.most:
            count.clear()
            return TriggerResult.FIRE
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, context):
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, context):
        return TriggerResult.CONTINUE

    def on_merge(self, window, context):
        context.merge_partitioned_state(self.count)

    def clear(self, window, context):
        context.get_partitioned_state(self.count).clear()


class EarlyAndLate(Trigger):
    """Fires some time after the first record, for large values that differ from the last one, and at the end; forgets
    one of its states only. What a window remembers that has become another one stays."""

    last = ValueStateDescriptor("last", Types.LONG())

    def __init__(self, forgets=True):
        self.forgets = forgets
        self.next = ValueStateDescriptor("next", Types.LONG())
        self.largest = ReducingStateDescriptor("a largest", larger_number, Types.LONG())

    def can_merge(self):
        return True

    def on_element(self, value, timestamp, window, context):
        largest = context.get_partitioned_state(self.largest)
        last = context.get_partitioned_state(self.last)
        if window.max_timestamp() > context.get_current_watermark():
            context.register_event_time_timer(window.max_timestamp())
        if context.get_partitioned_state(self.next).value() is None:
            time = window.start + 2
            context.register_event_time_timer(time)
            context.get_partitioned_state(self.next).update(time)
        largest.add(value[1])
        before = last.value() or 0
        last.update(value[1] if value[1] != 3 else None)
        if largest.get() > 5 and before != value[1]:
            return TriggerResult.FIRE
        return TriggerResult.FIRE_AND_PURGE if value[1] == -5 else TriggerResult.CONTINUE

    def on_event_time(self, time, window, context):
        following = context.get_partitioned_state(self.next)
        if following.value() == time:
            following.clear()
            return TriggerResult.FIRE
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def on_merge(self, window, context):
        context.merge_partitioned_state(self.largest)
        if window.max_timestamp() > context.get_current_watermark():
            context.register_event_time_timer(window.max_timestamp())
        context.get_partitioned_state(self.last).update(window.end)

    def clear(self, window, context):
        time = context.get_partitioned_state(self.next).value()
        if time is not None:
            context.delete_event_time_timer(time)
        context.delete_event_time_timer(window.max_timestamp())
        if self.forgets:
            context.get_partitioned_state(self.next).clear()
            context.get_partitioned_state(self.last).clear()


class Changing(Trigger):
    """Fires where a value changes; on any window."""

    def __init__(self):
        self.last = ValueStateDescriptor("last", Types.LONG())

    def on_element(self, value, timestamp, window, context):
        state = context.get_partitioned_state(self.last)
        before = state.value()
        if before is not None and before == value[1]:
            return TriggerResult.CONTINUE
        state.update(value[1])
        return TriggerResult.FIRE if before is not None else TriggerResult.CONTINUE

    def clear(self, window, context):
        context.get_partitioned_state(self.last).clear()


def larger_number(one, other):
    return one if one > other else other


TRIGGERS: dict[str, Trigger[Any, Any]] = {
    "at the end": PurgingTrigger(EventTimeTrigger()),
    "by the clock": PurgingTrigger(ProcessingTimeTrigger()),
    "clock": ProcessingTimeTrigger(),
    "event": EventTimeTrigger(),
    "count": CountTrigger(3),
    "count, purging": PurgingTrigger(CountTrigger(2)),
    "each": CountTrigger(0),
    "every": ContinuousEventTimeTrigger(4),
    "every, purging": PurgingTrigger(ContinuousEventTimeTrigger(3)),
    "every by the clock": ContinuousProcessingTimeTrigger(4),
    "every by the clock, purging": PurgingTrigger(ContinuousProcessingTimeTrigger(3)),
    "never": NeverTrigger(),
    "delta": DeltaTrigger(2, difference),
    "delta, purging": PurgingTrigger(DeltaTrigger(1.5, Differences())),
    "clock or end": ByClockOrAtEnd(),
    "early": Early(3, 4),
    "early, purging": PurgingTrigger(Early(2, 6)),
    "each second": EachSecond(),
    "with state": CountsItself(3),
    "with state, purging": PurgingTrigger(CountsItself(2)),
    "early and late": EarlyAndLate(),
    "that forgets nothing": EarlyAndLate(False),
    "changing": Changing(),
    "changing, purging": PurgingTrigger(Changing()),
}
WITH_STATE = [name for name, trigger in TRIGGERS.items() if hasattr(inner_trigger(trigger)[0], "last")]
WITH_STATE += ["with state", "with state, purging"]
SEEN_IN_PYTHON = ["sum, seen", "seen", "applied", "aggregate, applied"]
EVICTORS = {
    "count": CountEvictor(2),
    "count, after": CountEvictor(3, True),
    "none": CountEvictor(0),
    "none, after": CountEvictor(-1, True),
    "time": TimeEvictor(5),
    "time, after": TimeEvictor(7, True),
    "delta": DeltaEvictor(2, difference),
    "delta, after": DeltaEvictor(3.5, Differences(), True),
}
MERGING = [name for name, trigger in TRIGGERS.items() if trigger.can_merge()]
ENDLESS = [
    name for name in TRIGGERS if "early" not in name and "nothing" not in name and not TRIGGERS[name].needs_an_end()
]
REDUCING = ["sum", "max", "min by, last", "aggregate", "number, with ends", "sum, seen", "seen", "all, with ends"]
ENDLESS_FUNCTIONS = {name: FUNCTIONS[name] for name in ("sum", "min", "aggregate", "largest", "applied")} | SEEING


def names_of(assigner: str) -> list[str]:
    return MERGING if assigner == "sessions" else list(TRIGGERS)


def spec_of(assigner: Any, trigger: str, function: Any, evictor: str | None = None, **how: Any) -> WindowOperator:
    of_evictor = None if evictor is None else EVICTORS[evictor]
    return Compilation().operator(WindowOperator(assigner, TRIGGERS[trigger], of_evictor, function, keyed=KEY, **how))


LATENESS = st.sampled_from([0, 0, 4, 15])
TAG = st.sampled_from([None, "late"])


def functions_of(data: st.DataObject, trigger: str, names: list[str] = REDUCING) -> Any:
    names = [name for name in names if trigger not in WITH_STATE or name not in SEEN_IN_PYTHON]
    return FUNCTIONS[data.draw(st.sampled_from(names))]


@pytest.mark.parametrize(
    ("assigner", "trigger"), [(assigner, trigger) for assigner in BY_EVENT_TIME for trigger in names_of(assigner)]
)
@settings(max_examples=examples(40))
@given(data=st.data(), steps=STEPS, lateness=LATENESS, tag=TAG, tracked=st.booleans())
def test_event_time(assigner, trigger, data, steps, lateness, tag, tracked):
    windows = BY_EVENT_TIME[assigner]
    if trigger == "event":
        lateness = 4
    spec = spec_of(windows, trigger, functions_of(data, trigger), lateness=lateness, late_tag=tag)
    follow(Both(spec, tracked), steps)


@pytest.mark.parametrize(
    ("assigner", "trigger"), [(assigner, trigger) for assigner in BY_CLOCK for trigger in names_of(assigner)]
)
@settings(max_examples=examples(40))
@given(data=st.data(), steps=STEPS, tracked=st.booleans())
def test_the_clock(assigner, trigger, data, steps, tracked):
    follow(Both(spec_of(BY_CLOCK[assigner], trigger, functions_of(data, trigger)), tracked), steps)


@pytest.mark.parametrize("trigger", ENDLESS)
@settings(max_examples=examples(60))
@given(data=st.data(), steps=STEPS, tracked=st.booleans(), evictor=st.sampled_from([None, None, *EVICTORS]))
def test_the_global_window(trigger, data, steps, tracked, evictor):
    names = ["sum", "min", "aggregate", "largest"] if trigger in WITH_STATE else list(ENDLESS_FUNCTIONS)
    function = ENDLESS_FUNCTIONS[data.draw(st.sampled_from(names))]
    follow(Both(spec_of(GlobalWindows(), trigger, function, evictor), tracked), steps)


@pytest.mark.parametrize("evictor", EVICTORS)
@pytest.mark.parametrize("assigner", BY_EVENT_TIME)
@settings(max_examples=examples(60))
@given(data=st.data(), steps=STEPS, lateness=LATENESS, tracked=st.booleans())
def test_evictors(assigner, evictor, data, steps, lateness, tracked):
    trigger = data.draw(st.sampled_from(names_of(assigner)))
    spec = spec_of(BY_EVENT_TIME[assigner], trigger, functions_of(data, trigger), evictor, lateness=lateness)
    follow(Both(spec, tracked), steps)


@pytest.mark.parametrize("evictor", EVICTORS)
@pytest.mark.parametrize("assigner", BY_CLOCK)
@settings(max_examples=examples(30))
@given(data=st.data(), steps=STEPS)
def test_evictors_by_the_clock(assigner, evictor, data, steps):
    trigger = data.draw(st.sampled_from(names_of(assigner)))
    follow(Both(spec_of(BY_CLOCK[assigner], trigger, functions_of(data, trigger), evictor)), steps)


@pytest.mark.parametrize("assigner", BY_EVENT_TIME)
@settings(max_examples=examples(150))
@given(data=st.data(), steps=DOUBTFUL, evictor=st.sampled_from([None, *EVICTORS]))
def test_doubtful_records_go_through_python(assigner, data, steps, evictor):
    trigger = data.draw(st.sampled_from(names_of(assigner)))
    function = functions_of(data, trigger, ["sum", "max by, last", "known", "number, with ends", "seen"])
    follow(Both(spec_of(BY_EVENT_TIME[assigner], trigger, function, evictor, lateness=4, late_tag="late")), steps)


@pytest.mark.parametrize("trigger", WITH_STATE)
def test_triggers_with_state_stay_in_native_code(trigger):
    """If Python had them all other tests would pass."""
    assigner = GlobalWindows() if "changing" in trigger else BY_EVENT_TIME["sessions"]
    both = Both(spec_of(assigner, trigger, FUNCTIONS["sum"]))
    batch = _native.Batch.of([("a", number) for number in (1, 2, 3, 3, 6, 1)], [1, 9, 5, 18, 14, 2])
    assert both.stage.run(batch, 0, 6)[2:] == (6, False)
    both.stage.flush()
    both.stage.settle()
    assert both.stage.leave(1) == 1


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_what_is_native(trigger):
    spec = spec_of(BY_EVENT_TIME["tumbling"], trigger, FUNCTIONS["sum"], "delta")
    verdicts = Compilation().verdicts(spec)
    assert {verdict.how for verdict in verdicts} == {"compiled", "native"}
    assert verdicts[-1] == Verdict("native")


class Own(Trigger):
    """What its subclasses leave out."""

    def on_element(self, value, timestamp, window, context):
        return TriggerResult.CONTINUE


class Remembering(Own):
    def on_element(self, value, timestamp, window, context):
        context.get_partitioned_state(value[0])
        return TriggerResult.CONTINUE


class Listing(Own):
    values = ListStateDescriptor("values", Types.LONG())

    def on_element(self, value, timestamp, window, context):
        context.get_partitioned_state(self.values).add(value[1])
        return TriggerResult.CONTINUE


class Defaulting(Own):
    def __init__(self):
        self.count = ValueStateDescriptor("count", Types.LONG(), 0)

    def on_element(self, value, timestamp, window, context):
        context.get_partitioned_state(self.count).update(1)
        return TriggerResult.CONTINUE


class MergingValues(Own):
    last = ValueStateDescriptor("last", Types.LONG())

    def can_merge(self):
        return True

    def on_merge(self, window, context):
        context.merge_partitioned_state(self.last)


class Numbered(Own):
    def on_event_time(self, time, window, context):
        return 1


class Whole(Own):
    def on_event_time(self, time, window, context):
        return TriggerResult.FIRE if window == time else TriggerResult.CONTINUE


class Ending(EventTimeTrigger):
    def on_element(self, value, timestamp, window, context):
        return TriggerResult.FIRE


class OwnEvictor(CountEvictor):
    pass


SHORT = "native code needs {} compiled"


@pytest.mark.parametrize(
    ("changed", "reasons"),
    [
        ({"trigger": Remembering()}, ["native triggers have values without", SHORT.format("Remembering")]),
        ({"trigger": Listing()}, ["native triggers have values without", SHORT.format("Listing")]),
        ({"trigger": Defaulting()}, ["native triggers have values without", SHORT.format("Defaulting")]),
        (
            {"trigger": MergingValues(), "assigner": BY_EVENT_TIME["sessions"]},
            ["native triggers have values without", SHORT.format("MergingValues")],
        ),
        (
            {"trigger": Changing(), "function": FUNCTIONS["seen"]},
            ["as it could see the state of the trigger"],
        ),
        ({"trigger": Numbered()}, ["a trigger returns something else", SHORT.format("Numbered")]),
        ({"trigger": Whole()}, ["a window is used for more than", SHORT.format("Whole")]),
        ({"trigger": Ending()}, [SHORT.format("Ending")]),
        ({"trigger": DeltaTrigger(2, lambda old, new: print(old))}, ["print", SHORT.format("DeltaTrigger")]),
        ({"trigger": DeltaTrigger("a", difference)}, ["compares differences with an int or a float"]),
        ({"trigger": CountTrigger(LARGE)}, ["62 bits"]),
        ({"trigger": ContinuousEventTimeTrigger(0)}, ["an interval of one millisecond or more"]),
        ({"evictor": OwnEvictor(2)}, ["Flink's own evictors only, and OwnEvictor is another"]),
        ({"evictor": DeltaEvictor(2, lambda old, new: print(old))}, ["print", SHORT.format("DeltaEvictor")]),
    ],
)
def test_what_stays_in_python(changed, reasons):
    spec = replace(spec_of(BY_EVENT_TIME["tumbling"], "count", FUNCTIONS["sum"]), **changed)
    verdicts = Compilation().verdicts(spec)
    messages = [verdict.refusal.reason for verdict in verdicts if verdict.refusal is not None]
    assert all(any(reason in message for message in messages) for reason in reasons), messages
    with pytest.raises(AssertionError):
        Both(Compilation().operator(spec))


def test_a_session_that_comes_again_has_the_timers_that_were_left():
    both = Both(spec_of(BY_CLOCK["sessions"], "every by the clock", FUNCTIONS["sum"]))
    for now, steps in [(1, "ab"), (3, "a"), (1, "b"), (20, "ab"), (1, "a"), (3, "ab")]:
        both.clock = both.python.now = both.native.now = now
        both.take([((key, 1), 0) for key in steps])
        both.check()
    both.check_state()
    both.wait_until(100)
    both.check()
    both.check_state()


@pytest.mark.parametrize("function", ["number", "sum", "larger"])
@pytest.mark.parametrize("assigner", ["tumbling", "sliding"])
@pytest.mark.parametrize("trigger", ["count", "every", "early", "at the end", "clock or end", "never", "delta"])
def test_many_records_of_many_keys(trigger, assigner, function):
    both = Both(spec_of(BY_EVENT_TIME[assigner], trigger, FUNCTIONS[function]))
    for start in range(0, 200, 40):
        both.take([((str(n * n % 23), n % 7), start + n % 31) for n in range(2_000)])
        both.check()
        both.watermark(start + 25)
        both.wait_until(start)
        both.check()
    both.check_state()
    both.watermark(MAX_WATERMARK)
    both.check()
    both.check_state()
    assert state_of(both.native)[0] == {}
