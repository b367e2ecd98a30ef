"""Asynchronous calls with many records: which records are a batch, results, timestamps, time, failures."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from penstock.common import Row
from penstock.common.async_retry import AsyncRetryStrategy
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.operators.async_wait import AsyncBatchWait
from penstock.runtime.usercode.failure import OperatorFailure
from tests.runtime.operators.operators_alone import Alone


class Twice:
    """Notes the batches. A batch that begins with a smaller number takes longer."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []

    async def async_invoke_batch(self, values: list[Any]) -> list[Any]:
        self.batches.append(list(values))
        await asyncio.sleep(0.05 / (values[0] + 1))
        return [2 * value for value in values]


def waiting(f: Any, *, ordered: bool = True, timeout: int = 10_000, **options: Any) -> Alone:
    return Alone(AsyncBatchWait(f, ordered, timeout, **{"batch_size": 3, **options}))


@pytest.mark.parametrize("ordered", [True, False])
def test_batches_end_where_watermarks_rounds_steps_and_the_input_do(ordered: bool) -> None:
    alone = waiting(Twice(), ordered=ordered)
    for value in range(7):
        alone.take(value, 10 * value)
    alone.watermark(65)
    alone.take(7, 70)
    alone.live.end_round()
    alone.take(8, 80)
    alone.live.end_step()
    alone.take(9, 90)
    alone.live.end_input()
    alone.watermark(MAX_WATERMARK)
    alone.live.end_input()
    assert alone.live.function.batches == [[0, 1, 2], [3, 4, 5], [6], [7], [8], [9]]
    assert sorted(alone.results) == [(2 * value, 10 * value) for value in range(10)]
    assert (alone.results == sorted(alone.results)) is ordered
    assert alone.watermarks == [65, MAX_WATERMARK]
    alone.live.dispose()


def test_a_record_waits_for_others_so_long() -> None:
    alone = waiting(Twice(), batch_timeout=20)
    alone.take(1)
    alone.wait_until(19)
    assert alone.live.function.batches == []
    alone.take(2)
    alone.wait_until(20)
    assert alone.live.function.batches == [[1, 2]]
    alone.take(3)
    alone.now = 40
    alone.take(4)
    assert alone.live.function.batches == [[1, 2], [3, 4]]
    alone.live.end_input()
    alone.wait_until(100)
    assert [value for value, _ in alone.results] == [2, 4, 6, 8]
    alone.live.dispose()


class Fewer:
    async def async_invoke_batch(self, values: list[int]) -> list[int]:
        return [value for value in values if value % 2]


def test_another_number_of_results_has_the_largest_timestamp() -> None:
    alone = waiting(Fewer())
    for value, time in ((1, 30), (2, 50), (3, 40), (4, None), (5, None), (6, None), (8, 1)):
        alone.take(value, time)
    alone.live.end_input()
    assert alone.results == [(1, 50), (3, 50), (5, None)]
    alone.live.dispose()


class Slow:
    async def async_invoke_batch(self, values: list[Any]) -> list[Any]:
        await asyncio.sleep(60)
        return values

    def timeout_batch(self, values: list[Any]) -> list[Any]:
        return [f"{value} late" for value in values]


def test_a_batch_that_takes_too_long_has_results_of_its_own() -> None:
    alone = waiting(Slow(), timeout=1)
    alone.take("a", 1)
    alone.take("b", 2)
    alone.live.end_input()
    assert alone.results == [("a late", 1), ("b late", 2)]
    alone.live.dispose()


class FailsOnce:
    def __init__(self) -> None:
        self.calls = 0

    async def async_invoke_batch(self, values: list[Any]) -> list[Any]:
        self.calls += 1
        if self.calls == 1:
            raise ConnectionError("busy")
        return [] if self.calls == 2 else values


def test_a_whole_batch_is_tried_again() -> None:
    retry: Any = AsyncRetryStrategy.fixed_delay(3, 1, lambda results: not results, lambda error: True)
    alone = waiting(FailsOnce(), retry=retry)
    for value in range(3):
        alone.take(value, value)
    alone.live.end_input()
    assert alone.live.function.calls == 3
    assert alone.results == [(0, 0), (1, 1), (2, 2)]
    alone.live.dispose()


class Gives:
    def __init__(self, result: Any) -> None:
        self.result = result

    async def async_invoke_batch(self, values: list[Any]) -> Any:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (42, "The result of AsyncBatchFunction should be of list type. .* returned 42"),
        (None, "Could not complete the batch of 2 stream elements, the first of them: Record @ 7 : 1"),
        (KeyError("mine"), "Could not complete the batch of 2 stream elements"),
    ],
)
def test_wrong_results_and_exceptions_fail_the_operator(result: Any, message: str) -> None:
    alone = waiting(Gives(result))
    alone.take(1, 7)
    alone.take(2, 8)
    with pytest.raises(OperatorFailure) as caught:
        alone.live.end_input()
    with pytest.raises(type(caught.value.error), match=message):
        raise caught.value.error
    if result is None:
        assert "AsyncBatchFunction cannot be none, and was for a batch of 2 records" in str(
            caught.value.error.__cause__
        )
    elif isinstance(result, KeyError):
        assert isinstance(caught.value.error.__cause__, KeyError)
    alone.live.dispose()


def test_what_waits_does_not_change_with_what_the_program_changes() -> None:
    class Same:
        async def async_invoke_batch(self, values: list[Any]) -> list[Any]:
            return values

    alone, row = waiting(Same()), Row(1)
    alone.take(row)
    row[0] = 2
    alone.live.end_input()
    assert alone.results == [(Row(1), None)]
    alone.live.dispose()


def test_so_many_calls_may_be_under_way() -> None:
    class Counts:
        def __init__(self) -> None:
            self.under_way = self.most = 0

        async def async_invoke_batch(self, values: list[Any]) -> list[Any]:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            await asyncio.sleep(0.001)
            self.under_way -= 1
            return values

    alone = waiting(Counts(), capacity=2)
    for value in range(30):
        alone.take(value)
    alone.live.end_input()
    assert alone.live.function.most == 2
    assert [value for value, _ in alone.results] == list(range(30))
    alone.live.dispose()
