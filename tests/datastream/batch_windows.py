"""Programs in BATCH mode with windows and joins in time, each with what plain Python makes of the same records."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

from penstock.common import Time
from penstock.datastream import ProcessWindowFunction, StreamExecutionEnvironment, TimeCharacteristic
from penstock.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from tests.datastream.batch_records import MAX, OTHERS, RECORDS, Program, by_time, keyed, stamped


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


# --- joins ------------------------------------------------------------------------------------------------------------


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


WINDOWS: dict[str, Program] = {
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
