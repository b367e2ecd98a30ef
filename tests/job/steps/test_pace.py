"""How much a step reads follows from how long the last ones took."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from penstock.common import Types, WatermarkStrategy
from penstock.common.serialization import Encoder
from penstock.common.settings.settings import Settings
from penstock.datastream.connectors import (
    BucketAssigner,
    DataGeneratorSource,
    FileSink,
    RateLimiterStrategy,
)
from penstock.job.deployment import deploy
from penstock.job.steps.schedule import Pace, paced
from tests.job.restore.jobs import environment


def test_it_grows_while_steps_are_short_and_shrinks_when_they_are_long():
    pace = Pace(0, 1000)
    first = pace.records
    pace.took(first, 100)
    assert pace.records == 2 * first
    pace.took(pace.records, 4000)
    assert pace.records == first
    for _ in range(20):
        pace.took(pace.records, 60_000)
    assert pace.records == 100


def test_it_settles_where_a_step_takes_its_time():
    pace = Pace(0, 1000)
    for _ in range(30):
        pace.took(pace.records, pace.records / 50)
    assert 40_000 <= pace.records <= 50_000


def test_steps_that_find_little_say_nothing():
    pace = Pace(0, 1000)
    before = pace.records
    pace.took(10, 1)
    pace.took(0, 5000)
    assert pace.records == before


def test_it_can_be_fixed():
    pace = Pace(7, 1000)
    pace.took(7, 1)
    assert pace.records == 7


def files_of(root: Path, least: int, **settings) -> tuple[int, float]:
    """How many files a job adds that writes a hundred records per second, and in how many seconds: two, or as many as
    it needs for some files."""
    env = environment(root / "job", 1, **settings)
    numbers = DataGeneratorSource(str, None, Types.STRING(), RateLimiterStrategy.per_second(100))
    sink = FileSink.for_row_format(str(root / "out"), Encoder.simple_string_encoder())
    sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").sink_to(sink.build())
    began, count, seconds = time.monotonic(), 0, 0.0
    client = env.execute_async("files")
    while seconds < 2 or (count < least and seconds < 60):
        time.sleep(0.05)
        count, seconds = len(list((root / "out").glob("part-*"))), time.monotonic() - began
    client.stop()
    client.get_job_execution_result().result(60)
    lines = [int(line) for path in (root / "out").glob("part-*") for line in path.read_text().split()]
    assert sorted(lines) == list(range(len(lines)))
    return count, seconds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "least", "interval"),
    [
        ({"penstock__files__commit_interval": "400 ms"}, 1, 0.4),
        ({"penstock__files__commit_interval": "0"}, 15, 0),
        ({"penstock__files__commit_interval": "0", "execution__checkpointing__interval": "400 ms"}, 1, 0.4),
        ({"penstock__files__commit_interval": "1 h", "execution__checkpointing__interval": "50 ms"}, 8, 0.05),
    ],
    ids=["by default", "each step", "by the checkpoint interval", "by a shorter one"],
)
def test_files_are_committed_no_more_often_than_is_said(tmp_path, settings, least, interval):
    files, seconds = files_of(tmp_path, least, **settings)
    assert files >= least
    assert not interval or files <= seconds / interval + 2


@pytest.mark.parametrize("milliseconds", [None, 500])
def test_only_a_program_that_adds_files_and_says_no_interval_gets_one(tmp_path, milliseconds):
    def interval(sink):
        env = environment(penstock__files__commit_interval="10 s")
        if milliseconds is not None:
            env.enable_checkpointing(milliseconds)
        stream = env.from_collection(["a"], Types.STRING())
        sink(stream)
        return paced(deploy(env.to_pipeline("pace"))).checkpoint_interval

    row_sink = FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder()).build()
    assert interval(lambda stream: stream.sink_to(row_sink)) == (milliseconds or 10_000)
    assert interval(lambda stream: stream.print()) == milliseconds
    assert interval(lambda stream: stream.write_as_text(str(tmp_path / "text"))) == milliseconds
    assert Settings().file_commits == 10_000
