"""Programs of transformations with what they give, for both executors: a stream, and its records in any order."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from penstock.common import Types
from penstock.datastream import (
    AllWindowFunction,
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    CoMapFunction,
    DataStream,
    StreamExecutionEnvironment,
    WindowFunction,
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
