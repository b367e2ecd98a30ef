"""Steps of random programs, each twice: as a user would write it, and as what it computes, in plain Python.

A stream of a program is there a :class:`DataStream`, here a *bag*: the multiset of its (value, timestamp). Values are
ints. No record is ever late, so what windows and timers give does not depend on the order of arrival either.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from penstock.common import OutputTag, Time, Types, WatermarkGenerator, WatermarkStrategy
from penstock.datastream import (
    CoFlatMapFunction,
    CoMapFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    MapStateDescriptor,
    ProcessFunction,
    ProcessJoinFunction,
)
from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows

INT, PAIR = Types.INT(), Types.TUPLE([Types.INT(), Types.INT()])
TAG = OutputTag("rest", INT)
RULES = MapStateDescriptor("rules")
SPAN = 60
LATEST = 10**9

Bag = Counter[tuple[int, int]]
"""A stream's records: how often each (value, timestamp) occurs."""


@dataclass(frozen=True)
class Step:
    """One step of a random program.

    Attributes:
        kind: a name in :data:`KINDS`.
        inputs: which earlier streams it reads, as fractions of their number.
        amount: a small number that the step works with, from 1.
        parallelism: of its operators.
    """

    kind: str
    inputs: tuple[int, int]
    amount: int
    parallelism: int


def when(value: int, _: Any = None) -> int:
    """The time of a value where it is given one: from 0 to 59."""
    return abs(value) * 7 % SPAN


class Behind(WatermarkGenerator):
    """Follows the largest time at a distance at which nothing is late."""

    def on_event(self, event, event_timestamp, output):
        output.emit_watermark(event_timestamp - SPAN)

    def on_periodic_emit(self, output):
        pass


def stamp(stream: DataStream) -> DataStream:
    """Give records the time of their value."""
    strategy = WatermarkStrategy.for_generator(Behind).with_timestamp_assigner(when)
    return stream.assign_timestamps_and_watermarks(strategy)


def stamped(values: Iterable[int]) -> Bag:
    return Counter((value, when(value)) for value in values)


def each(bag: Bag, function: Callable[[int], Iterable[int]], copies: int = 1) -> Bag:
    """Apply a function from value to values."""
    result: Bag = Counter()
    for (value, time), number in bag.items():
        for made in function(value):
            result[made, time] += number * copies
    return result


# --- functions --------------------------------------------------------------------------------------------------------


class Split(ProcessFunction):
    """Even records go on, odd ones go aside."""

    def process_element(self, value, ctx):
        yield (TAG, value) if value % 2 else value


class Both(CoMapFunction):
    def map1(self, value):
        return value + 1

    def map2(self, value):
        return value * 2


class Some(CoFlatMapFunction):
    def flat_map1(self, value):
        return [value] * (value % 3)

    def flat_map2(self, value):
        return [value, -value] if value % 2 else []


class Alarm(KeyedCoProcessFunction):
    """Of each record of either input a timer; of each timer of a key a record."""

    def __init__(self, delay):
        self.delay = delay

    def process_element1(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + self.delay)

    process_element2 = process_element1

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key() * 10 + timestamp % 10


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


# --- steps as programs ------------------------------------------------------------------------------------------------


def by(amount: int) -> Callable[[int], int]:
    return lambda value: value % amount


def _map(partitioner: str) -> Callable[..., list[Any]]:
    def build(one: Any, other: Any, step: Step) -> list[Any]:
        stream = one
        if partitioner == "custom":
            stream = one.partition_custom(lambda key, n: key % n, lambda value: value)
        elif partitioner:
            stream = getattr(one, partitioner)()
        return [stream.map(lambda value: value + step.amount, INT).set_parallelism(step.parallelism)]

    return build


def _keep(one: Any, other: Any, step: Step) -> list[Any]:
    return [one.filter(lambda value: value % (step.amount + 1) != 0).set_parallelism(step.parallelism)]


def _repeat(one: Any, other: Any, step: Step) -> list[Any]:
    made = one.flat_map(lambda value: [value] * (abs(value) % step.amount), INT)
    return [made.set_parallelism(step.parallelism)]


def _split(one: Any, other: Any, step: Step) -> list[Any]:
    made = one.process(Split(), INT).set_parallelism(step.parallelism)
    return [made, made.get_side_output(TAG)]


def _count(one: Any, other: Any, step: Step) -> list[Any]:
    ones = one.map(lambda value: (value % step.amount, 1), PAIR)
    counted = ones.key_by(0).sum(1).set_parallelism(step.parallelism)
    return [stamp(counted.map(lambda pair: pair[0] * 1000 + pair[1], INT).set_parallelism(step.parallelism))]


def _window(assigner: Callable[[int], Any]) -> Callable[..., list[Any]]:
    def build(one: Any, other: Any, step: Step) -> list[Any]:
        if assigner is _session:  # windows that merely touch merge, unless the watermark has come between them
            one = stamp(one)
        pairs = one.map(lambda value: (value % step.amount, value), PAIR)
        windowed = pairs.key_by(lambda pair: pair[0], INT).window(assigner(step.amount))
        summed = windowed.reduce(lambda a, b: (a[0], a[1] + b[1])).set_parallelism(step.parallelism)
        return [summed.map(lambda pair: pair[1] % 1000, INT).set_parallelism(step.parallelism)]

    return build


def _window_all(one: Any, other: Any, step: Step) -> list[Any]:
    windowed = one.map(lambda value: 1, INT).window_all(_tumbling(step.amount))
    return [windowed.reduce(lambda a, b: a + b)]


def _connect(function: type, call: str) -> Callable[..., list[Any]]:
    def build(one: Any, other: Any, step: Step) -> list[Any]:
        return [getattr(one.connect(other), call)(function(), INT).set_parallelism(step.parallelism)]

    return build


def _alarm(one: Any, other: Any, step: Step) -> list[Any]:
    keyed = one.connect(other).key_by(by(step.amount), by(step.amount), INT)
    return [keyed.process(Alarm(step.amount), INT).set_parallelism(step.parallelism)]


def _rules(one: Any, other: Any, step: Step) -> list[Any]:
    keyed = one.key_by(by(step.amount), INT).connect(other.broadcast(RULES))
    return [stamp(keyed.process(Rules(), INT).set_parallelism(step.parallelism))]


def _join(one: Any, other: Any, step: Step) -> list[Any]:
    joined = one.join(other).where(by(step.amount), INT).equal_to(by(step.amount), INT)
    made = joined.window(_tumbling(step.amount)).with_(lambda left, right: (left + 3 * right) % 1000, INT)
    return [made.set_parallelism(step.parallelism)]


def _near(one: Any, other: Any, step: Step) -> list[Any]:
    left, right = one.key_by(by(step.amount), INT), other.key_by(by(step.amount), INT)
    made = left.interval_join(right).between(-step.amount, step.amount).process(Near(), INT)
    return [made.set_parallelism(step.parallelism)]


def _tumbling(amount: int) -> Any:
    return TumblingEventTimeWindows.of(Time.milliseconds(5 * amount))


def _sliding(amount: int) -> Any:
    return SlidingEventTimeWindows.of(Time.milliseconds(5 * amount), Time.milliseconds(5))


def _session(amount: int) -> Any:
    return EventTimeSessionWindows.with_gap(Time.milliseconds(amount))


# --- the same steps over bags -----------------------------------------------------------------------------------------


def _tumbling_of(time: int, amount: int) -> list[int]:
    """The start of the window a time is in."""
    return [time - time % (5 * amount)]


def _sliding_of(time: int, amount: int) -> list[int]:
    """Starts of the windows a time is in: multiples of 5, at most one size before."""
    return list(range(time - time % 5, time - 5 * amount, -5))


def _sums(windows_of: Callable[[int, int], list[int]]) -> Callable[..., list[Bag]]:
    def compute(one: Bag, other: Bag, step: Step) -> list[Bag]:
        sums: dict[tuple[int, int], int] = defaultdict(int)
        for (value, time), number in one.items():
            for start in windows_of(time, step.amount):
                sums[value % step.amount, start] += value * number
        return [Counter((total % 1000, start + 5 * step.amount - 1) for (_, start), total in sums.items())]

    return compute


def _session_sums(one: Bag, other: Bag, step: Step) -> list[Bag]:
    result: Bag = Counter()
    for key in range(step.amount):
        records = sorted((when(value), value) for value, _ in one.elements() if value % step.amount == key)
        total = 0
        for (time, value), following in itertools.zip_longest(records, records[1:]):
            total += value
            if following is None or following[0] > time + step.amount:
                result[total % 1000, time + step.amount - 1] += 1
                total = 0
    return [result]


def _window_all_counts(one: Bag, other: Bag, step: Step) -> list[Bag]:
    counts: dict[int, int] = defaultdict(int)
    for (_, time), number in one.items():
        counts[_tumbling_of(time, step.amount)[0]] += number
    return [Counter((count, start + 5 * step.amount - 1) for start, count in counts.items())]


def _counts(one: Bag, other: Bag, step: Step) -> list[Bag]:
    totals: Counter[int] = Counter()
    for (value, _), number in one.items():
        totals[value % step.amount] += number
    return [stamped(key * 1000 + i for key, total in totals.items() for i in range(1, total + 1))]


def _alarms(one: Bag, other: Bag, step: Step) -> list[Bag]:
    timers = {(value % step.amount, time + step.amount) for bag in (one, other) for value, time in bag}
    return [Counter((key * 10 + time % 10, time) for key, time in timers)]


def _rule_counts(one: Bag, other: Bag, step: Step) -> list[Bag]:
    rules = len({value for value, _ in other})
    return [stamped(key * 1000 + rules for key in {value % step.amount for value, _ in one})]


def _pairs(one: Bag, other: Bag) -> Iterable[tuple[int, int, int, int, int]]:
    for (left, time), number in one.items():
        for (right, second), copies in other.items():
            yield left, time, right, second, number * copies


def _joined(one: Bag, other: Bag, step: Step) -> list[Bag]:
    result: Bag = Counter()
    for left, time, right, second, number in _pairs(one, other):
        (start,), (other_start,) = _tumbling_of(time, step.amount), _tumbling_of(second, step.amount)
        if left % step.amount == right % step.amount and start == other_start:
            result[(left + 3 * right) % 1000, start + 5 * step.amount - 1] += number
    return [result]


def _nears(one: Bag, other: Bag, step: Step) -> list[Bag]:
    result: Bag = Counter()
    for left, time, right, second, number in _pairs(one, other):
        if left % step.amount == right % step.amount and abs(second - time) <= step.amount:
            result[left + 2 * right, max(time, second)] += number
    return [result]


def _halves(one: Bag, other: Bag, step: Step) -> list[Bag]:
    odd = each(one, lambda value: [value] if value % 2 else [])
    return [one - odd, odd]


def _added(one: Bag, other: Bag, step: Step) -> list[Bag]:
    return [each(one, lambda value: [value + step.amount])]


KINDS: dict[str, tuple[Callable[..., list[Any]], Callable[..., list[Bag]]]] = {
    **{kind: (_map(kind), _added) for kind in ("", "rebalance", "rescale", "shuffle", "global_", "custom")},
    "broadcast": (_map("broadcast"), lambda a, _, s: [each(a, lambda v: [v + s.amount], s.parallelism)]),
    "keep": (_keep, lambda a, _, s: [each(a, lambda v: [v] if v % (s.amount + 1) else [])]),
    "repeat": (_repeat, lambda a, _, s: [each(a, lambda v: [v] * (abs(v) % s.amount))]),
    "union": (lambda a, b, _: [a.union(b)], lambda a, b, _: [a + b]),
    "split": (_split, _halves),
    "count": (_count, _counts),
    "tumbling": (_window(_tumbling), _sums(_tumbling_of)),
    "sliding": (_window(_sliding), _sums(_sliding_of)),
    "session": (_window(_session), _session_sums),
    "window all": (_window_all, _window_all_counts),
    "co map": (_connect(Both, "map"), lambda a, b, _: [each(a, lambda v: [v + 1]) + each(b, lambda v: [v * 2])]),
    "co flat map": (
        _connect(Some, "flat_map"),
        lambda a, b, _: [each(a, lambda v: [v] * (v % 3)) + each(b, lambda v: [v, -v] if v % 2 else [])],
    ),
    "alarm": (_alarm, _alarms),
    "rules": (_rules, _rule_counts),
    "join": (_join, _joined),
    "near": (_near, _nears),
}
"""Steps by kind: what builds them on streams, and what computes them on bags."""
