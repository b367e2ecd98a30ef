"""Asynchronous calls: in order and not, several results, none, after an exception anew."""

import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, AsyncRetryStrategy, StreamExecutionEnvironment
from pyflink.datastream.async_retry_predicates import has_exception_predicate


class Twice(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(0.01 * (5 - value))
        return [value, value * 10]


class Some(AsyncFunction):
    async def async_invoke(self, value):
        return [f"odd {value}"] if value % 2 else []


class Stubborn(AsyncFunction):
    def __init__(self):
        self.tries = {}

    async def async_invoke(self, value):
        self.tries[value] = self.tries.get(value, 0) + 1
        if self.tries[value] < 3:
            raise ValueError(value)
        return [(value, self.tries[value])]


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([1, 2, 3], type_info=Types.INT())
    AsyncDataStream.ordered_wait(numbers, Twice(), Time.seconds(10), 2, Types.INT()).print("ordered")
    AsyncDataStream.unordered_wait(numbers, Some(), Time.seconds(10), 100, Types.STRING()).print("unordered")
    strategy = AsyncRetryStrategy.fixed_delay(5, 10, None, has_exception_predicate)
    retried = AsyncDataStream.unordered_wait_with_retry(numbers, Stubborn(), Time.seconds(10), strategy, 100)
    retried.print("retried")
    env.execute()
