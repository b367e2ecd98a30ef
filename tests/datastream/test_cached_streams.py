"""Cached streams: computed by one job, read by the ones after it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from penstock.common import OutputTag, RuntimeExecutionMode, Types, WatermarkStrategy
from penstock.datastream import (
    CachedDataStream,
    DataStream,
    MapFunction,
    ProcessFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.errors import InvalidProgramError, JobExecutionError
from tests.running import collected

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
PAIRS = [("abc"[n % 3], n) for n in range(12)]


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    environment = StreamExecutionEnvironment.get_execution_environment(executor="local")
    return environment.set_runtime_mode(RuntimeExecutionMode.BATCH)


def drawn(env: StreamExecutionEnvironment) -> CachedDataStream[float]:
    return env.from_collection(range(5)).map(lambda n: random.random(), Types.DOUBLE()).cache()


def names(env: StreamExecutionEnvironment) -> list[str]:
    return [node["name"] for node in env.get_stream_graph().to_dict()["nodes"]]


def test_it_is_computed_once(env: StreamExecutionEnvironment) -> None:
    cached = drawn(env)
    first = collected(cached)
    assert collected(cached) == first
    assert collected(cached.map(lambda n: n * 2)) == [n * 2 for n in first]
    cached.invalidate()
    assert collected(cached) != first


def test_later_jobs_begin_with_it(env: StreamExecutionEnvironment) -> None:
    cached = drawn(env)
    cached.map(str)
    assert names(env) == ["Source: Collection Source", "Map", "Cache: Map", "Sink: Cache: Map", "Map"]
    result = env.execute()
    assert result.collected == {}
    cached.map(str)
    assert names(env) == ["Source: Cache: Map", "Map"]
    assert [metrics.name for metrics in env.execute().metrics.values()] == ["Source: Cache: Map", "Map"]


def test_it_has_no_effect_on_streams(env: StreamExecutionEnvironment) -> None:
    cached = drawn(env.set_runtime_mode(RuntimeExecutionMode.STREAMING))
    assert collected(cached) != collected(cached)
    cached.map(str)
    assert "Cache: Map" not in names(env)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH).execute()
    assert collected(cached) == collected(cached)
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    assert collected(cached) != collected(cached)


class Placed(MapFunction):
    def open(self, runtime_context: Any) -> None:
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value: Any) -> Any:
        return value, self.subtask


class Stamps(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value, ctx.timestamp()


def test_records_keep_their_subtask_and_their_time(env: StreamExecutionEnvironment) -> None:
    env.set_parallelism(3)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda pair, _: pair[1] * 7)
    timed = env.from_collection(PAIRS, PAIR).rebalance().assign_timestamps_and_watermarks(strategy).set_parallelism(3)
    cached = timed.cache()
    seen = [collected(cached.process(Stamps()).map(Placed())) for _ in range(3)]
    assert seen[0] == seen[1] == seen[2]
    assert {subtask for _, subtask in seen[0]} == {0, 1, 2}
    assert sorted(pair_and_time for pair_and_time, _ in seen[0]) == sorted((pair, pair[1] * 7) for pair in PAIRS)


class Sum(WindowFunction):
    def apply(self, key: str, window: Any, inputs: Any) -> Any:
        yield key, window.start, sum(n for _, n in inputs)


def test_windows_of_a_cached_stream(env: StreamExecutionEnvironment) -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda pair, _: pair[1])
    cached = env.from_collection(PAIRS, PAIR).assign_timestamps_and_watermarks(strategy).cache()
    windows = cached.key_by(lambda pair: pair[0], Types.STRING()).window(TumblingEventTimeWindows.of(6)).apply(Sum())
    first = collected(windows)
    again = cached.key_by(lambda pair: pair[0], Types.STRING()).window(TumblingEventTimeWindows.of(6)).apply(Sum())
    assert collected(again) == first
    assert sorted(first) == [("a", 0, 3), ("a", 6, 15), ("b", 0, 5), ("b", 6, 17), ("c", 0, 7), ("c", 6, 19)]


ODD = OutputTag("odd", Types.INT())


class Split(ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        if value % 2:
            yield ODD, value
        else:
            yield value


def test_side_outputs_and_caches_of_caches(env: StreamExecutionEnvironment) -> None:
    split = env.from_collection(range(6), Types.INT()).process(Split(), Types.INT())
    odd = split.get_side_output(ODD).cache()
    tenfold = odd.map(lambda n: n * 10, Types.INT()).cache()
    assert collected(tenfold.union(split.get_side_output(ODD))) == [10, 30, 50, 1, 3, 5]
    tenfold.union(odd).map(str)
    assert names(env) == ["Source: Cache: Map", "Source: Cache: SideOutput", "Map"]
    env.execute()
    odd.invalidate()
    assert collected(tenfold) == [10, 30, 50]


def test_a_job_that_fails_keeps_nothing(env: StreamExecutionEnvironment) -> None:
    cached = drawn(env)
    cached.map(lambda n: 1 / 0)
    with pytest.raises(JobExecutionError):
        env.execute()
    cached.map(str)
    assert "Map" in names(env)[1]
    env.execute()
    assert collected(cached) == collected(cached)


def test_a_record_is_kept_as_it_was(env: StreamExecutionEnvironment) -> None:
    cached = env.from_collection([[1], [2]]).map(list).cache()
    changed = cached.map(lambda record: record.append(0) or record)
    assert collected(changed) == [[1, 0], [2, 0]]
    assert collected(cached.map(lambda record: record.append(5) or record)) == [[1, 5], [2, 5]]
    assert collected(cached) == [[1], [2]]


def test_only_what_an_operator_emits(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1, 2], Types.INT())
    assert isinstance(numbers.cache(), DataStream)
    for stream in (numbers.rebalance(), numbers.union(numbers), numbers.key_by(str), numbers.cache()):
        with pytest.raises(InvalidProgramError) as caught:
            stream.cache()
        assert caught.value.flink_class == "java.lang.IllegalStateException"
