"""Operators of programs that are edited between two runs, each twice: as a user would write it, and as what it computes
of the state that it has taken over, in plain Python.

Values are ints, and the time of a record is always that of its value (:func:`when`); no watermark comes before the end
of the sources, so that nothing is late whenever a program is stopped. What an operator emits does not depend on the
order of arrival: the plain computation has bags.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.common import OutputTag, Time, Types
from penstock.datastream import (
    AsyncDataStream,
    AsyncFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapStateDescriptor,
    ProcessFunction,
    ValueStateDescriptor,
)
from penstock.datastream.window import TumblingEventTimeWindows
from tests.datastream.random_streams import LATEST, Near, stamp, when

INT, PAIR = Types.INT(), Types.TUPLE([Types.INT(), Types.INT()])
SIDE = OutputTag("side", INT)
RULES = MapStateDescriptor("rules", INT, Types.BOOLEAN())
BATCH = 3
"""Records of a batch."""

Bag = Counter[int]
"""A stream's records."""
Seen = Counter[Any]
"""What an operator's state has of its input."""


# --- functions --------------------------------------------------------------------------------------------------------


class Counting(KeyedProcessFunction):
    """The number of each record of its key. ``state``: name of the state."""

    def __init__(self, state="count"):
        self.state = state

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor(self.state, INT))

    def process_element(self, value, ctx):
        number = (self.count.value() or 0) + 1
        self.count.update(number)
        yield ctx.get_current_key() * 1000 + number


class First(KeyedProcessFunction):
    """Each value of a key once."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", INT, Types.BOOLEAN()))

    def process_element(self, value, ctx):
        if not self.seen.contains(value):
            self.seen.put(value, True)
            yield value


class Alarm(KeyedProcessFunction):
    """Of each time of a key one record, from a timer."""

    def __init__(self, delay):
        self.delay = delay

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + self.delay)
        yield from ()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key() * 1000 + timestamp


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


class Halves(ProcessFunction):
    """Even records go on, odd ones go aside."""

    def process_element(self, value, ctx):
        yield (SIDE, value) if value % 2 else value


class Later(AsyncFunction):
    def __init__(self, amount):
        self.amount = amount

    async def async_invoke(self, value):
        return [value + self.amount]


# --- as streams -------------------------------------------------------------------------------------------------------


def key(amount: int) -> Callable[[int], int]:
    """Which key a value has: 0 … amount − 1."""
    return lambda value: value % amount


def keyed(stream: Any, amount: int) -> Any:
    """A stream by key."""
    return stream.key_by(key(amount), INT)


def _batches(stream: Any, amount: int) -> Any:
    pairs = stream.map(lambda value: (value % amount, 1), PAIR)
    return pairs.key_by(lambda pair: pair[0], INT).count_window(BATCH).reduce(lambda a, b: (a[0], a[1] + b[1]))


def _near(one: Any, other: Any, amount: int) -> Any:
    left, right = keyed(stamp(one), amount), keyed(stamp(other), amount)
    return left.interval_join(right).between(Time.milliseconds(-amount), Time.milliseconds(amount)).process(Near(), INT)


# --- as bags ----------------------------------------------------------------------------------------------------------


def numbers(seen: Seen) -> Bag:
    """The numbers of all records, by key."""
    counts: Counter[int] = Counter()
    for at, number in seen.items():
        counts[at] += number
    return Counter(at * 1000 + i for at, total in counts.items() for i in range(1, total + 1))


def _both(seen: Seen) -> Bag:
    left, right = (numbers(Counter({at: n for (s, at), n in seen.items() if s == side})) for side in (0, 1))
    return left + Counter({-value: number for value, number in right.items()})


def windows(seen: Seen) -> Bag:
    """The sums of windows."""
    sums: dict[tuple[int, Any], int] = defaultdict(int)
    for (at, value, window), number in seen.items():
        sums[at, window] += value * number
    return Counter(sums.values())


def _pairs(seen: Seen, amount: int) -> Bag:
    result: Bag = Counter()
    left = [(at, value, number) for (side, at, value), number in seen.items() if side == 0]
    right = [(at, value, number) for (side, at, value), number in seen.items() if side == 1]
    for at, value, number in left:
        for other, second, copies in right:
            if at == other and abs(when(value) - when(second)) <= amount:
                result[value + 2 * second] += number * copies
    return result


def _rule_counts(timers: Seen, rules: Seen) -> Bag:
    return Counter(at * 1000 + len(rules) for at, _ in timers)


@dataclass(frozen=True)
class Kind:
    """A kind of operator.

    Attributes:
        inputs: how many streams it reads.
        build: the operator on them, and its amount; the last operator that it makes is the one that has the state.
        each: of one without state: the values that it makes of a value.
        holds: its states by name; of several, that of each input. An operator finds what another one has left by them.
        absorb: what state has of a value of an input.
        spread: the same where that is several things.
        sooner, later: all that it has emitted before, and when the sources have ended, of what its states have.
        left: whether there is anything in a state that has seen this; what was in it can be gone.
    """

    inputs: int
    build: Callable[..., Any]
    each: Callable[[int, int], Iterable[int]] | None = None
    holds: tuple[str, ...] = ()
    absorb: Callable[[int, int, int], Any] = lambda side, value, amount: value % amount
    sooner: Callable[..., Bag] = lambda *_: Counter()
    later: Callable[..., Bag] | None = None
    left: Callable[[Seen], bool] = bool
    spread: Callable[[int, int, int], Iterable[Any]] | None = None

    def emitted(self, seen: Mapping[str, Seen], amount: int, *, last: bool) -> Bag:
        """All that an operator with these states has emitted, by the end of a run."""
        what = self.later if last and self.later is not None else self.sooner
        return what(*(seen.get(state, Counter()) for state in self.holds), amount)

    def take(self, seen: Mapping[str, Seen], inputs: Sequence[Bag], amount: int) -> dict[str, Seen]:
        """The states when the inputs have come."""
        result = {state: Counter(each) for state, each in seen.items()}
        for side, bag in enumerate(inputs):
            own: Seen = result.setdefault(self.holds[side if len(self.holds) > 1 else 0], Counter())
            for value, number in bag.items():
                spread = self.spread(side, value, amount) if self.spread else [self.absorb(side, value, amount)]
                for part in spread:
                    own[part] += number
        return result

    def plain(self, inputs: Sequence[Bag], amount: int) -> Bag:
        """What one without state makes of its inputs."""
        assert self.each is not None
        result: Bag = Counter()
        for bag in inputs:
            for value, number in bag.items():
                for made in self.each(value, amount):
                    result[made] += number
        return result


def _counting(state: str) -> Kind:
    return Kind(
        1,
        lambda one, amount: keyed(one, amount).process(Counting(state), INT),
        holds=(state,),
        sooner=lambda seen, amount: numbers(seen),
    )


def _windows_of(size: int) -> Kind:
    """Sums of windows of a size."""

    def build(stream: Any, amount: int) -> Any:
        pairs = stamp(stream).map(lambda value: (value % amount, value), PAIR)
        windowed = pairs.key_by(lambda pair: pair[0], INT).window(TumblingEventTimeWindows.of(Time.milliseconds(size)))
        return windowed.reduce(lambda a, b: (a[0], a[1] + b[1]))

    return Kind(
        1,
        build,
        holds=("window-contents",),
        absorb=lambda side, value, amount: (value % amount, value, (when(value) // size * size, size)),
        later=lambda seen, amount: windows(seen),
    )


def _loop(stream: Any, amount: int) -> Any:
    loop = stream.iterate()
    less = loop.map(lambda value: value - 10 * amount, INT)
    again = less.filter(lambda value: value > 0)
    loop.close_with(again.set_parallelism(stream.transformation.parallelism))  # head and tail run in pairs
    return less


def _rounds(value: int, amount: int) -> list[int]:
    """What a value becomes, round by round."""
    result = [value - 10 * amount]
    while result[-1] > 0:
        result.append(result[-1] - 10 * amount)
    return result


KINDS: dict[str, Kind] = {
    "map": Kind(1, lambda one, amount: one.map(lambda value: value + amount, INT), lambda v, a: [v + a]),
    "keep": Kind(1, lambda one, a: one.filter(lambda v: v % (a + 1) != 0), lambda v, a: [v] if v % (a + 1) else []),
    "twice": Kind(1, lambda one, amount: one.flat_map(lambda value: [value, value], INT), lambda v, a: [v, v]),
    "shift": Kind(1, lambda one, amount: one.rebalance().map(lambda v: v + amount, INT), lambda v, a: [v + a]),
    "later": Kind(
        1,
        lambda one, amount: AsyncDataStream.unordered_wait(one, Later(amount), Time.seconds(60), 5, INT),
        lambda v, a: [v + a],
    ),
    "loop": Kind(1, _loop, _rounds),
    "split": Kind(1, lambda one, amount: one.process(Halves(), INT), lambda v, a: [] if v % 2 else [v]),
    "side": Kind(1, lambda one, amount: one.get_side_output(SIDE), lambda v, a: [v] if v % 2 else []),
    "union": Kind(2, lambda one, other, amount: one.union(other), lambda v, a: [v]),
    "count": _counting("count"),
    "tally": _counting("tally"),
    "sum": Kind(
        1,
        lambda one, amount: one.map(lambda v: (v % amount, 1), PAIR).key_by(lambda pair: pair[0], INT).sum(1),
        holds=("_op_state",),
        sooner=lambda seen, amount: numbers(seen),
    ),
    "first": Kind(
        1,
        lambda one, amount: keyed(one, amount).process(First(), INT),
        holds=("seen",),
        absorb=lambda side, value, amount: (value % amount, value),
        sooner=lambda seen, amount: Counter(value for _, value in seen),
    ),
    "alarm": Kind(
        1,
        lambda one, amount: keyed(stamp(one), amount).process(Alarm(amount), INT),
        holds=("user-timers",),
        absorb=lambda side, value, amount: (value % amount, when(value) + amount),
        later=lambda seen, amount: Counter(at * 1000 + time for at, time in seen),
    ),
    "window": _windows_of(10),
    "wide": _windows_of(20),
    "batches": Kind(
        1,
        _batches,
        holds=("count window",),
        sooner=lambda seen, amount: Counter({at * 1000 + BATCH: n // BATCH for at, n in seen.items() if n >= BATCH}),
        left=lambda seen: any(n % BATCH for n in seen.values()),
    ),
    "both": Kind(
        2,
        lambda one, other, a: one.connect(other).key_by(key(a), key(a), INT).process(Both(), INT),
        holds=("left, right",),
        absorb=lambda side, value, amount: (side, value % amount),
        sooner=lambda seen, amount: _both(seen),
    ),
    "near": Kind(
        2,
        _near,
        holds=("buffers",),
        absorb=lambda side, value, amount: (side, value % amount, value),
        sooner=_pairs,
    ),
    "rules": Kind(
        2,
        lambda one, other, a: keyed(stamp(one), a).connect(stamp(other).broadcast(RULES)).process(Rules(), INT),
        holds=("user-timers", "rules"),
        absorb=lambda side, value, amount: value if side else (value % amount, LATEST),
        later=lambda timers, rules, amount: _rule_counts(timers, rules),
    ),
}
"""Operators by kind."""

AFTER: dict[str, Callable[[Any], int]] = {
    "sum": lambda pair: pair[0] * 1000 + pair[1],
    "window": lambda pair: pair[1],
    "wide": lambda pair: pair[1],
    "batches": lambda pair: pair[0] * 1000 + pair[1],
}
"""What is made of the records of those whose own are no ints."""
