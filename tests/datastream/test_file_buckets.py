"""Buckets of a FileSink: by the clock, of one's own with all that the context knows, and such as cannot be."""

from __future__ import annotations

import time
from datetime import datetime, timezone

import pytest

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from penstock.datastream.connectors import BucketAssigner, FileSink, NumberSequenceSource
from penstock.errors import JobExecutionError
from tests.datastream.file_sinks import LINES, Remainder, lines, numbers, parts, to
from tests.running import environment


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_buckets_of_ones_own(tmp_path, parallelism, mode):
    env = environment(parallelism)
    env.set_runtime_mode(mode)
    numbers(env).key_by(lambda number: number % 5).sink_to(to(tmp_path, assigner=Remainder()).build())
    env.execute()
    for remainder in range(3):
        wanted = sorted(f"{number}\n" for number in range(remainder, 100, 3))
        assert lines(tmp_path / f"remainder={remainder}") == wanted
    assert len(list(tmp_path.iterdir())) == 3


class Known(BucketAssigner[int]):
    """What the context knows."""

    def get_bucket_id(self, element: int, context: BucketAssigner.Context, /) -> str:
        assert abs(context.current_processing_time() - time.time() * 1000) < 60_000
        return f"{context.timestamp()}/{context.current_watermark()}"


@pytest.mark.parametrize("chaining", [True, False])
def test_the_context_knows_time_and_watermark(tmp_path, chaining):
    env = environment()
    if not chaining:
        env.disable_operator_chaining()
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value * 10)
    env.from_source(NumberSequenceSource(1, 2), times, "in").sink_to(to(tmp_path / "timed", assigner=Known()).build())
    env.from_collection([3], Types.LONG()).sink_to(to(tmp_path / "plain", assigner=Known()).build())
    env.execute()
    first = -(1 << 63)
    assert parts(tmp_path / "timed") == {f"10/{first}": {0: ["1\n"]}, f"20/{first}": {0: ["2\n"]}}
    assert parts(tmp_path / "plain") == {f"None/{first}": {0: ["3\n"]}}


class Stamped(BucketAssigner[int]):
    """The timestamp."""

    def get_bucket_id(self, element: int, context: BucketAssigner.Context, /) -> str:
        return str(context.timestamp())


@pytest.mark.parametrize("form", ["fused", "listed"])
def test_records_that_come_together_have_their_own_timestamps(tmp_path, form):
    config = Configuration.from_dict({"penstock.runtime.form": form})
    env = StreamExecutionEnvironment.get_execution_environment(config, executor="local")
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value // 100)
    source = env.from_source(NumberSequenceSource(0, 999), times, "in")
    source.rebalance().sink_to(to(tmp_path, assigner=Stamped()).build())
    env.execute()
    for hundred in range(10):
        wanted = "".join(f"{number}\n" for number in range(100 * hundred, 100 * hundred + 100))
        assert parts(tmp_path / str(hundred)) == {".": {0: [wanted]}}


class Written(BucketAssigner[str]):
    """The element itself."""

    def get_bucket_id(self, element: str, context: BucketAssigner.Context, /) -> str:
        return element


def test_paths_that_are_the_same_are_one_bucket(tmp_path):
    env = environment()
    paths = env.from_collection(["a/b", "a//b/", "./a/b", "", ".", "a"], Types.STRING())
    paths.sink_to(to(tmp_path, assigner=Written()).build())
    env.execute()
    assert parts(tmp_path) == {".": {0: ["\n.\n"]}, "a": {0: ["a\n"]}, "a/b": {0: ["a/b\na//b/\n./a/b\n"]}}


@pytest.mark.parametrize(
    ("bucket", "says"),
    [
        ("../up", "'../up', which is not below"),
        ("a/../../b", "is not below"),
        ("/etc", "'/etc', which is not below"),
        (None, "has returned None, which is not a text"),
        (5, "has returned 5, which is not a text"),
        (["a"], r"has returned \['a'\], which is not a text"),
        ("a\0b", "no folder can have that name"),
        ("x" * 256, "no folder can have that name"),
        ("x/" * 2000, "no folder can have that name"),
        ("\ud800", "no folder can have that name"),
    ],
)
def test_buckets_that_cannot_be_fail_the_job(tmp_path, bucket, says):
    env = environment()
    env.from_collection([bucket]).sink_to(to(tmp_path / "out", assigner=Written()).build())
    with pytest.raises(JobExecutionError, match=f"'Sink: Unnamed'.*{says}"):
        env.execute()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_buckets_are_hours_unless_said_otherwise(tmp_path):
    env = environment()
    before = datetime.now()
    env.from_collection([1]).sink_to(FileSink.for_row_format(str(tmp_path / "hours"), LINES).build())
    days = BucketAssigner.date_time_bucket_assigner("'day='yyyyMMdd", "UTC")
    env.from_collection([1]).sink_to(to(tmp_path / "days", assigner=days).build())
    utc = datetime.now(timezone.utc)
    env.execute()
    [hour], [day] = parts(tmp_path / "hours"), parts(tmp_path / "days")
    assert hour in {f"{moment:%Y-%m-%d--%H}" for moment in (before, datetime.now())}
    assert day in {f"day={moment:%Y%m%d}" for moment in (utc, datetime.now(timezone.utc))}
    assert repr(days) == "DateTimeBucketAssigner(\"'day='yyyyMMdd\", 'UTC')"


def test_a_failing_assigner_names_the_sink(tmp_path):
    class Failing(BucketAssigner):
        def get_bucket_id(self, element, context, /):
            return {}[element]

    env = environment()
    env.from_collection([1]).sink_to(to(tmp_path, assigner=Failing()).build()).name("orders")
    with pytest.raises(JobExecutionError, match="'Sink: orders'") as caught:
        env.execute()
    assert isinstance(caught.value.__cause__, KeyError)
