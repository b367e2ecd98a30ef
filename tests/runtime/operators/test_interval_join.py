"""The interval join alone beside a slow model of it: pairs, their order, timestamps, and what stays buffered."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common.typeinfo import Types
from penstock.runtime.buffers.signals import MIN_WATERMARK
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.interval_join import LEFT, RIGHT, IntervalJoin
from tests.effort import examples
from tests.runtime.operators.operators_alone import Alone

KEY = KeyPartition(lambda record: record[0], Types.STRING())
BASES = st.sampled_from((0, -30, (1 << 16) - 30, (1 << 32) - 30, -(1 << 32) - 30))  # where hashes change course
ADVANCE = 0  # in place of the number of an input
INPUTS = st.sampled_from([*[1, 2] * 10, ADVANCE])
EVENTS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 60), INPUTS), min_size=30, max_size=80)


class Pairs:
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        yield left, right, ctx.get_left_timestamp(), ctx.get_right_timestamp(), ctx.get_timestamp()


def bucket(time: int, buckets: int) -> int:
    """Where a Java HashMap with so many buckets has a Long."""
    low, high = time & 0xFFFFFFFF, (time >> 32) & 0xFFFFFFFF
    mixed = low ^ high
    return (mixed ^ mixed >> 16) % buckets


class Slow:
    """Both sides as lists of (time, record) in the order in which they came."""

    def __init__(self, lower: int, upper: int) -> None:
        self.bounds = {1: (lower, upper), 2: (-upper, -lower)}
        self.sides: dict[tuple[str, int], list[tuple[int, Any]]] = {}
        self.buckets: dict[tuple[str, int], int] = {}
        self.results = list[Any]()
        self.watermark = MIN_WATERMARK

    def take(self, record: Any, time: int, number: int) -> None:
        if time < self.watermark:
            return
        mine, other = (record[0], number), (record[0], 3 - number)
        self.sides.setdefault(mine, []).append((time, record))
        size = self.buckets.setdefault(mine, 16)
        if len({when for when, _ in self.sides[mine]}) > size * 3 // 4:
            self.buckets[mine] = 2 * size
        lower, upper = self.bounds[number]
        near = [(when, partner) for when, partner in self.sides.get(other, ()) if lower <= when - time <= upper]
        first = {when: place for place, (when, _) in reversed(list(enumerate(near)))}
        near.sort(key=lambda pair: (bucket(pair[0], self.buckets[other]), first[pair[0]]))
        for when, partner in near:
            pair = (record, partner, time, when) if number == 1 else (partner, record, when, time)
            self.results.append(((*pair, max(time, when)), max(time, when)))

    def advance(self, watermark: int) -> None:
        self.watermark = max(self.watermark, watermark)
        for (key, number), side in list(self.sides.items()):
            wait = max(self.bounds[number][1], 0)
            left = [(when, record) for when, record in side if when + wait > self.watermark]
            if left:
                self.sides[key, number] = left
            else:
                del self.sides[key, number], self.buckets[key, number]

    def buffered(self, number: int) -> dict[str, dict[int, list[Any]]]:
        buffers: dict[str, dict[int, list[Any]]] = {}
        for (key, side), records in self.sides.items():
            for when, record in records if side == number else ():
                buffers.setdefault(key, {}).setdefault(when, []).append(record)
        return buffers


@given(BASES, EVENTS, st.integers(-60, 30), st.integers(0, 90), st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_pairs_and_buffers_are_those_of_the_slow_model(base, events, lower, width, tracked):
    join = Alone(IntervalJoin(Pairs(), lower, lower + width, keyed=KEY, second_keyed=KEY), tracked=tracked)
    slow = Slow(lower, lower + width)
    for serial, (key, after, number) in enumerate(events):
        time = base + after
        if number != ADVANCE:
            join.take((key, serial), time, number)
            slow.take((key, serial), time, number)
        elif time > slow.watermark:
            slow.advance(time)
            for side in (1, 2):
                join.watermark(time, side)
    assert join.results == slow.results
    for number, name in ((1, LEFT), (2, RIGHT)):
        table = join.state.find(name) or {}
        assert {key: buffer.times for key, buffer in table.items()} == slow.buffered(number)
