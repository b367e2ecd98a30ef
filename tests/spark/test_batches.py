"""Functions of batches on Spark give what they give in this process, and fail with the same words."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import AsyncBatchFunction, AsyncDataStream, ProcessFunction, StreamExecutionEnvironment
from penstock.errors import JobExecutionError
from penstock.spark import SparkExecutor

PAIR = Types.TUPLE([Types.LONG(), Types.DOUBLE()])


class Half(AsyncBatchFunction[Any, Any]):
    async def async_invoke_batch(self, values: list[Any]) -> list[Any]:
        return [(number, half / 2) for number, half in values]


class Times(ProcessFunction[Any, Any]):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value, ctx.timestamp()


def results(executor: Any) -> list[Any]:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    def pairs(numbers: pa.Array) -> pa.RecordBatch:
        return pa.record_batch([numbers, pc.multiply(pc.cast(numbers, pa.float64()), 0.5)], names=["number", "half"])

    def kept(batch: pd.DataFrame) -> pd.Series:  # type: ignore[type-arg]
        return batch["f0"] % 3 != 0

    settings = Configuration.from_dict({"penstock.batches.size": "7"})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor=executor).set_parallelism(3)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
    numbers = env.generate_sequence(1, 200).assign_timestamps_and_watermarks(strategy)
    stream = numbers.map(pairs, PAIR).rebalance().filter(kept)
    halved = AsyncDataStream.ordered_wait_batch(stream, Half(), 10_000, batch_size=5, output_type=PAIR)
    with halved.key_by(lambda pair: pair[0] % 4).process(Times()).execute_and_collect() as collected:
        return list(collected)


def test_results_and_their_order_are_those_of_the_local_executor(executor: SparkExecutor) -> None:
    expected = results("local")
    assert sorted(expected) == [((number, number / 4), number) for number in range(1, 201) if number % 3]
    assert results(executor) == expected


def test_a_failure_names_the_operator(executor: SparkExecutor) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor=executor).set_parallelism(1)
    numbers = env.from_collection([1, 2, 3], Types.LONG())
    numbers.map_batches(lambda batch: batch[:2], Types.LONG(), batch_format="numpy").name("shorter").print()
    with pytest.raises(JobExecutionError, match=r"(?s)Operator 'shorter'.*batch of 3 records and returned 2 rows"):
        env.execute()
