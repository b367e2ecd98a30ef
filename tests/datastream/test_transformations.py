"""Programs of transformations, run to their end in this process; and what their calls refuse or return."""

from __future__ import annotations

from collections import Counter

import pytest

from penstock.common import RuntimeExecutionMode, Types
from penstock.common.async_retry import ExponentialBackoffDelayRetryStrategy, RetryPredicate
from penstock.datastream import AsyncDataStream, AsyncRetryStrategy, StreamExecutionEnvironment
from penstock.errors import JobExecutionError
from tests.datastream import side_output_programs, transformations
from tests.datastream.transformations import PAIR, PAIRS, PATIENT, Named, Unreliable, added, by_letter

PROGRAMS = {**transformations.PROGRAMS, **side_output_programs.PROGRAMS}


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor="local")


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, parallelism: int, env: StreamExecutionEnvironment) -> None:
    build, expected = PROGRAMS[name]
    with build(env.set_parallelism(parallelism)).execute_and_collect() as records:
        assert Counter(map(repr, records)) == Counter(map(repr, expected))


@pytest.mark.parametrize(("limit", "count"), [(1, 1), (5, 5), (20, 20), (99, 20)])
def test_a_limit_on_a_keyed_stream(limit: int, count: int, env: StreamExecutionEnvironment) -> None:
    records = by_letter(env).execute_and_collect(limit=limit)
    assert isinstance(records, list)
    assert len(records) == count
    assert set(records) <= set(PAIRS)


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"side output of late data"}))
def test_program_in_batch_mode(name: str, env: StreamExecutionEnvironment) -> None:
    """But for what is late, which nothing is where time moves at the end of a key only."""
    build, expected = PROGRAMS[name]
    env.set_runtime_mode(RuntimeExecutionMode.BATCH).set_parallelism(2)
    with build(env).execute_and_collect() as records:
        assert Counter(map(repr, records)) == Counter(map(repr, expected))


# --- windows ----------------------------------------------------------------------------------------------------------


def test_apply_of_two_functions_is_reduce_of_them(env: StreamExecutionEnvironment) -> None:
    windows = by_letter(env).count_window(2)
    names = {windows.apply(added, Named()).get_name(), windows.reduce(added, Named()).get_name()}
    assert names == {"Window(GlobalWindows(), PurgingTrigger, added, Named)"}


def test_apply_takes_the_type_by_position(env: StreamExecutionEnvironment) -> None:
    windows = env.from_collection(PAIRS, PAIR).key_by(lambda pair: pair[0], Types.STRING()).count_window(2)
    assert windows.apply(Named(), Types.STRING()).get_type() == Types.STRING()
    assert windows.apply(Named(), output_type=Types.STRING()).get_type() == Types.STRING()
    assert windows.apply(added, Named(), output_type=Types.STRING()).get_type() == Types.STRING()
    assert windows.apply(added, Named(), Types.STRING()).get_type() == Types.STRING()
    assert windows.apply(window_function=Named()).transformation.output_type is None


# --- asynchronous calls -----------------------------------------------------------------------------------------------


def test_results_keep_their_order_whatever_is_retried(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([3, 0, 2, 1], Types.INT())
    waited = AsyncDataStream.ordered_wait_with_retry(numbers, Unreliable(), 60_000, PATIENT)
    assert [value for value, _ in waited.execute_and_collect()] == [3, 0, 2, 1]


def test_the_last_exception_fails_the_job(env: StreamExecutionEnvironment) -> None:
    strategy = AsyncRetryStrategy.fixed_delay(2, 1, None, lambda error: True)
    numbers = env.from_collection([5], Types.INT())
    with pytest.raises(JobExecutionError) as caught:
        AsyncDataStream.unordered_wait_with_retry(numbers, Unreliable(), 60_000, strategy).execute_and_collect()
    assert "Could not complete the stream element: Record @ None : 5" in str(caught.value)


class Impatient(AsyncRetryStrategy[int]):
    """One of a program's own: no retry after the value's first attempt failed, though asked for."""

    def can_retry(self, current_attempts: int) -> bool:
        return current_attempts < 2

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        return current_attempts

    def get_retry_predicate(self) -> RetryPredicate[int]:
        return RetryPredicate(None, lambda error: isinstance(error, ConnectionError))


def test_a_strategy_of_ones_own(env: StreamExecutionEnvironment) -> None:
    waited = AsyncDataStream.ordered_wait_with_retry(env.from_collection([0, 1]), Unreliable(), 60_000, Impatient())
    assert list(waited.execute_and_collect()) == [(0, 1), (1, 2)]


def test_waits_are_those_of_the_attempt() -> None:
    strategy = AsyncRetryStrategy.exponential_backoff(9, 100, 1_000, 2.0, None, None)
    assert isinstance(strategy, ExponentialBackoffDelayRetryStrategy)
    assert [strategy.get_backoff_time_millis(n) for n in (1, 2, 3, 4, 5, 1)] == [100, 200, 400, 800, 1_000, 100]
    assert strategy.get_backoff_time_millis(100_000) == 1_000
    assert [strategy.can_retry(n) for n in (1, 9, 10)] == [True, True, False]
    assert AsyncRetryStrategy.fixed_delay(1, 5).get_backoff_time_millis(7) == 5
    assert not AsyncRetryStrategy.no_restart().can_retry(1)
