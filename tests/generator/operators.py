"""The operators of random programs, each twice: as a user would write it, and as what it computes, in plain Python."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.common import Time, Types, WatermarkGenerator, WatermarkStrategy
from penstock.datastream import AsyncDataStream, DataStream
from penstock.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from tests.generator.functions import (
    INT,
    LATEST,
    RULES,
    SIDE,
    Alarm,
    AlarmOfBoth,
    Both,
    Counting,
    First,
    Halves,
    Lasting,
    Later,
    Listing,
    Near,
    PlusAndTimes,
    Rules,
    Some,
)

PAIR = Types.TUPLE([INT, INT])
SPAN = 60
"""Times are below it."""
BATCH, GAP, SIZE, SLIDE, EACH = 3, 4, 20, 10, 2
"""Records of a batch; gap of sessions; sliding windows; records after which a trigger fires."""
TEXT = "text count"
"""A state whose keys are texts."""

Bag = Counter[int]
"""A stream's records."""
TimedBag = Counter[tuple[int, int]]
"""A stream's records: how often each (value, timestamp) occurs."""
Seen = Counter[Any]
"""What an operator's state has of its input."""


def when(value: int, _: Any = None) -> int:
    """The time of a value where it is given one."""
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


def stamped(values: Iterable[int]) -> TimedBag:
    return Counter((value, when(value)) for value in values)


# --- as streams -------------------------------------------------------------------------------------------------------


def key(amount: int) -> Callable[[int], int]:
    """Which key a value has: 0 … amount − 1."""
    return lambda value: value % amount


def keyed(stream: Any, amount: int) -> Any:
    return stream.key_by(key(amount), INT)


def _pairs(stream: Any, amount: int, value: Callable[[int], int]) -> Any:
    return stream.map(lambda number: (number % amount, value(number)), PAIR).key_by(lambda pair: pair[0], INT)


def _added(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0], one[1] + other[1]


def _itself(value: int) -> int:
    return value


def _one(value: int) -> int:
    return 1


def _windows(assigner: Callable[[int], Any], value: Any = _itself, trigger: Any = None, stamps: bool = True) -> Any:
    def build(stream: Any, amount: int) -> Any:
        windowed = _pairs(stamp(stream) if stamps else stream, amount, value).window(assigner(amount))
        return (windowed if trigger is None else windowed.trigger(trigger)).reduce(_added)

    return build


def _tumbling(size: int) -> Any:
    return TumblingEventTimeWindows.of(Time.milliseconds(size))


def _sliding(size: int, slide: int) -> Any:
    return SlidingEventTimeWindows.of(Time.milliseconds(size), Time.milliseconds(slide))


def _session(gap: int) -> Any:
    return EventTimeSessionWindows.with_gap(Time.milliseconds(gap))


def _near(one: Any, other: Any, amount: int) -> Any:
    joined = keyed(one, amount).interval_join(keyed(other, amount))
    return joined.between(Time.milliseconds(-amount), Time.milliseconds(amount)).process(Near(), INT)


def _rules(one: Any, other: Any, amount: int) -> Any:
    return keyed(one, amount).connect(other.broadcast(RULES)).process(Rules(), INT)


def _join(one: Any, other: Any, amount: int) -> Any:
    joined = one.join(other).where(key(amount), INT).equal_to(key(amount), INT)
    return joined.window(_tumbling(5 * amount)).with_(lambda left, right: (left + 3 * right) % 1000, INT)


def _running(stream: Any, amount: int) -> Any:
    counted = stream.map(lambda value: (value % amount, 1), PAIR).key_by(0).sum(1)
    return stamp(counted.map(lambda pair: pair[0] * 1000 + pair[1], INT))


def _loop(stream: Any, amount: int) -> Any:
    loop = stream.iterate()
    less = loop.map(lambda value: value - 10 * amount, INT)
    again = less.filter(lambda value: value > 0)
    loop.close_with(again.set_parallelism(stream.transformation.parallelism))  # head and tail run in pairs
    return less


def _partitioned(partitioner: str) -> Callable[[Any, int], Any]:
    def build(stream: Any, amount: int) -> Any:
        if partitioner == "custom":
            stream = stream.partition_custom(lambda key, n: key % n, lambda value: value)
        elif partitioner:
            stream = getattr(stream, partitioner)()
        return stream.map(lambda value: value + amount, INT)

    return build


# --- states, and what is emitted of them ------------------------------------------------------------------------------


def _numbers(seen: Seen, amount: int = 0) -> Bag:
    """The numbers of all records, by key."""
    counts: Counter[int] = Counter()
    for at, number in seen.items():
        counts[at] += number
    return Counter(at * 1000 + i for at, total in counts.items() for i in range(1, total + 1))


def _numbers_of_both(seen: Seen, amount: int) -> Bag:
    left, right = (_numbers(Counter({at: n for (s, at), n in seen.items() if s == side})) for side in (0, 1))
    return left + Counter({-value: number for value, number in right.items()})


def _window_sums(seen: Seen, amount: int) -> Bag:
    sums: dict[tuple[int, Any], int] = defaultdict(int)
    for (at, value, window), number in seen.items():
        sums[at, window] += value * number
    return Counter(sums.values())


def _near_pairs(seen: Seen, amount: int) -> Bag:
    result: Bag = Counter()
    left = [(at, value, number) for (side, at, value), number in seen.items() if side == 0]
    right = [(at, value, number) for (side, at, value), number in seen.items() if side == 1]
    for at, value, number in left:
        for other, second, copies in right:
            if at == other and abs(when(value) - when(second)) <= amount:
                result[value + 2 * second] += number * copies
    return result


def _slid(side: int, value: int, amount: int) -> Iterator[Any]:
    last = when(value) // SLIDE * SLIDE
    return ((value % amount, value, (start, SIZE)) for start in range(last, last - SIZE, -SLIDE))


def _session_totals(seen: Seen, amount: int) -> Bag:
    sums: Bag = Counter()
    key = last = total = None
    for at, time, value in sorted(seen):
        if total is not None and at == key and time <= last + GAP:
            total += value * seen[at, time, value]
        else:
            sums.update(() if total is None else (total,))
            total = value * seen[at, time, value]
        key, last = at, time
    sums.update(() if total is None else (total,))
    return sums


def _fired(seen: Seen, amount: int) -> Bag:
    """What a trigger that counts has had windows say."""
    result: Bag = Counter()
    for (at, _), number in seen.items():
        result.update(at * 1000 + count for count in range(EACH, number + 1, EACH))
    return result


# --- records with their times -----------------------------------------------------------------------------------------


def _flat_mapped(bag: TimedBag, function: Callable[[int], Iterable[int]]) -> TimedBag:
    result: TimedBag = Counter()
    for (value, time), number in bag.items():
        for output in function(value):
            result[output, time] += number
    return result


def _sums(starts_of: Callable[[int, int], Iterable[int]]) -> Callable[..., TimedBag]:
    def compute(one: TimedBag, amount: int) -> TimedBag:
        sums: dict[tuple[int, int], int] = defaultdict(int)
        for (value, time), number in one.items():
            for start in starts_of(time, 5 * amount):
                sums[value % amount, start] += value * number
        return Counter((total % 1000, start + 5 * amount - 1) for (_, start), total in sums.items())

    return compute


def _session_sums(one: TimedBag, amount: int) -> TimedBag:
    result: TimedBag = Counter()
    for at in range(amount):
        records = sorted((when(value), value) for value, _ in one.elements() if value % amount == at)
        total = 0
        for (time, value), following in itertools.zip_longest(records, records[1:]):
            total += value
            if following is None or following[0] > time + amount:
                result[total % 1000, time + amount - 1] += 1
                total = 0
    return result


def _counts_of_all(one: TimedBag, amount: int) -> TimedBag:
    counts: dict[int, int] = defaultdict(int)
    for (_, time), number in one.items():
        counts[time - time % (5 * amount)] += number
    return Counter((count, start + 5 * amount - 1) for start, count in counts.items())


def _running_counts(one: TimedBag, amount: int) -> TimedBag:
    return stamped(_numbers(Counter(value % amount for value, _ in one.elements())).elements())


def _alarms(one: TimedBag, other: TimedBag, amount: int) -> TimedBag:
    timers = {(value % amount, time + amount) for bag in (one, other) for value, time in bag}
    return Counter((at * 10 + time % 10, time) for at, time in timers)


def _rule_counts(one: TimedBag, other: TimedBag, amount: int) -> TimedBag:
    rules = len({value for value, _ in other})
    return stamped(at * 1000 + rules for at in {value % amount for value, _ in one})


def _of_pairs(one: TimedBag, other: TimedBag, amount: int) -> Iterable[tuple[int, int, int, int, int]]:
    for (left, time), number in one.items():
        for (right, second), copies in other.items():
            if left % amount == right % amount:
                yield left, time, right, second, number * copies


def _joined(one: TimedBag, other: TimedBag, amount: int) -> TimedBag:
    result: TimedBag = Counter()
    for left, time, right, second, number in _of_pairs(one, other, amount):
        if time // (5 * amount) == second // (5 * amount):
            result[(left + 3 * right) % 1000, time - time % (5 * amount) + 5 * amount - 1] += number
    return result


def _nears(one: TimedBag, other: TimedBag, amount: int) -> TimedBag:
    result: TimedBag = Counter()
    for left, time, right, second, number in _of_pairs(one, other, amount):
        if abs(second - time) <= amount:
            result[left + 2 * right, max(time, second)] += number
    return result


# --- all of them ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """What builds an operator, and what it computes: by ``flat_map`` of each value, by its states, or with ``time``."""

    inputs: int
    build: Callable[..., Any]
    flat_map: Callable[..., Iterable[int]] | None = None
    holds: tuple[str, ...] = ()
    absorb: Callable[[int, int, int], Any] = lambda side, value, amount: value % amount
    sooner: Callable[..., Bag] = lambda *_: Counter()
    later: Callable[..., Bag] | None = None
    left: Callable[[Seen], bool] = bool
    spread: Callable[[int, int, int], Iterable[Any]] | None = None
    time: Callable[..., TimedBag] | None = None
    after: Callable[[Any], int] | None = None
    """What is made of its records where they are no ints."""

    def emitted(self, seen: Mapping[str, Seen], amount: int, *, last: bool) -> Bag:
        """All that an operator with these states has emitted, by the end of a run."""
        what = self.later if last and self.later is not None else self.sooner
        return what(*(seen.get(state, Counter()) for state in self.holds), amount)

    def take(self, seen: Mapping[str, Seen], inputs: Sequence[Bag], amount: int) -> dict[str, Seen]:
        """The states when the inputs have come."""
        result = {state: Counter(records) for state, records in seen.items()}
        for side, bag in enumerate(inputs):
            contents: Seen = result.setdefault(self.holds[side if len(self.holds) > 1 else 0], Counter())
            for value, number in bag.items():
                spread = self.spread(side, value, amount) if self.spread else [self.absorb(side, value, amount)]
                for part in spread:
                    contents[part] += number
        return result

    def plain(self, inputs: Sequence[Bag], amount: int) -> Bag:
        """What one without state makes of its inputs."""
        assert self.flat_map is not None
        result: Bag = Counter()
        for bag in inputs:
            for value, number in bag.items():
                for output in self.flat_map(value, amount):
                    result[output] += number
        return result

    def timed(self, inputs: Sequence[TimedBag], amount: int, copies: int) -> TimedBag:
        """What one makes of its inputs, with the time of each record; what is broadcast comes in ``copies``."""
        if self.time is not None:
            return self.time(*inputs, amount)
        assert self.flat_map is not None
        outputs = sum((_flat_mapped(bag, lambda value: self.flat_map(value, amount)) for bag in inputs), Counter())
        return Counter({record: number * copies for record, number in outputs.items()})


def _process(function: Callable[[int], Any]) -> Callable[[Any, int], Any]:
    return lambda one, amount: keyed(one, amount).process(function(amount), INT)


def _counting(state: str, build: Callable[[Any, int], Any]) -> Kind:
    return Kind(1, build, holds=(state,), sooner=_numbers)


def _plus(build: Callable[[Any, int], Any]) -> Kind:
    return Kind(1, build, lambda value, amount: [value + amount])


def _of_window(size: int) -> Kind:
    return Kind(
        1,
        _windows(lambda amount: _tumbling(size)),
        holds=("window-contents",),
        absorb=lambda side, value, amount: (value % amount, value, (when(value) // size * size, size)),
        later=_window_sums,
        after=lambda pair: pair[1],
    )


def _sum_in_time(build: Any, time: Callable[..., TimedBag]) -> Kind:
    return Kind(1, build, time=time, after=lambda pair: pair[1] % 1000)


def _rounds(value: int, amount: int) -> list[int]:
    """What a value becomes, round by round."""
    result = [value - 10 * amount]
    while result[-1] > 0:
        result.append(result[-1] - 10 * amount)
    return result


def _numbered(pair: tuple[int, int]) -> int:
    return pair[0] * 1000 + pair[1]


EDITED: dict[str, Kind] = {
    "map": _plus(_partitioned("")),
    "keep": Kind(1, lambda one, a: one.filter(lambda v: v % (a + 1) != 0), lambda v, a: [v] if v % (a + 1) else []),
    "twice": Kind(1, lambda one, amount: one.flat_map(lambda value: [value, value], INT), lambda v, a: [v, v]),
    "shift": _plus(_partitioned("rebalance")),
    "later": _plus(lambda one, a: AsyncDataStream.unordered_wait(one, Later(a), Time.seconds(60), 5, INT)),
    "loop": Kind(1, _loop, _rounds),
    "split": Kind(1, lambda one, amount: one.process(Halves(), INT), lambda v, a: [] if v % 2 else [v]),
    "side": Kind(1, lambda one, amount: one.get_side_output(SIDE), lambda v, a: [v] if v % 2 else []),
    "union": Kind(2, lambda one, other, amount: one.union(other), lambda v, a: [v]),
    "count": _counting("count", _process(lambda amount: Counting("count"))),
    "tally": _counting("tally", _process(lambda amount: Counting("tally"))),
    "sum": Kind(1, lambda one, a: _pairs(one, a, _one).sum(1), holds=("_op_state",), sooner=_numbers, after=_numbered),
    "first": Kind(
        1,
        _process(lambda amount: First()),
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
    "window": _of_window(10),
    "wide": _of_window(20),
    "batches": Kind(
        1,
        lambda one, amount: _pairs(one, amount, _one).count_window(BATCH).reduce(_added),
        holds=("count window",),
        sooner=lambda seen, amount: Counter({at * 1000 + BATCH: n // BATCH for at, n in seen.items() if n >= BATCH}),
        left=lambda seen: any(n % BATCH for n in seen.values()),
        after=_numbered,
    ),
    "both": Kind(
        2,
        lambda one, other, a: one.connect(other).key_by(key(a), key(a), INT).process(Both(), INT),
        holds=("left, right",),
        absorb=lambda side, value, amount: (side, value % amount),
        sooner=_numbers_of_both,
    ),
    "near": Kind(
        2,
        lambda one, other, amount: _near(stamp(one), stamp(other), amount),
        holds=("buffers",),
        absorb=lambda side, value, amount: (side, value % amount, value),
        sooner=_near_pairs,
    ),
    "rules": Kind(
        2,
        lambda one, other, amount: _rules(stamp(one), stamp(other), amount),
        holds=("user-timers", "rules"),
        absorb=lambda side, value, amount: value if side else (value % amount, LATEST),
        later=lambda timers, rules, amount: Counter(at * 1000 + len(rules) for at, _ in timers),
    ),
    "session": Kind(
        1,
        _windows(lambda amount: _session(GAP)),
        holds=("window sessions",),
        absorb=lambda side, value, amount: (value % amount, when(value), value),
        later=_session_totals,
        after=lambda pair: pair[1],
    ),
    "sliding": Kind(
        1,
        _windows(lambda amount: _sliding(SIZE, SLIDE)),
        holds=("window-contents",),
        spread=_slid,
        later=_window_sums,
        after=lambda pair: pair[1],
    ),
    "triggered": Kind(
        1,
        _windows(lambda amount: _tumbling(SIZE), _one, CountTrigger(EACH)),
        holds=("window counts",),
        absorb=lambda side, value, amount: (value % amount, when(value) // SIZE),
        sooner=_fired,
        after=_numbered,
    ),
    "items": _counting("items", _process(lambda amount: Listing())),
    "lasting": _counting("count", _process(lambda amount: Lasting())),
    "longs": _counting("count", lambda one, a: one.key_by(key(a), Types.LONG()).process(Counting(), INT)),
    "texts": _counting(
        TEXT, lambda one, a: one.key_by(lambda value: str(value % a), Types.STRING()).process(Counting(TEXT), INT)
    ),
}
"""Operators of programs that are edited between two runs, by kind."""

STATELESS: dict[str, Kind] = {
    **{kind: EDITED[kind] for kind in ("map", "keep", "union", "split", "side")},
    **{kind: _plus(_partitioned(kind)) for kind in ("rebalance", "rescale", "shuffle", "global_", "custom")},
    "broadcast": _plus(_partitioned("broadcast")),
    "repeat": Kind(
        1,
        lambda one, amount: one.flat_map(lambda value: [value] * (abs(value) % amount), INT),
        lambda v, a: [v] * (abs(v) % a),
    ),
}

BOUNDED: dict[str, Kind] = {
    **STATELESS,
    "co map": Kind(
        2,
        lambda one, other, amount: one.connect(other).map(PlusAndTimes(), INT),
        time=lambda one, other, amount: _flat_mapped(one, lambda v: [v + 1]) + _flat_mapped(other, lambda v: [v * 2]),
    ),
    "co flat map": Kind(
        2,
        lambda one, other, amount: one.connect(other).flat_map(Some(), INT),
        time=lambda one, other, amount: (
            _flat_mapped(one, lambda v: [v] * (v % 3)) + _flat_mapped(other, lambda v: [v, -v] if v % 2 else [])
        ),
    ),
    "running counts": Kind(1, _running, time=_running_counts),
    "tumbling sums": _sum_in_time(
        _windows(lambda amount: _tumbling(5 * amount), stamps=False), _sums(lambda time, size: [time - time % size])
    ),
    "sliding sums": _sum_in_time(
        _windows(lambda amount: _sliding(5 * amount, 5), stamps=False),
        _sums(lambda time, size: range(time - time % 5, time - size, -5)),
    ),
    "session sums": _sum_in_time(_windows(_session), _session_sums),
    "counts of all": Kind(
        1,
        lambda one, amount: one.map(_one, INT).window_all(_tumbling(5 * amount)).reduce(lambda a, b: a + b),
        time=_counts_of_all,
    ),
    "alarms": Kind(
        2,
        lambda one, other, a: one.connect(other).key_by(key(a), key(a), INT).process(AlarmOfBoth(a, 10, 10), INT),
        time=_alarms,
    ),
    "rule counts": Kind(2, lambda one, other, amount: stamp(_rules(one, other, amount)), time=_rule_counts),
    "window join": Kind(2, _join, time=_joined),
    "interval join": Kind(2, _near, time=_nears),
}
"""Operators of programs that run once, by kind: their records have times."""

KINDS = {**BOUNDED, **EDITED}
SAME: dict[str, tuple[str, ...]] = {
    "state": ("count", "tally", "lasting", "items"),
    "key type": ("count", "longs", "texts"),
    "window size": ("window", "wide", "sliding"),
}
"""Kinds that an edit makes of each other."""
TIMED = {"window", "wide", "sliding", "session", "triggered", "alarm", "near", "rules"}
"""What looks at the time: behind a loop, whose records come after the end of time, it depends on how they come."""


def foreign(kind: str, seen: dict[str, Seen]) -> bool:
    """Whether state of windows of another sort comes to windows: what they make of it nobody has said."""
    states = KINDS[kind].holds
    here = any(name.startswith("window") for name in states)
    return here and any(name.startswith("window") and name not in states for name, records in seen.items() if records)


def other_keys(kind: str, seen: dict[str, Seen]) -> bool:
    """Whether the keys of a state are texts, and those of the operator are not, or the other way round."""
    return any((name == TEXT) != (TEXT in KINDS[kind].holds) for name, records in seen.items() if records)
