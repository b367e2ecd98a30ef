"""Programs in BATCH mode, each with what plain Python makes of the same records.

A record is (key, number, timestamp). Timestamps differ within a key and come out of order, so the order in which an
operator sees the records of a key is the same at every parallelism.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from penstock.common import OutputTag, Time, Types, WatermarkStrategy
from penstock.datastream import (
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeyedStream,
    MapStateDescriptor,
    ProcessFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    TimeCharacteristic,
    ValueStateDescriptor,
)
from penstock.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)

Record = tuple[str, int, int]
RECORD = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
MIN, MAX = -(2**63), 2**63 - 1
LATE = OutputTag("late")
KEYS = ["plumless", "buckeroo", "codding", "gnu", "Aa", "BB", "c", "d", "e", "a longer key"]
"""The first ones have equal ranks by twos, the next two equal Java hashes."""


def some_records(count: int = 400, seed: int = 7) -> list[Record]:
    draw = random.Random(seed)
    times = draw.sample(range(count * 3), count)
    return [(draw.choice(KEYS), draw.randint(-20, 20), time) for time in times]


RECORDS = some_records()
OTHERS = [(key, number, time + 5000) for key, number, time in some_records(150, 8)]


def by_time(records: list[Record] = RECORDS) -> dict[str, list[Record]]:
    """The records of each key, in order of time."""
    ordered = sorted(records, key=lambda record: (record[0], record[2]))
    return {key: list(group) for key, group in groupby(ordered, key=lambda record: record[0])}


@dataclass
class Program:
    """A program and its oracle.

    Attributes:
        build: takes the environment and the parallelism of everything but the source; returns the stream to look at.
        expected: the records it gives, in any order.
    """

    build: Callable[[StreamExecutionEnvironment, int], Any]
    expected: Callable[[], list[Any]]


def stamped(env: StreamExecutionEnvironment, p: int, records: list[Record] = RECORDS) -> Any:
    """The records with timestamps, spread over subtasks, with watermarks that would make many of them late."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[2])
    source = env.from_collection(records, type_info=RECORD)
    return source.rebalance().map(lambda v: v, RECORD).set_parallelism(p).assign_timestamps_and_watermarks(strategy)


def keyed(env: StreamExecutionEnvironment, p: int, records: list[Record] = RECORDS) -> KeyedStream:
    return stamped(env, p, records).key_by(lambda value: value[0], key_type=Types.STRING())


# --- reductions -------------------------------------------------------------------------------------------------------


def concatenated(one: Any, other: Any) -> Any:
    return one[0], one[1] * 31 + other[1] & 0xFFFF, other[2]


def reduction(call: Callable[[KeyedStream], Any], of_key: Callable[[list[Record]], Any]) -> Program:
    return Program(
        lambda env, p: call(keyed(env, p)).set_parallelism(p),
        lambda: [of_key(records) for records in by_time().values()],
    )


def folded(records: list[Record]) -> Any:
    result = records[0]
    for record in records[1:]:
        result = concatenated(result, record)
    return result


def replaced(pick: Callable[..., int]) -> Callable[[list[Record]], Any]:
    return lambda records: (records[0][0], pick(number for _, number, _ in records), records[0][2])


def extreme(sign: int, last: bool = False) -> Callable[[list[Record]], Any]:
    def of_key(records: list[Record]) -> Any:
        order = records[::-1] if last else records
        return min(order, key=lambda record: sign * record[1])

    return of_key


# --- process functions ------------------------------------------------------------------------------------------------


class Trace(KeyedProcessFunction):
    """Tells what it sees of time and state; sets timers that fire at the end of the key."""

    def open(self, runtime_context: Any) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        seen = self.seen.value() or 0
        self.seen.update(seen + 1)
        timers = ctx.timer_service()
        if seen < 3:
            timers.register_event_time_timer(value[2] + 100_000 - 2 * seen)
            timers.register_processing_time_timer(2**62 - seen)
        yield ctx.get_current_key(), "element", ctx.timestamp(), timers.current_watermark(), seen, value[1]

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        timers = ctx.timer_service()
        timers.register_event_time_timer(timestamp + 1)  # ignored: there is no later
        timers.register_processing_time_timer(timestamp + 1)
        yield ctx.get_current_key(), ctx.time_domain().name, timestamp, timers.current_watermark(), self.seen.value(), 0


def traced() -> list[Any]:
    rows: list[Any] = []
    for key, records in by_time().items():
        rows += [(key, "element", time, MIN, i, number) for i, (_, number, time) in enumerate(records)]
        event = sorted(time + 100_000 - 2 * i for i, (_, _, time) in enumerate(records[:3]))
        rows += [(key, "EVENT_TIME", time, MAX, len(records), 0) for time in event]
        clock = sorted(2**62 - i for i in range(min(3, len(records))))
        rows += [(key, "PROCESSING_TIME", time, MAX, len(records), 0) for time in clock]
    return rows


class Numbered(KeyedProcessFunction):
    """(key, position among the emitted, what) in order of emission, so that a multiset tells the order."""

    def __init__(self, inner: KeyedProcessFunction) -> None:
        self.inner = inner

    def open(self, runtime_context: Any) -> None:
        self.inner.open(runtime_context)
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def _number(self, rows: Any) -> Any:
        for row in rows:
            count = self.count.value() or 0
            self.count.update(count + 1)
            yield count, row

    def process_element(self, value: Any, ctx: Any) -> Any:
        return self._number(self.inner.process_element(value, ctx))

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        return self._number(self.inner.on_timer(timestamp, ctx))


def numbered(rows: list[Any]) -> list[Any]:
    counts: dict[str, int] = {}
    result = []
    for row in rows:
        count = counts.get(row[0], 0)
        counts[row[0]] = count + 1
        result.append((count, row))
    return result


# --- two inputs -------------------------------------------------------------------------------------------------------


class Both(KeyedCoProcessFunction):
    """Counts over both inputs; tells the total at the end of the key."""

    def open(self, runtime_context: Any) -> None:
        self.counts = runtime_context.get_map_state(MapStateDescriptor("counts", Types.INT(), Types.INT()))

    def _take(self, number: int, value: Any, ctx: Any) -> Any:
        self.counts.put(number, (self.counts.get(number) or 0) + 1)
        ctx.timer_service().register_event_time_timer(MAX)
        yield value[0], number, value[2], self.counts.get(1), self.counts.get(2)

    def process_element1(self, value: Any, ctx: Any) -> Any:
        return self._take(1, value, ctx)

    def process_element2(self, value: Any, ctx: Any) -> Any:
        return self._take(2, value, ctx)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), 0, timestamp, self.counts.get(1), self.counts.get(2)


def both() -> list[Any]:
    first = [(key, time, 1) for key, _, time in RECORDS]
    second = [(key, time, 2) for key, _, time in OTHERS]
    rows, counts = [], {}
    for key, time, number in sorted(first + second):
        own = counts.setdefault(key, {1: None, 2: None})
        own[number] = (own[number] or 0) + 1
        rows.append((key, number, time, own[1], own[2]))
    return rows + [(key, 0, MAX, own[1], own[2]) for key, own in counts.items()]


RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Ruled(KeyedBroadcastProcessFunction):
    """What is broadcast must all be there before the first record with a key."""

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(*value)
        ctx.apply_to_keyed_state(ValueStateDescriptor("seen", Types.INT()), lambda key, state: 1 / 0)

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value[0], value[1], len(list(ctx.get_broadcast_state(RULES).keys()))


class RuledWithoutKey(BroadcastProcessFunction):
    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(*value)

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value[0], value[1], len(list(ctx.get_broadcast_state(RULES).keys()))


def rules(env: StreamExecutionEnvironment) -> Any:
    pairs = [(f"rule {i}", i) for i in range(500)]
    return env.from_collection(pairs, type_info=Types.TUPLE([Types.STRING(), Types.INT()])).broadcast(RULES)


# --- windows ----------------------------------------------------------------------------------------------------------


class Contents(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        window = context.window()
        yield key, window.start, window.end, tuple(v[2] for v in elements), context.current_watermark()


def windowed(assigner: Any, windows_of: Callable[[list[int]], list[tuple[int, int]]]) -> Program:
    def expected() -> list[Any]:
        rows = []
        for key, records in by_time().items():
            times = [time for _, _, time in records]
            for start, end in windows_of(times):
                rows.append((key, start, end, tuple(t for t in times if start <= t < end), MAX))
        return rows

    return Program(lambda env, p: keyed(env, p).window(assigner).process(Contents()).set_parallelism(p), expected)


def grid(size: int, slide: int) -> Callable[[list[int]], list[tuple[int, int]]]:
    def windows(times: list[int]) -> list[tuple[int, int]]:
        starts = {t - t % slide - i * slide for t in times for i in range(size // slide)}
        return [(start, start + size) for start in starts]

    return windows


def sessions(gap: int) -> Callable[[list[int]], list[tuple[int, int]]]:
    def windows(times: list[int]) -> list[tuple[int, int]]:
        result: list[tuple[int, int]] = []
        for time in sorted(times):
            if result and time <= result[-1][1]:
                result[-1] = result[-1][0], time + gap
            else:
                result.append((time, time + gap))
        return result

    return windows


class Clocked(ProcessWindowFunction):
    """A window of the clock is still open when the input ends; STREAMING would never fire it."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, sorted(v[2] for v in elements)


def count_windows() -> list[Any]:
    rows = []
    for key, records in by_time().items():
        for i in range(0, len(records) - 4, 5):
            rows.append((key, sum(r[1] for r in records[i : i + 5]), records[i][2]))
    return rows


# --- others -----------------------------------------------------------------------------------------------------------


class Unkeyed(ProcessFunction):
    """Without a key nothing is sorted, and there are no watermarks."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value[0], ctx.timestamp(), ctx.timer_service().current_watermark()


class Split(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield (LATE, value) if value[1] < 0 else value


def diamond(env: StreamExecutionEnvironment, p: int) -> Any:
    """One keyed stream with three readers, of which one may combine; then all together again."""
    stream = keyed(env, p)
    total = stream.sum(1).set_parallelism(p)
    smallest = stream.min_by(1).set_parallelism(p)
    traces = stream.process(Split()).set_parallelism(p)
    together = total.union(smallest, traces, traces.get_side_output(LATE))
    return together.key_by(lambda v: v[0]).reduce(lambda a, b: (a[0], a[1] + b[1], 0)).set_parallelism(p)


def diamonds() -> list[Any]:
    rows = []
    for key, records in by_time().items():
        numbers = [number for _, number, _ in records]
        rows.append((key, 2 * sum(numbers) + min(numbers), 0))
    return rows


def timestamps_after(env: StreamExecutionEnvironment, p: int) -> Any:
    """A reduction's result carries the end of time."""
    return keyed(env, p).max(1).set_parallelism(p).process(Unkeyed()).set_parallelism(p)


def joined() -> list[Any]:
    return [
        (key, a, b) for key, _, a in RECORDS for other, _, b in OTHERS if key == other and a // 400 == (b - 5000) // 400
    ]


def window_join(env: StreamExecutionEnvironment, p: int) -> Any:
    others = stamped(env, p, [(key, number, time - 5000) for key, number, time in OTHERS])
    pairs = stamped(env, p).join(others).where(lambda v: v[0]).equal_to(lambda v: v[0])
    window = pairs.window(TumblingEventTimeWindows.of(Time.milliseconds(400)))
    return window.apply(lambda one, other: (one[0], one[2], other[2] + 5000))


def interval_join(env: StreamExecutionEnvironment, p: int) -> Any:
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    join = keyed(env, p).interval_join(keyed(env, p, OTHERS)).between(Time.milliseconds(4700), Time.milliseconds(5200))
    return join.process(lambda one, other, ctx: [(one[0], one[2], other[2], ctx.get_timestamp())])


def words(env: StreamExecutionEnvironment, p: int) -> Any:
    """No timestamps, so that records leave in batches; some sums are of floats, though declared as INT."""
    lines = [f"{a[0]}|{b[0]}" for a, b in zip(RECORDS[::2], RECORDS[1::2], strict=True)]
    texts = env.from_collection(lines, type_info=Types.STRING()).rebalance()
    pairs = texts.flat_map(lambda line: line.split("|"), Types.STRING()).map(
        lambda w: (w, 0.5 if w == "c" else 2), Types.TUPLE([Types.STRING(), Types.INT()])
    )
    return pairs.set_parallelism(p).key_by(lambda v: v[0], key_type=Types.STRING()).sum(1).set_parallelism(p)


PROGRAMS: dict[str, Program] = {
    "words": Program(words, lambda: [(key, len(rows) * (0.5 if key == "c" else 2)) for key, rows in by_time().items()]),
    "sum": reduction(lambda s: s.sum(1), replaced(sum)),
    "min": reduction(lambda s: s.min(1), replaced(min)),
    "max": reduction(lambda s: s.max(1), replaced(max)),
    "min_by": reduction(lambda s: s.min_by(1), extreme(1)),
    "max_by, last": reduction(lambda s: s.max_by(1, first=False), extreme(-1, last=True)),
    "reduce": reduction(lambda s: s.reduce(concatenated), folded),
    "process": Program(
        lambda env, p: keyed(env, p).process(Numbered(Trace())).set_parallelism(p), lambda: numbered(traced())
    ),
    "co-process": Program(
        lambda env, p: keyed(env, p).connect(keyed(env, p, OTHERS)).process(Both()).set_parallelism(p), both
    ),
    "broadcast": Program(
        lambda env, p: keyed(env, p).connect(rules(env)).process(Ruled()).set_parallelism(p),
        lambda: [(key, number, 500) for key, number, _ in RECORDS],
    ),
    "broadcast without key": Program(
        lambda env, p: stamped(env, p).connect(rules(env)).process(RuledWithoutKey()).set_parallelism(p),
        lambda: [(key, number, 500) for key, number, _ in RECORDS],
    ),
    "tumbling": windowed(TumblingEventTimeWindows.of(Time.milliseconds(300)), grid(300, 300)),
    "sliding": windowed(SlidingEventTimeWindows.of(Time.milliseconds(300), Time.milliseconds(100)), grid(300, 100)),
    "sessions": windowed(EventTimeSessionWindows.with_gap(Time.milliseconds(20)), sessions(20)),
    "windows of the clock": Program(
        lambda env, p: (
            keyed(env, p)
            .window(TumblingProcessingTimeWindows.of(Time.days(9000)))
            .process(Clocked())
            .set_parallelism(p)
        ),
        lambda: [(key, [time for _, _, time in records]) for key, records in by_time().items()],
    ),
    "count windows": Program(lambda env, p: keyed(env, p).count_window(5).sum(1).set_parallelism(p), count_windows),
    "all windows": Program(
        lambda env, p: stamped(env, p).window_all(TumblingEventTimeWindows.of(Time.milliseconds(400))).sum(1),
        lambda: [
            (first[0], sum(r[1] for r in group), first[2])
            for _, group in groupby(sorted(RECORDS, key=lambda r: r[2]), key=lambda r: r[2] // 400)
            for group in [list(group)]
            for first in group[:1]
        ],
    ),
    "without key": Program(
        lambda env, p: stamped(env, p).process(Unkeyed()).set_parallelism(p),
        lambda: [(key, time, MIN) for key, _, time in RECORDS],
    ),
    "timestamps of results": Program(timestamps_after, lambda: [(key, MAX, MIN) for key in by_time()]),
    "diamond": Program(diamond, diamonds),
    "window join": Program(window_join, joined),
    "interval join": Program(
        interval_join,
        lambda: [
            (key, a, b, max(a, b))
            for key, _, a in RECORDS
            for other, _, b in OTHERS
            if key == other and a + 4700 <= b <= a + 5200
        ],
    ),
}
