"""Functions of batches: the result has the type of output_type, whatever the batches are."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_type

from penstock.common import Types
from penstock.datastream import (
    AsyncBatchFunction,
    AsyncDataStream,
    AsyncRetryStrategy,
    FlatMapFunction,
    MapFunction,
    SingleOutputStreamOperator,
    StreamExecutionEnvironment,
)

env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_collection([1, 2, 3], Types.LONG())


class Column(list[int]):
    """Stands for a class of a library."""


def doubled(batch: Column) -> Column:
    return Column(2 * value for value in batch)


def parts(batch: Column) -> Iterator[Column]:
    yield batch


class Doubled(MapFunction[Column, Column]):
    def map(self, value: Column, /) -> Column:
        return doubled(value)


class Parts(FlatMapFunction[Column, Column]):
    def flat_map(self, value: Column, /) -> Iterator[Column]:
        yield value


assert_type(numbers.map_batches(doubled, Types.STRING()), SingleOutputStreamOperator[str])
assert_type(numbers.map_batches(Doubled(), Types.DOUBLE(), batch_format="pandas"), SingleOutputStreamOperator[float])
assert_type(numbers.map_batches(doubled, Types.LONG(), batch_size=10), SingleOutputStreamOperator[int])
assert_type(numbers.flat_map_batches(parts, Types.STRING()), SingleOutputStreamOperator[str])
assert_type(numbers.flat_map_batches(Parts(), Types.STRING()), SingleOutputStreamOperator[str])
assert_type(numbers.filter_batches(doubled), SingleOutputStreamOperator[int])
assert_type(numbers.key_by(lambda n: n % 2).filter_batches(doubled, batch_size=2), SingleOutputStreamOperator[int])
numbers.map_batches(doubled)  # error: reportCallIssue
numbers.map_batches(doubled, Types.LONG(), batch_format="list")  # error: reportArgumentType
numbers.map_batches(doubled, Types.LONG(), 10)  # error: reportCallIssue
numbers.filter_batches(5)  # error: reportArgumentType


class Words(AsyncBatchFunction[int, str]):
    async def async_invoke_batch(self, values: list[int], /) -> list[str]:
        return [str(value) for value in values]

    def timeout_batch(self, values: list[int], /) -> list[str]:
        return [""] * len(values)


retry: AsyncRetryStrategy[str] = AsyncRetryStrategy.fixed_delay(3, 100, None, lambda error: True)
words = AsyncDataStream.unordered_wait_batch(numbers, Words(), 1_000, batch_size=2, output_type=Types.STRING())
assert_type(words, SingleOutputStreamOperator[str])
assert_type(
    AsyncDataStream.ordered_wait_batch_with_retry(numbers, Words(), 1_000, 2, retry, batch_timeout=10),
    SingleOutputStreamOperator[str],
)
AsyncDataStream.ordered_wait_batch(words, Words(), 1_000, 2)  # error: reportArgumentType
AsyncDataStream.ordered_wait_batch(numbers, Words(), 1_000)  # error: reportCallIssue
