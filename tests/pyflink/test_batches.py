"""Batches in programs written for PyFlink: AsyncBatchFunction of its development branch, and functions of batches."""

from __future__ import annotations

import asyncio
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock.common import Row, Time, Types
from penstock.errors import InvalidProgramError, JobExecutionError
from penstock.pyflink.datastream import AsyncBatchFunction, AsyncDataStream, StreamExecutionEnvironment, functions

ROW = Types.ROW_NAMED(["v1", "v2"], [Types.INT(), Types.INT()])
ROWS = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PENSTOCK_EXECUTOR", "local")
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    return env.from_collection(ROWS, type_info=ROW)


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as results:
        return list(results)


class Sums(AsyncBatchFunction):  # type: ignore[type-arg]
    async def async_invoke_batch(self, inputs: list[Row]) -> list[int]:
        assert all(isinstance(row, Row) for row in inputs)
        await asyncio.sleep(0.001)
        return [row[0] + row.v2 for row in inputs]


def test_one_call_for_many_records(rows: Any) -> None:
    assert functions.AsyncBatchFunction is AsyncBatchFunction
    options: dict[str, Any] = {"timeout": Time.seconds(10), "batch_size": 2, "output_type": Types.INT()}
    unordered = AsyncDataStream.unordered_wait_batch(rows, Sums(), **options)
    assert sorted(collected(unordered)) == [2, 4, 6, 8, 10]
    waiting = Time.milliseconds(100)
    ordered = AsyncDataStream.ordered_wait_batch(rows, Sums(), batch_timeout=waiting, capacity=3, **options)
    assert ordered.get_name() == "async batch wait operator (ordered)"
    assert collected(ordered) == [2, 4, 6, 8, 10]


class Gives(AsyncBatchFunction):  # type: ignore[type-arg]
    def __init__(self, result: Any) -> None:
        self.result = result

    async def async_invoke_batch(self, inputs: list[Row]) -> Any:
        return self.result


class NotAsync(AsyncBatchFunction):  # type: ignore[type-arg]
    def async_invoke_batch(self, inputs: list[Row]) -> Any:  # type: ignore[override]
        return []


@pytest.mark.parametrize(("result", "message"), [(42, "list type"), (None, "cannot be none")])
def test_results_that_are_no_lists_fail(rows: Any, result: Any, message: str) -> None:
    stream = AsyncDataStream.unordered_wait_batch(rows, Gives(result), Time.seconds(5), 2, output_type=Types.INT())
    with pytest.raises(JobExecutionError, match=message):
        collected(stream)


def test_wrong_calls(rows: Any) -> None:
    wrong: list[tuple[Any, Any, Any, Any, str]] = [
        (Sums(), Time.seconds(1), -1, None, "was given -1 as batch_size"),
        (Sums(), Time.seconds(0), 2, None, "above 0"),
        (Sums(), Time.seconds(1), 2, Time.milliseconds(-1), "batch_timeout"),
        (NotAsync(), Time.seconds(1), 2, None, "async def"),
        (Sums, Time.seconds(1), 2, None, "the class Sums"),
        (5, Time.seconds(1), 2, None, "async_invoke_batch"),
    ]
    for function, timeout, size, longest, message in wrong:
        with pytest.raises(InvalidProgramError, match=message):
            AsyncDataStream.ordered_wait_batch(rows, function, timeout, size, longest)


def test_functions_of_batches(rows: Any) -> None:
    def add(batch: pa.RecordBatch) -> pa.Array:
        return pc.add(batch["v1"], batch["v2"])

    def both(batch: pd.DataFrame) -> pd.DataFrame:
        return batch.assign(v2=batch.v2 * 10)

    assert collected(rows.map(add, output_type=Types.LONG())) == [2, 4, 6, 8, 10]
    assert collected(rows.map(both, output_type=ROW)) == [Row(v1=a, v2=10 * b) for a, b in ROWS]
    assert collected(rows.key_by(lambda row: row.v1 % 2).map(add, output_type=Types.LONG())) == [2, 4, 6, 8, 10]
