"""What programs in steps do at their ends, as docs/streaming.md says."""

from __future__ import annotations

import time

import pytest

from penstock.common import Configuration, JobStatus, Time, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import DataGeneratorSource, NumberSequenceSource, RateLimiterStrategy
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.errors import InvalidProgramError, JobGraphError
from tests.running import collected

NONE = WatermarkStrategy.no_watermarks()


def environment(**settings: str) -> StreamExecutionEnvironment:
    values = {key.replace("__", ".").replace("_", "-"): value for key, value in settings.items()}
    return StreamExecutionEnvironment.get_execution_environment(Configuration(values), executor="local")


def test_a_source_without_an_end_is_refused_in_batch_mode_and_makes_automatic_streaming() -> None:
    ticks = DataGeneratorSource(lambda number: number, None, Types.LONG(), RateLimiterStrategy.per_second(1000))
    env = environment(execution__runtime_mode="BATCH")
    env.from_source(ticks, NONE, "ticks").print()
    with pytest.raises(InvalidProgramError, match=r"'ticks' never ends, and BATCH mode emits what is known at the end"):
        env.execute()
    env = environment(execution__runtime_mode="AUTOMATIC")
    with env.from_source(ticks, NONE, "ticks").execute_and_collect() as records:
        assert next(iter(records)) == 0


def test_timers_by_the_clock_that_are_not_due_never_fire_and_open_windows_do(tmp_path) -> None:
    class Later(KeyedProcessFunction):
        def process_element(self, value, ctx):
            service = ctx.timer_service()
            service.register_processing_time_timer(service.current_processing_time() + 3_600_000)
            service.register_event_time_timer(10**12)
            return []

        def on_timer(self, timestamp, ctx):
            yield timestamp

    env = environment(execution__checkpointing__dir=str(tmp_path), penstock__step__records="2")
    timed = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
    numbers = env.from_source(NumberSequenceSource(1, 5), timed, "numbers")
    keyed = numbers.key_by(lambda value: 0, Types.INT())
    sums = keyed.window(TumblingEventTimeWindows.of(Time.hours(1))).sum()
    assert sorted(collected(sums.union(keyed.process(Later(), Types.LONG())))) == [15, 10**12]


def test_loops_are_refused_where_checkpoints_are_enabled(tmp_path) -> None:
    env = environment(execution__checkpointing__dir=str(tmp_path))
    env.enable_checkpointing(1000)
    loop = env.from_collection([3], Types.INT()).iterate()
    less = loop.map(lambda number: number - 1, Types.INT())
    loop.close_with(less.filter(lambda number: number > 0))
    less.print()
    with pytest.raises(JobGraphError, match="checkpointing is enabled in a program with 1 iteration"):
        env.execute()


def test_a_job_that_is_stopped_fires_no_window(tmp_path) -> None:
    env = environment(execution__checkpointing__dir=str(tmp_path / "job"))
    timed = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
    ticks = DataGeneratorSource(lambda number: number, None, Types.LONG(), RateLimiterStrategy.per_second(1000))
    numbers = env.from_source(ticks, timed, "ticks").uid("ticks")
    windows = numbers.key_by(lambda value: 0, Types.INT()).window(TumblingEventTimeWindows.of(Time.hours(1)))
    windows.sum().uid("sums").write_as_text(str(tmp_path / "out"))
    client = env.execute_async("windows")
    while client.metrics()["sums"].metrics.records_in < 10:
        time.sleep(0.01)
    client.stop()
    client.get_job_execution_result().result()
    assert client.get_job_status().result() is JobStatus.FINISHED
    assert not (tmp_path / "out").exists() or (tmp_path / "out").read_text() == ""
