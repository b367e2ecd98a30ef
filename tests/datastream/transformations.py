"""Programs of transformations with what they give, for both executors: a stream, and its records in any order."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Any

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import (
    AllWindowFunction,
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    CoMapFunction,
    DataStream,
    ProcessWindowFunction,
    ReducingStateDescriptor,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
    WindowFunction,
)
from penstock.datastream.evictor import Evictor
from penstock.datastream.window import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    CountWindow,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    MergingWindowAssigner,
    SessionWindowTimeGapExtractor,
    TimeWindow,
    Trigger,
    TriggerResult,
)
from penstock.runtime.operators.two_inputs import CoMap

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
PAIRS = [("abc"[n % 3], n) for n in range(20)]

Program = tuple[Callable[[StreamExecutionEnvironment], DataStream[Any]], list[Any]]


def by_letter(env: StreamExecutionEnvironment) -> Any:
    return env.from_collection(PAIRS, PAIR).key_by(lambda pair: pair[0], Types.STRING())


def added(one: tuple[str, int], other: tuple[str, int]) -> tuple[str, int]:
    return one[0], one[1] + other[1]


# --- windows ----------------------------------------------------------------------------------------------------------


class Named(WindowFunction):
    def apply(self, key: str, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        yield key, [n for _, n in inputs]


class AllNamed(AllWindowFunction):
    def apply(self, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        yield [n for _, n in inputs]


class Opened(ProcessWindowFunction):
    """Counts the windows of a key and of the subtask."""

    def open(self, runtime_context: Any) -> None:
        self.windows = runtime_context.get_state(ValueStateDescriptor("windows", Types.INT()))
        self.opened = True

    def process(self, key: str, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        assert self.opened
        self.windows.update((self.windows.value() or 0) + 1)
        yield key, self.windows.value(), sum(n for _, n in elements)

    def close(self) -> None:
        self.opened = False


class PerTwo(Trigger):
    """Fires at every second element of a session, also after it has merged."""

    SEEN = ReducingStateDescriptor("seen", lambda one, other: one + other, Types.INT())

    def on_element(self, element: Any, timestamp: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        seen = ctx.get_partitioned_state(self.SEEN)
        seen.add(1)
        return TriggerResult.FIRE if seen.get() % 2 == 0 else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: Any) -> None:
        ctx.merge_partitioned_state(self.SEEN)

    def clear(self, window: TimeWindow, ctx: Any) -> None:
        ctx.get_partitioned_state(self.SEEN).clear()


class Neighbours(MergingWindowAssigner):
    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[TimeWindow]:
        return [TimeWindow(timestamp, timestamp + 4)]

    def merge_windows(self, windows: Iterable[TimeWindow], callback: Any) -> None:
        TimeWindow.merge_windows(windows, callback)

    def get_default_trigger(self, env: Any) -> Any:
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        return True


class ByLetter(SessionWindowTimeGapExtractor):
    def extract(self, element: Any) -> int:
        return 9 if element[0] == "a" else 1


class WithoutOdd(Evictor):
    def evict_before(self, elements: list[Any], size: int, window: Any, evictor_context: Any) -> None:
        elements[:] = [element for element in elements if element.value[1] % 2 == 0]


class Numbered(WindowFunction):
    def apply(self, key: str, window: CountWindow, inputs: Iterable[Any]) -> Iterable[Any]:
        yield key, window.id, [n for _, n in inputs]


class Bounds(WindowFunction):
    def apply(self, key: str, window: TimeWindow, inputs: Iterable[Any]) -> Iterable[Any]:
        yield key, window.start, window.end, len(list(inputs))


def timed(env: StreamExecutionEnvironment) -> Any:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda pair, _: pair[1])
    stream = env.from_collection(PAIRS, PAIR).assign_timestamps_and_watermarks(strategy)
    return stream.key_by(lambda pair: pair[0], Types.STRING())


SUMS_OF_TWO = [("a", [3]), ("a", [15]), ("a", [27])]
SUMS_OF_TWO += [("b", [5]), ("b", [17]), ("b", [29]), ("c", [7]), ("c", [19]), ("c", [31])]

# --- two inputs -------------------------------------------------------------------------------------------------------


class Sides(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return 1, value

    def map2(self, value: Any) -> Any:
        return 2, value


def connected(env: StreamExecutionEnvironment) -> Any:
    return env.from_elements(1, 2, type_info=Types.INT()).connect(env.from_elements("x"))


# --- asynchronous calls -----------------------------------------------------------------------------------------------


class Unreliable(AsyncFunction):
    """The call for n fails n times; then it gives n and the number of its attempts."""

    def open(self, runtime_context: Any) -> None:
        self.attempts = Counter()

    async def async_invoke(self, value: int) -> list[Any]:
        self.attempts[value] += 1
        await asyncio.sleep(0.001)
        if self.attempts[value] <= value:
            raise ConnectionError(value)
        return [(value, self.attempts[value])]

    def timeout(self, value: int) -> list[Any]:
        return [(value, "late")]


class Growing(Unreliable):
    """The call for n gives nothing n times."""

    async def async_invoke(self, value: int) -> list[Any]:
        try:
            return await super().async_invoke(value)
        except ConnectionError:
            return []


def is_connection(error: Exception) -> bool:
    return isinstance(error, ConnectionError)


def is_empty(results: list[Any]) -> bool:
    return not results


def awaited(call: str, function: AsyncFunction[Any, Any], strategy: Any, timeout: int = 60_000) -> Any:
    def build(env: StreamExecutionEnvironment) -> Any:
        numbers = env.from_collection([3, 0, 2, 1], Types.INT())
        return getattr(AsyncDataStream, call)(numbers, function, timeout, strategy).set_parallelism(2)

    return build


PATIENT = AsyncRetryStrategy.fixed_delay(3, 1, None, is_connection)
SOON_TIRED = AsyncRetryStrategy.fixed_delay(2, 1, is_empty, None)
DOUBLING = AsyncRetryStrategy.exponential_backoff(3, 1, 3, 2.0, is_empty, is_connection)
SLOW = AsyncRetryStrategy.fixed_delay(9, 60_000, None, is_connection)
ALL_FOUR = [(0, 1), (1, 2), (2, 3), (3, 4)]

PROGRAMS: dict[str, Program] = {
    "apply of two functions": (lambda env: by_letter(env).count_window(2).apply(added, Named()), SUMS_OF_TWO),
    "apply of two functions to all": (
        lambda env: env.from_collection(PAIRS, PAIR).count_window_all(4).apply(added, AllNamed()),
        [[6], [22], [38], [54], [70]],
    ),
    "transform of two inputs": (
        lambda env: connected(env).transform("sides", None, CoMap(Sides())),
        [(1, 1), (1, 2), (2, "x")],
    ),
    "transform of two inputs with a key": (
        lambda env: connected(env).key_by(lambda n: n, len, Types.INT()).transform("sides", None, CoMap(Sides())),
        [(1, 1), (1, 2), (2, "x")],
    ),
    "window function with open and state": (
        lambda env: by_letter(env).count_window(3).process(Opened()),
        [("a", 1, 9), ("a", 2, 36), ("b", 1, 12), ("b", 2, 39), ("c", 1, 15), ("c", 2, 42)],
    ),
    "window function with open after a reduction": (
        lambda env: by_letter(env).count_window(3).reduce(added, Opened()),
        [("a", 1, 9), ("a", 2, 36), ("b", 1, 12), ("b", 2, 39), ("c", 1, 15), ("c", 2, 42)],
    ),
    "tumbling windows by count": (
        lambda env: by_letter(env).window(CountTumblingWindowAssigner.of(3)).apply(Numbered()),
        [
            (key, n, [9 * n + place, 9 * n + 3 + place, 9 * n + 6 + place])
            for place, key in enumerate("abc")
            for n in (0, 1)
        ],
    ),
    "sliding windows by count": (
        lambda env: (
            by_letter(env)
            .filter(lambda pair: pair[0] == "a")
            .key_by(lambda pair: pair[0], Types.STRING())
            .window(CountSlidingWindowAssigner.of(5, 2))
            .apply(Numbered())
        ),
        [("a", 0, [0, 3, 6, 9, 12]), ("a", 1, [6, 9, 12, 15, 18])],
    ),
    "dynamic sessions by an extractor": (
        lambda env: timed(env).window(DynamicEventTimeSessionWindows.with_dynamic_gap(ByLetter())).apply(Bounds()),
        [
            ("a", 0, 27, 7),
            *(("b", n, n + 1, 1) for n in range(1, 20, 3)),
            *(("c", n, n + 1, 1) for n in range(2, 20, 3)),
        ],
    ),
    "sessions of a program's own": (
        lambda env: timed(env).window(Neighbours()).apply(Bounds()),
        [("a", 0, 22, 7), ("b", 1, 23, 7), ("c", 2, 21, 6)],
    ),
    "trigger of a program's own on sessions": (
        lambda env: timed(env).window(EventTimeSessionWindows.with_gap(4)).trigger(PerTwo()).apply(Bounds()),
        [(key, place, place + 3 * n - 3 + 4, n) for place, key in enumerate("abc") for n in (2, 4, 6)],
    ),
    "evictor of a program's own": (
        lambda env: by_letter(env).count_window(3).evictor(WithoutOdd()).apply(Named()),
        [("a", [0, 6]), ("a", [12]), ("b", [4]), ("b", [10, 16]), ("c", [2, 8]), ("c", [14])],
    ),
    "retry after exceptions": (awaited("ordered_wait_with_retry", Unreliable(), PATIENT), ALL_FOUR),
    "retry after exceptions, unordered": (awaited("unordered_wait_with_retry", Unreliable(), PATIENT), ALL_FOUR),
    "retry until it gives up": (awaited("ordered_wait_with_retry", Growing(), SOON_TIRED), ALL_FOUR[:3]),
    "retry of both kinds": (awaited("unordered_wait_with_retry", Growing(), DOUBLING), ALL_FOUR),
    "no retry": (awaited("ordered_wait_with_retry", Growing(), AsyncRetryStrategy.no_restart()), ALL_FOUR[:1]),
    "time out while it waits": (
        awaited("ordered_wait_with_retry", Unreliable(), SLOW, 50),
        [(0, 1), (1, "late"), (2, "late"), (3, "late")],
    ),
}
"""By name: what builds the stream, and its records."""
