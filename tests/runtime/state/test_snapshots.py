"""Keyed state moves as bytes per key group: an operator that goes on from them gives what one gives that never
stopped."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Types
from penstock.datastream import (
    AggregateFunction,
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.keygroups import assign_to_key_group, subtask_of_key_group
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.interval_join import IntervalJoin
from penstock.runtime.operators.process import KeyedProcessOperator
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.sections import snapshot_of
from penstock.runtime.windows.assigners import (
    EventTimeSessionWindows,
    GlobalWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.runtime.windows.evictors import CountEvictor
from penstock.runtime.windows.functions import ApplyWindow, ReduceWindow
from penstock.runtime.windows.triggers import ContinuousEventTimeTrigger, CountTrigger, EventTimeTrigger, PurgingTrigger
from tests.effort import examples
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.snapshots import carry_over, restore, sections

KEY = KeyPartition(lambda element: element[0], Types.STRING())
EVENTS = st.lists(st.one_of(st.tuples(st.sampled_from("abcde"), st.integers(0, 50)), st.integers(0, 60)), max_size=40)


class Show:
    def apply(self, key, window, inputs):
        yield key, str(window), tuple(inputs)


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Everything:
    """All kinds of state, and a timer."""

    def open(self, context):
        self.value = context.get_state(ValueStateDescriptor("value", Types.INT()))
        self.list = context.get_list_state(ListStateDescriptor("list", Types.INT()))
        self.map = context.get_map_state(MapStateDescriptor("map", Types.INT(), Types.STRING()))
        self.largest = context.get_reducing_state(ReducingStateDescriptor("largest", max, Types.INT()))
        self.mean = context.get_aggregating_state(AggregatingStateDescriptor("mean", Mean()))

    def process_element(self, value, ctx):
        time = value[1]
        self.value.update(time)
        self.list.add(time)
        self.map.put(time % 3, str(time))
        self.largest.add(time)
        self.mean.add(time)
        ctx.timer_service().register_event_time_timer(time + 10)

    def on_timer(self, timestamp, ctx):
        kept = self.value.value(), tuple(self.list.get()), tuple(self.map.items()), self.largest.get(), self.mean.get()
        yield ctx.get_current_key(), timestamp, kept


class Pairs:
    def process_element(self, left, right, ctx):
        yield left, right


def windowed(assigner, trigger=None, evictor=None, function=None):
    function = function or ApplyWindow(Show())
    return WindowOperator(assigner, trigger or EventTimeTrigger(), evictor, function, 5, keyed=KEY)


OPERATORS = {
    "all kinds of state": KeyedProcessOperator(Everything(), keyed=KEY),
    "tumbling": windowed(TumblingEventTimeWindows(10)),
    "sliding, reduced": windowed(SlidingEventTimeWindows(10, 4), function=ReduceWindow(max)),
    "sessions": windowed(EventTimeSessionWindows(4)),
    "sessions, continuous": windowed(EventTimeSessionWindows(4), ContinuousEventTimeTrigger(7)),
    "counts": windowed(GlobalWindows(), PurgingTrigger(CountTrigger(3)), CountEvictor(2)),
    "interval join": IntervalJoin(Pairs(), -3, 4, keyed=KEY, second_keyed=KEY),
}


class Group:
    """Some subtasks of an operator."""

    def __init__(self, operator, parallelism):
        self.parts = [Alone(operator) for _ in range(parallelism)]
        self.two = isinstance(operator, IntervalJoin)
        self.inputs = (1, 2) if self.two else (0,)
        self.watermark = MIN_WATERMARK

    def play(self, events):
        for event in events:
            if isinstance(event, tuple):
                group = assign_to_key_group(event[0], 128, KeyHash(Types.STRING()))
                number = self.inputs[event[1] % len(self.inputs)]
                self.parts[group * len(self.parts) // 128].take(event, event[1], number)
            elif event > self.watermark:
                self.advance(event)

    def advance(self, watermark):
        self.watermark = watermark
        for part in self.parts:
            for number in self.inputs:
                part.watermark(watermark, number)

    def resume(self, watermark):
        """The time at which others left off; nothing fires, as its timers have fired."""
        self.watermark = watermark
        for part in self.parts:
            part.context.time.watermark = watermark

    def results(self):
        return sorted((value for part in self.parts for value, _ in part.results), key=repr)


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS.keys())
@settings(max_examples=examples(40))
@given(events=EVENTS, cut=st.integers(0, 40), before=st.integers(1, 3), after=st.integers(1, 3))
def test_going_on_from_a_snapshot_changes_nothing(operator, events, cut, before, after):
    whole = Group(operator, before)
    whole.play([*events, MAX_WATERMARK])
    first = Group(operator, before)
    first.play(events[:cut])
    contents = [snapshot_of(part.state) for part in first.parts]
    second = Group(operator, after)
    for index, part in enumerate(second.parts):
        groups = [g for g in range(128) if subtask_of_key_group(g, 128, after) == index]
        for content in contents:
            restore(part.state, content, range(groups[0], groups[-1] + 1))
        assert sections(part.state).keys() <= set(groups)
    second.resume(first.watermark)
    second.play([*events[cut:], MAX_WATERMARK])
    assert sorted([*first.results(), *second.results()], key=repr) == whole.results()


def test_a_snapshot_names_the_serializers_of_its_states():
    first, second = Alone(OPERATORS["all kinds of state"]), Alone(OPERATORS["tumbling"])
    first.take(("a", 1))
    carry_over(first.state, second.state)
    infos = second.state.infos.values()
    names = {info.name: [name.rpartition(".")[2] for name in info.serializers] for info in infos}
    assert names["value"] == ["IntSerializer"]
    assert names["map"] == ["IntSerializer", "StringSerializer"]


def test_operator_state_is_dealt_out_united_or_the_same_everywhere():
    parts = [OperatorState(), OperatorState()]
    for number, part in enumerate(parts):
        part.list("offsets").extend(range(10 * number, 10 * number + 3))
        part.list("names", union=True).append(number)
        part.broadcast("rules")["a"] = 1
    snapshots = [part.snapshot() for part in parts]
    restored = [OperatorState() for _ in range(3)]
    for index, part in enumerate(restored):
        part.restore(snapshots, 3, index)
    assert [part.list("offsets") for part in restored] == [[0, 1], [2, 10], [11, 12]]
    assert [part.list("names", union=True) for part in restored] == [[0, 1]] * 3
    assert [part.broadcast("rules") for part in restored] == [{"a": 1}] * 3
