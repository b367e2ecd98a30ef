"""More operators with state of programs that are edited: other windows, states, types of keys; and all there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from penstock.common import Time, Types
from penstock.datastream import KeyedProcessFunction, ListStateDescriptor, ValueStateDescriptor
from penstock.datastream.state import StateTtlConfig
from penstock.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from tests.datastream import editable_kinds
from tests.datastream.editable_kinds import INT, PAIR, Bag, Counting, Kind, Seen
from tests.datastream.random_streams import stamp, when

GAP, SIZE, SLIDE, EACH = 4, 20, 10, 2
"""Of sessions; of sliding windows; records after which a trigger fires."""
TEXT = "text count"
"""A state whose keys are texts."""
LIVES_LONG = StateTtlConfig.new_builder(Time.days(100)).build()


class Lasting(Counting):
    """As it counts, and what it knows ends some day."""

    def open(self, runtime_context):
        descriptor = ValueStateDescriptor(self.state, INT)
        descriptor.enable_time_to_live(LIVES_LONG)
        self.count = runtime_context.get_state(descriptor)


class Listing(KeyedProcessFunction):
    """How many records of its key have come, kept as a list of them."""

    def open(self, runtime_context):
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", INT))

    def process_element(self, value, ctx):
        self.items.add(value)
        yield ctx.get_current_key() * 1000 + sum(1 for _ in self.items.get())


class Texts(Counting):
    """The number of each record of its key, which is a text."""

    def process_element(self, value, ctx):
        number = (self.count.value() or 0) + 1
        self.count.update(number)
        yield int(ctx.get_current_key()) * 1000 + number


def _windows(assigner: Any, value: Callable[[int], int] = lambda value: value, trigger: Any = None) -> Any:
    """Sums of windows."""

    def build(stream: Any, amount: int) -> Any:
        pairs = stamp(stream).map(lambda each: (each % amount, value(each)), PAIR)
        windowed = pairs.key_by(lambda pair: pair[0], INT).window(assigner)
        windowed = windowed if trigger is None else windowed.trigger(trigger)
        return windowed.reduce(lambda a, b: (a[0], a[1] + b[1]))

    return build


def _sliding(side: int, value: int, amount: int) -> Iterator[Any]:
    """The windows of a value."""
    last = when(value) // SLIDE * SLIDE
    return ((value % amount, value, (start, SIZE)) for start in range(last, last - SIZE, -SLIDE))


def _sessions(seen: Seen) -> Bag:
    """The sum of each session."""
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


def _fired(seen: Seen) -> Bag:
    """What a trigger that counts has had windows say."""
    result: Bag = Counter()
    for (at, _), number in seen.items():
        result.update(at * 1000 + count for count in range(EACH, number + 1, EACH))
    return result


def _counts(build: Callable[[Any, int], Any], state: str) -> Kind:
    return Kind(1, build, holds=(state,), sooner=lambda seen, amount: editable_kinds.numbers(seen))


KINDS: dict[str, Kind] = {
    **editable_kinds.KINDS,
    "session": Kind(
        1,
        _windows(EventTimeSessionWindows.with_gap(Time.milliseconds(GAP))),
        holds=("window sessions",),
        absorb=lambda side, value, amount: (value % amount, when(value), value),
        later=lambda seen, amount: _sessions(seen),
    ),
    "sliding": Kind(
        1,
        _windows(SlidingEventTimeWindows.of(Time.milliseconds(SIZE), Time.milliseconds(SLIDE))),
        holds=("window-contents",),
        spread=_sliding,
        later=lambda seen, amount: editable_kinds.windows(seen),
    ),
    "triggered": Kind(
        1,
        _windows(TumblingEventTimeWindows.of(Time.milliseconds(SIZE)), lambda value: 1, CountTrigger(EACH)),
        holds=("window counts",),
        absorb=lambda side, value, amount: (value % amount, when(value) // SIZE),
        sooner=lambda seen, amount: _fired(seen),
    ),
    "items": _counts(lambda one, a: editable_kinds.keyed(one, a).process(Listing(), INT), "items"),
    "lasting": _counts(lambda one, a: editable_kinds.keyed(one, a).process(Lasting(), INT), "count"),
    "longs": _counts(lambda one, a: one.key_by(editable_kinds.key(a), Types.LONG()).process(Counting(), INT), "count"),
    "texts": _counts(
        lambda one, a: one.key_by(lambda value: str(value % a), Types.STRING()).process(Texts(TEXT), INT), TEXT
    ),
}
"""Operators by kind."""

AFTER: dict[str, Callable[[Any], int]] = {
    **editable_kinds.AFTER,
    "session": lambda pair: pair[1],
    "sliding": lambda pair: pair[1],
    "triggered": lambda pair: pair[0] * 1000 + pair[1],
}
"""What is made of the records of those whose own are no ints."""

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
    own = KINDS[kind].holds
    here = any(name.startswith("window") for name in own)
    return here and any(name.startswith("window") and name not in own for name, each in seen.items() if each)


def other_keys(kind: str, seen: dict[str, Seen]) -> bool:
    """Whether the keys of a state are texts, and those of the operator are not, or the other way round."""
    return any((name == TEXT) != (TEXT in KINDS[kind].holds) for name, each in seen.items() if each)
