"""Operators of all kinds for the tests of written state: what they are given, and how their state compares."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from penstock.common import Time, Types
from penstock.datastream import (
    AggregateFunction,
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.broadcast import BroadcastProcess
from penstock.runtime.operators.interval_join import IntervalJoin, _Buffer
from penstock.runtime.operators.process import KeyedProcessOperator
from penstock.runtime.operators.reduce import GroupedFold, GroupedReduce
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.state.timers import TimerQueue
from penstock.runtime.windows.assigners import (
    EventTimeSessionWindows,
    GlobalWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.runtime.windows.evictors import CountEvictor, Evictor, TimeEvictor, TimestampedValue
from penstock.runtime.windows.functions import AggregateWindow, ApplyWindow, ProcessWindow, ReduceWindow
from penstock.runtime.windows.triggers import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    EventTimeTrigger,
    PurgingTrigger,
    Trigger,
    TriggerResult,
)

KEY = KeyPartition(lambda element: element[0], Types.STRING())
ODD_KEY = KeyPartition(lambda element: element[0], None)
EVENTS = st.lists(st.one_of(st.tuples(st.sampled_from("abcde"), st.integers(0, 50)), st.integers(0, 60)), max_size=12)
STEPS = st.lists(EVENTS, min_size=1, max_size=6)


class Mutable(AggregateFunction):
    """Whose accumulator changes in place, also when it is read."""

    def create_accumulator(self):
        return [0]

    def add(self, value, accumulator):
        accumulator.append(value if isinstance(value, int) else value[1])
        return accumulator

    def get_result(self, accumulator):
        accumulator[0] += 1
        return list(accumulator)

    def merge(self, acc_a, acc_b):
        return [*acc_a, *acc_b]


class Everything:
    """All kinds of state, read and changed in all ways, and timers."""

    ttl = None

    def _of(self, descriptor):
        if self.ttl is not None:
            descriptor.enable_time_to_live(self.ttl)
        return descriptor

    def open(self, context):
        of = self._of
        self.value = context.get_state(of(ValueStateDescriptor("value", Types.INT())))
        self.object = context.get_state(of(ValueStateDescriptor("object")))
        self.list = context.get_list_state(of(ListStateDescriptor("list", Types.INT())))
        self.lists = context.get_list_state(of(ListStateDescriptor("lists")))
        self.map = context.get_map_state(of(MapStateDescriptor("map", Types.INT(), Types.STRING())))
        self.maps = context.get_map_state(of(MapStateDescriptor("maps", Types.INT(), None)))
        self.largest = context.get_reducing_state(of(ReducingStateDescriptor("largest", max, Types.INT())))
        self.mean = context.get_aggregating_state(of(AggregatingStateDescriptor("mean", Mutable())))

    def process_element(self, value, ctx):
        number = value[1]
        timers = ctx.timer_service()
        for bit, call in enumerate(self.calls(number)):
            if (number >> bit) % 3 == 0:
                call()
        timers.register_event_time_timer(number // 7 * 10)
        timers.delete_event_time_timer(number // 5 * 10)
        timers.register_processing_time_timer(number)
        return ()

    def calls(self, number):
        return (
            lambda: self.value.update(number),
            lambda: self.object.update([number]),
            self.change_in_place,
            lambda: self.list.add(number),
            lambda: self.lists.update([[number], [1]]),
            lambda: self.map.put(number % 3, str(number)),
            lambda: (self.map.remove(number % 3), self.value.value()),
            lambda: self.maps.put(number % 2, {number}),
            lambda: (self.largest.add(number), self.largest.get()),
            lambda: (self.mean.add(number), self.mean.get()),
            lambda: (self.value.clear(), self.list.clear(), self.map.clear()) if number % 4 == 0 else None,
        )

    def change_in_place(self):
        if self.object.value() is not None:
            self.object.value().append("more")
        for item in self.lists.get():
            item.append("more")
        for item in self.maps.values():
            item.add("more")
        for _, item in self.maps.items():
            item.add("and more")
        missing = self.maps.get(0)
        if missing is not None:
            missing.add("nothing")

    def on_timer(self, timestamp, ctx):
        self.list.add(timestamp)
        self.change_in_place()
        yield ctx.get_current_key(), timestamp, tuple(self.list.get()), ctx.time_domain()


class Mortal(Everything):
    ttl = StateTtlConfig.new_builder(Time.milliseconds(15)).build()


class Renewed(Everything):
    ttl = (
        StateTtlConfig.new_builder(Time.milliseconds(15))
        .update_ttl_on_read_and_write()
        .return_expired_if_not_cleaned_up()
        .build()
    )


class Show:
    def apply(self, key, window, inputs):
        yield key, str(window), tuple(map(str, inputs))


class Windowed:
    """With state of the window and of the key."""

    def process(self, key, context, elements):
        seen = context.window_state().get_list_state(ListStateDescriptor("seen", Types.INT()))
        total = context.global_state().get_state(ValueStateDescriptor("total", Types.INT()))
        seen.add_all([number for _, number in elements])
        total.update((total.value() or 0) + len(elements))
        yield key, str(context.window()), tuple(seen.get()), total.value()

    def clear(self, context):
        context.window_state().get_list_state(ListStateDescriptor("seen", Types.INT())).clear()


class Own(Trigger):
    """A trigger with state of all kinds that can merge."""

    LIST = ListStateDescriptor("own", Types.INT())

    def on_element(self, value, timestamp, window, context):
        state = context.get_partitioned_state(self.LIST)
        state.add(value[1])
        context.register_event_time_timer(window.max_timestamp())
        return TriggerResult.FIRE if len(list(state.get())) % 3 == 0 else TriggerResult.CONTINUE

    def on_event_time(self, time, window, context):
        return TriggerResult.FIRE

    def can_merge(self):
        return True

    def on_merge(self, window, context):
        context.merge_partitioned_state(self.LIST)

    def clear(self, window, context):
        context.get_partitioned_state(self.LIST).clear()


class Odd(Evictor):
    """Removes every other element, before and after."""

    def evict_before(self, elements, size, window, evictor_context):
        del elements[1::3]

    def evict_after(self, elements, size, window, evictor_context):
        del elements[::4]


class Pairs:
    def process_element(self, left, right, ctx):
        yield left, right


class Changing:
    """Changes the right one of a pair in place."""

    def process_element(self, left, right, ctx):
        if isinstance(right, list):
            right.append(left[1])
        yield left[1], len(right)


class Rules:
    """The broadcast side changes the state of all keys."""

    LIST = ListStateDescriptor("list", Types.INT())

    def open(self, context):
        self.list = context.get_list_state(self.LIST)

    def process_element(self, value, ctx):
        self.list.add(value[1])
        yield value

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state("rules").put(value[1] % 4, value)
        ctx.apply_to_keyed_state(self.LIST, lambda key, state: state.add(value[1]) if value[1] % 2 else state.clear())


def windowed(assigner, trigger=None, evictor=None, function=None, keyed=KEY):
    function = function or ApplyWindow(Show())
    return WindowOperator(assigner, trigger or EventTimeTrigger(), evictor, function, 5, keyed=keyed)


OPERATORS: dict[str, Any] = {
    "all kinds of state": KeyedProcessOperator(Everything(), keyed=KEY),
    "undeclared keys": KeyedProcessOperator(Everything(), keyed=ODD_KEY),
    "time to live": KeyedProcessOperator(Mortal(), keyed=KEY),
    "time to live, renewed": KeyedProcessOperator(Renewed(), keyed=KEY),
    "reduced": GroupedReduce(lambda one, other: (one[0], one[1] + other[1]), keyed=KEY),
    "folded": GroupedFold([0], lambda so_far, record: [*so_far, record[1]], keyed=KEY),
    "tumbling": windowed(TumblingEventTimeWindows(10)),
    "tumbling, aggregated": windowed(TumblingEventTimeWindows(10), CountTrigger(2), None, AggregateWindow(Mutable())),
    "sliding, reduced": windowed(SlidingEventTimeWindows(10, 4), function=ReduceWindow(max)),
    "state of windows": windowed(TumblingEventTimeWindows(20), CountTrigger(2), None, ProcessWindow(Windowed())),
    "sessions": windowed(EventTimeSessionWindows(4)),
    "sessions, aggregated": windowed(EventTimeSessionWindows(4), function=AggregateWindow(Mutable())),
    "sessions, continuous": windowed(EventTimeSessionWindows(4), ContinuousEventTimeTrigger(7)),
    "sessions, own trigger": windowed(EventTimeSessionWindows(4), Own()),
    "counts": windowed(GlobalWindows(), PurgingTrigger(CountTrigger(3)), CountEvictor(2)),
    "counts, one value": windowed(GlobalWindows(), CountTrigger(3), function=ReduceWindow(max)),
    "times evicted": windowed(GlobalWindows(), CountTrigger(2), TimeEvictor(9, True)),
    "deltas": windowed(GlobalWindows(), DeltaTrigger(3, lambda old, new: new[1] - old[1]), CountEvictor(3)),
    "own evictor": windowed(TumblingEventTimeWindows(30), CountTrigger(3), Odd()),
    "interval join": IntervalJoin(Pairs(), -3, 4, keyed=KEY, second_keyed=KEY),
    "interval join of lists": IntervalJoin(Changing(), -3, 4, keyed=KEY, second_keyed=KEY),
    "broadcast": BroadcastProcess(Rules(), ("rules",), keyed=KEY),
}


def play(alone: Any, operator: Any, events: list[Any]) -> None:
    """Records come in, watermarks, and the clock goes on."""
    two = isinstance(operator, (IntervalJoin, BroadcastProcess))
    for event in events:
        alone.wait_until(alone.now + 3)
        if isinstance(event, int):
            if event > alone.context.time.watermark:
                for number in (1, 2) if two else (0,):
                    alone.watermark(event, number)
            continue
        key, time = event
        if isinstance(operator, IntervalJoin) and isinstance(operator.f, Changing):
            event = [key, time]
        if getattr(operator, "keyed", None) is ODD_KEY:
            event = ({"a": 1, "b": 1.0, "c": True, "d": (1, "d")}.get(key, key), time)
        alone.take(event, time, 1 + time % 2 if two else 0)


def plain(value: Any) -> Any:
    """A value in a form that can be compared."""
    if isinstance(value, _Buffer):
        return {time: plain(values) for time, values in value.times.items()}, value.buckets
    if isinstance(value, TimestampedValue):
        return value.value, value.timestamp
    if isinstance(value, set):
        return set, sorted(value, key=repr)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return type(value)(map(plain, value)) if type(value) in (list, tuple) else value


def tables(keyed: Any) -> dict[Any, Any]:
    """All that is in tables, without the tables that are empty; keys by class, as 1, 1.0 and True are three."""
    result: dict[Any, Any] = {}
    for _, place, key, value in keyed.entries():
        result.setdefault(place, {})[type(key), key] = plain(value)
    return result


def timers(queue: TimerQueue) -> list[Any]:
    return [(timer.time, timer.slot, timer.key, timer.namespace, timer.index) for timer in queue]
