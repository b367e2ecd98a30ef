"""The functions of random programs, as a user would write them."""

from __future__ import annotations

from penstock.common import OutputTag, Time, Types
from penstock.datastream import (
    AsyncFunction,
    CoFlatMapFunction,
    CoMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ProcessFunction,
    ProcessJoinFunction,
    ValueStateDescriptor,
)
from penstock.datastream.state import StateTtlConfig

INT = Types.INT()
SIDE = OutputTag("side", INT)
RULES = MapStateDescriptor("rules", INT, Types.BOOLEAN())
LATEST = 10**9
"""The time of timers for the end of everything."""


class Halves(ProcessFunction):
    """Even records go on, odd ones go aside."""

    def process_element(self, value, ctx):
        yield (SIDE, value) if value % 2 else value


class Later(AsyncFunction):
    def __init__(self, amount):
        self.amount = amount

    async def async_invoke(self, value):
        return [value + self.amount]


class PlusAndTimes(CoMapFunction):
    def map1(self, value):
        return value + 1

    def map2(self, value):
        return value * 2


class Some(CoFlatMapFunction):
    def flat_map1(self, value):
        return [value] * (value % 3)

    def flat_map2(self, value):
        return [value, -value] if value % 2 else []


class Counting(KeyedProcessFunction):
    """The number of each record of its key. ``state``: name of the state."""

    def __init__(self, state="count"):
        self.state = state

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor(self.state, INT))

    def process_element(self, value, ctx):
        number = (self.count.value() or 0) + 1
        self.count.update(number)
        yield int(ctx.get_current_key()) * 1000 + number


class Lasting(Counting):
    """As it counts, and what it knows ends some day."""

    def open(self, runtime_context):
        descriptor = ValueStateDescriptor(self.state, INT)
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(100)).build())
        self.count = runtime_context.get_state(descriptor)


class Listing(KeyedProcessFunction):
    """How many records of its key have come, kept as a list of them."""

    def open(self, runtime_context):
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", INT))

    def process_element(self, value, ctx):
        self.items.add(value)
        yield ctx.get_current_key() * 1000 + sum(1 for _ in self.items.get())


class First(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", INT, Types.BOOLEAN()))

    def process_element(self, value, ctx):
        if not self.seen.contains(value):
            self.seen.put(value, True)
            yield value


class Alarm(KeyedProcessFunction):
    """Of each time of a key one record, from a timer: the key times ``factor``, and the time, of which ``digits``."""

    def __init__(self, delay, factor=1000, digits=LATEST):
        self.delay, self.factor, self.digits = delay, factor, digits

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + self.delay)
        yield from ()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key() * self.factor + timestamp % self.digits


class AlarmOfBoth(KeyedCoProcessFunction):
    """Of each record of either input a timer; of each timer of a key a record."""

    __init__, on_timer = Alarm.__init__, Alarm.on_timer
    process_element1 = process_element2 = Alarm.process_element


class Both(KeyedCoProcessFunction):
    """The number of each record of its key and side."""

    def open(self, runtime_context):
        self.counts = [runtime_context.get_state(ValueStateDescriptor(name, INT)) for name in ("left", "right")]

    def process_element1(self, value, ctx):
        yield ctx.get_current_key() * 1000 + self.number(0)

    def process_element2(self, value, ctx):
        yield -ctx.get_current_key() * 1000 - self.number(1)

    def number(self, side):
        number = (self.counts[side].value() or 0) + 1
        self.counts[side].update(number)
        return number


class Rules(KeyedBroadcastProcessFunction):
    """When everything has come, how many rules there are, by key."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(LATEST)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value, True)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key() * 1000 + sum(1 for _ in ctx.get_broadcast_state(RULES).items())


class Near(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield left + 2 * right
