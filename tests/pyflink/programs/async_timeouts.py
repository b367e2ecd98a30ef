"""Asynchronous calls that take too long: a record instead of their result, in order and not."""

import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment


class Ask(AsyncFunction):
    def __init__(self, slow):
        self.slow = slow

    def open(self, runtime_context):
        self.prefix = "asked"

    async def async_invoke(self, value):
        if value in self.slow:
            await asyncio.sleep(20)
        return [f"{self.prefix} {value}"]

    def timeout(self, value):
        return [f"gave up {value}", f"instead of {value}"]


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([1, 2, 3, 4], type_info=Types.INT())
    wait = Time.milliseconds(500)
    ordered = AsyncDataStream.ordered_wait(numbers, Ask({2}), wait, 10, Types.STRING())
    ordered.map(lambda text: text.upper(), Types.STRING()).print("ordered")
    AsyncDataStream.unordered_wait(numbers, Ask({1, 3}), wait, 10, Types.STRING()).print("unordered")
    AsyncDataStream.unordered_wait(numbers, Ask({}), wait, 10, Types.STRING()).print("quick")
    env.execute()
