"""Slow look-ups, many at a time: each order asks a service for the customer's country, and none waits for another.

Fifty orders with calls of 20 ms each would take a second one by one; with fifty calls under way they take a moment.
Results leave in the order of the orders (``ordered_wait``). A call that fails is tried again before it fails the job.

    penstock run --local examples/async_lookups.py

Prints::

    50 orders: 17 from France, 17 from Japan, 16 from Peru
    the first: order 0 from France
"""

from __future__ import annotations

import asyncio
from collections import Counter

from penstock.common import Types
from penstock.datastream import AsyncDataStream, AsyncFunction, RuntimeContext, StreamExecutionEnvironment

COUNTRIES = ("France", "Japan", "Peru")


class Service:
    """Stands for a client of a web service or a database. Every tenth order's first call fails."""

    def __init__(self) -> None:
        self.failed: set[int] = set()

    async def country(self, order: int) -> str:
        await asyncio.sleep(0.02)
        if order % 10 == 9 and order not in self.failed:
            self.failed.add(order)
            raise ConnectionError("the service is busy")
        return COUNTRIES[order % 3]


class Country(AsyncFunction[int, tuple[int, str]]):
    """(order, country) of an order."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.service = Service()  # here, not in the constructor: a connection cannot be sent to another machine

    async def async_invoke(self, value: int) -> list[tuple[int, str]]:
        for _ in range(2):
            try:
                return [(value, await self.service.country(value))]
            except ConnectionError:
                await asyncio.sleep(0.01)
        return [(value, await self.service.country(value))]

    def timeout(self, value: int) -> list[tuple[int, str]]:
        return [(value, "unknown")]


def main() -> None:
    """Build the program, run it, and sum up what it collected."""
    env = StreamExecutionEnvironment.get_execution_environment()
    orders = env.from_collection(list(range(50)), type_info=Types.INT())
    located = AsyncDataStream.ordered_wait(
        orders, Country(), timeout=10_000, capacity=50, output_type=Types.TUPLE([Types.INT(), Types.STRING()])
    )
    with located.execute_and_collect("countries") as results:
        pairs = list(results)
    counts = Counter(country for _, country in pairs)
    print(f"{len(pairs)} orders: {', '.join(f'{counts[country]} from {country}' for country in COUNTRIES)}")
    print(f"the first: order {pairs[0][0]} from {pairs[0][1]}")


if __name__ == "__main__":
    main()
