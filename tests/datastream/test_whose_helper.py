"""A failure names the trigger, evictor, window assigner, encoder or bucket assigner that failed, and its line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.common import Time, TimestampAssigner, WatermarkStrategy
from penstock.common.serialization import Encoder
from penstock.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import BucketAssigner, FileSink
from penstock.datastream.evictor import DeltaEvictor, Evictor
from penstock.datastream.window import (
    CountTrigger,
    GlobalWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    WindowAssigner,
)
from penstock.errors import JobExecutionError


class Numbers(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Pulled(Trigger):
    def on_element(self, element, timestamp, window, ctx):
        raise ValueError("pulled")

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        """Nothing."""

    def clear(self, window, ctx):
        """Nothing."""


class Locked(Evictor):
    def evict_before(self, elements, size, window, ctx):
        raise ValueError("locked")

    def evict_after(self, elements, size, window, ctx):
        """Nothing."""


class Lost(WindowAssigner):
    def assign_windows(self, element, timestamp, context):
        raise ValueError("lost")

    def get_default_trigger(self, env):
        return CountTrigger.of(1)

    def get_window_serializer(self):
        raise NotImplementedError

    def is_event_time(self):
        return False


class Shifted(TumblingEventTimeWindows):
    def assign_windows(self, element, timestamp, context):
        return super().assign_windows(element, timestamp + 1_000, context)


class Starts(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start


class Garbled(Encoder):
    def encode(self, element, stream):
        raise ValueError("garbled")


class Leaking(BucketAssigner):
    def get_bucket_id(self, element, context):
        raise ValueError("leaking")


def far(old: Any, new: Any) -> float:
    raise ValueError("far")


def first(left: Any, right: Any) -> Any:
    return left


def windowed(stream: Any, *, trigger: Trigger | None = None, evictor: Evictor | None = None) -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Numbers())
    keyed = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda value: 1)
    windows = keyed.window(TumblingEventTimeWindows.of(Time.seconds(1)))
    windows = windows if trigger is None else windows.trigger(trigger)
    (windows if evictor is None else windows.evictor(evictor)).reduce(first).print()


def in_count_windows(stream: Any, evictor: Evictor) -> None:
    windows = stream.key_by(lambda value: 1).window(GlobalWindows.create()).trigger(CountTrigger.of(1))
    windows.evictor(evictor).reduce(first).print()


def into(stream: Any, path: str, encoder: Encoder, assigner: BucketAssigner | None = None) -> None:
    builder = FileSink.for_row_format(path, encoder)
    stream.sink_to((builder if assigner is None else builder.with_bucket_assigner(assigner)).build())


@pytest.mark.parametrize(
    ("program", "helper"),
    [
        (lambda s, _: windowed(s, trigger=Pulled()), "trigger Pulled, in on_element()"),
        (lambda s, _: windowed(s, evictor=Locked()), "evictor Locked, in evict_before()"),
        (lambda s, _: in_count_windows(s, DeltaEvictor.of(1, far)), "evictor DeltaEvictor, in far()"),
        (lambda s, _: s.key_by(str).window(Lost()).reduce(first).print(), "window assigner Lost, in assign_windows()"),
        (lambda s, path: into(s, path, Garbled()), "encoder Garbled, in encode()"),
        (
            lambda s, path: into(s, path, Encoder.simple_string_encoder(), Leaking()),
            "bucket assigner Leaking, in get_bucket_id()",
        ),
    ],
)
def test_a_failure_names_the_helper_and_its_line(
    program: Callable[[Any, str], None], helper: str, tmp_path: Any
) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    program(env.from_collection([1, 2]), str(tmp_path / "out"))
    with pytest.raises(JobExecutionError) as failed:
        env.execute()
    assert isinstance(failed.value.__cause__, ValueError)
    line = failed.value.__cause__.__traceback__
    while line is not None and line.tb_next is not None:
        line = line.tb_next
    assert line is not None
    place = f"(line {line.tb_lineno} of {__name__.rpartition('.')[2]}.py)"
    assert failed.value.function == f"{helper} {place},"
    assert str(failed.value).startswith(f"The {helper} {place}, in operator ")


def test_a_timestamp_assigner_and_its_line() -> None:
    class Early(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            raise ValueError("early")

    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Early())
    env.from_collection([1]).assign_timestamps_and_watermarks(strategy).print()
    message = r"^The timestamp assigner of the watermark strategy \(line \d+ of test_whose_helper\.py\) in operator"
    with pytest.raises(JobExecutionError, match=message):
        env.execute()


def test_a_subclass_of_an_assigner_assigns() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Numbers())
    keyed = env.from_collection([1, 2]).assign_timestamps_and_watermarks(strategy).key_by(lambda value: 1)
    starts = keyed.window(Shifted(1_000, 0)).process(Starts())
    assert list(starts.execute_and_collect()) == [1_000]
