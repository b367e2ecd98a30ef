"""Programs in BATCH mode, each with what plain Python makes of the same records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.common import OutputTag, Types
from penstock.datastream import (
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeyedStream,
    MapStateDescriptor,
    ProcessFunction,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from tests.datastream.batch_records import MAX, MIN, OTHERS, RECORDS, Program, Record, by_time, keyed, stamped
from tests.datastream.batch_windows import WINDOWS

LATE = OutputTag("late")


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
        per_input = counts.setdefault(key, {1: None, 2: None})
        per_input[number] = (per_input[number] or 0) + 1
        rows.append((key, number, time, per_input[1], per_input[2]))
    return rows + [(key, 0, MAX, per_input[1], per_input[2]) for key, per_input in counts.items()]


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
    "without key": Program(
        lambda env, p: stamped(env, p).process(Unkeyed()).set_parallelism(p),
        lambda: [(key, time, MIN) for key, _, time in RECORDS],
    ),
    "timestamps of results": Program(timestamps_after, lambda: [(key, MAX, MIN) for key in by_time()]),
    "diamond": Program(diamond, diamonds),
    **WINDOWS,
}
