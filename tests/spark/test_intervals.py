"""On Spark a checkpoint interval changes neither results nor latency, as on the local executor; and files of a FileSink
end with checkpoints, though each step may run in other workers."""

from __future__ import annotations

import contextlib
import time
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet
import pytest

from penstock.common import RestartStrategies, Time, Types, WatermarkStrategy
from penstock.common.data_types import DataTypes
from penstock.common.serialization import Encoder
from penstock.datastream import KeyedProcessFunction
from penstock.datastream.connectors import BucketAssigner, FileSink, RollingPolicy
from penstock.datastream.formats import ParquetBulkWriters
from penstock.datastream.window import TumblingEventTimeWindows, TumblingProcessingTimeWindows
from tests.job.steps.test_intervals import (
    LONG,
    ByItself,
    appended,
    cancelled,
    environment,
    lines,
    ticks,
    until,
    versions,
)

PATIENCE = 360
SOON = 30
"""Seconds that a busy machine may take for a step; an interval is an hour."""
PAIR = Types.TUPLE([Types.INT(), Types.INT()])


def median(values):
    return sorted(values)[len(values) // 2]


def test_windows_by_the_clock_timers_and_watermarks_do_not_wait_for_a_checkpoint(tmp_path, spark, capfd):
    """One program that has them all: there is one checkpoint, that of its first step."""
    env = environment(tmp_path / "job", spark=spark)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByItself())
    stream = ticks(env, 0.05, strategy=strategy)
    stream.print()
    keyed = stream.map(lambda n: (0, 1), PAIR).key_by(lambda pair: pair[0], Types.INT())
    clock, event, timers = tmp_path / "clock", tmp_path / "event", tmp_path / "timers"
    keyed.window(TumblingProcessingTimeWindows.of(Time.milliseconds(1000))).sum(1).add_sink(appended(clock))
    keyed.window(TumblingEventTimeWindows.of(Time.seconds(10))).sum(1).add_sink(appended(event))

    class Later(KeyedProcessFunction):
        """Each record sets a timer; how long after its time that fires."""

        def process_element(self, value, ctx):
            ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 300)

        def on_timer(self, timestamp, ctx):
            yield time.time() - timestamp / 1000

    keyed.process(Later(), Types.DOUBLE()).add_sink(appended(timers))
    client = env.execute_async()
    until(lambda: len(lines(clock)) >= 5 and len(lines(event)) >= 4 and len(lines(timers)) >= 40, "all", PATIENCE)
    assert versions(tmp_path / "job") == 1
    assert client.metrics().steps_since > 5
    cancelled(client)
    assert {record[1] for _, record in lines(event)} == {10}
    assert median([record[1] for _, record in lines(clock)[1:]]) <= 20 * SOON
    assert median([after[0] - before[0] for before, after in pairwise(lines(clock))]) < SOON
    assert median([late for _, late in lines(timers)]) < SOON
    printed = list(map(int, capfd.readouterr().out.split()))
    assert printed == list(range(len(printed)))
    assert len(printed) > 40


class Remainder(BucketAssigner):
    """Two buckets."""

    def get_bucket_id(self, element, context):
        return f"of-{len(element) % 2}"


def parts(out):
    return sorted(path for path in Path(out).rglob("part-*") if ".steps-" not in str(path))


def text_sink(out, policy):
    sink = FileSink.for_row_format(str(out), Encoder.simple_string_encoder()).with_bucket_assigner(Remainder())
    return sink.with_rolling_policy(policy).build()


ONE_A_CHECKPOINT = RollingPolicy.on_checkpoint_rolling_policy()


@pytest.mark.parametrize("executor", ["local", "spark"])
@pytest.mark.parametrize("length", [1, 2_000], ids=["little", "much"])
def test_a_file_ends_with_a_checkpoint(tmp_path, request, executor, length):
    """Not with a step: of 20 of them two are checkpoints. What is much is not in reports."""
    spark = request.getfixturevalue("spark") if executor == "spark" else None
    settings = {"penstock__step__records": 10, "penstock__step__available_now": "true"}
    env = environment(tmp_path / "job", spark=spark, parallelism=2, **settings)
    texts = ticks(env, 0, 200).map(lambda n: "x" * (n % 2) + f"{n:09d}" * length, Types.STRING()).rebalance()
    texts.sink_to(text_sink(tmp_path / "out", ONE_A_CHECKPOINT)).uid("files")
    env.execute()
    assert versions(tmp_path / "job") == 2
    files = parts(tmp_path / "out")
    assert 4 <= len(files) <= 8  # of two subtasks, in two buckets, of two checkpoints
    written = [line.lstrip("x") for path in files for line in path.read_text().splitlines()]
    assert sorted(written) == sorted(f"{n:09d}" * length for n in range(200))
    for path in files:  # each subtask writes in order
        assert path.read_text().splitlines() == sorted(path.read_text().splitlines())
    left = [path for path in tmp_path.rglob("*") if ".steps-" in str(path)]
    assert not left


@pytest.mark.parametrize("executor", ["local", "spark"])
def test_parts_roll_by_size_between_checkpoints(tmp_path, request, executor):
    spark = request.getfixturevalue("spark") if executor == "spark" else None
    settings = {"penstock__step__records": 10, "penstock__step__available_now": "true"}
    env = environment(tmp_path / "job", spark=spark, **settings)
    texts = ticks(env, 0, 200).map(lambda n: f"{n:09d}", Types.STRING())
    sink = text_sink(tmp_path / "out", RollingPolicy.default_rolling_policy(part_size=245))
    texts.sink_to(sink).uid("files")
    env.execute()
    sizes = [len(path.read_text().splitlines()) for path in sorted(parts(tmp_path / "out"), key=counter)]
    assert sizes == [10, 25, 25, 25, 25, 25, 25, 25, 15]  # ten of the first step, which is a checkpoint
    assert [counter(path) for path in sorted(parts(tmp_path / "out"), key=counter)] == list(range(9))


@pytest.mark.parametrize(
    ("executor", "seconds", "rollover", "inactivity"),
    [("local", 0.05, 500, 60_000), ("local", 0.3, 60_000, 100), ("spark", 0.05, 500, 60_000)],
)
def test_parts_roll_by_time_between_checkpoints(tmp_path, request, executor, seconds, rollover, inactivity):
    """When a record comes; they are visible with the next checkpoint."""
    spark = request.getfixturevalue("spark") if executor == "spark" else None
    env, seen = environment(tmp_path / "job", spark=spark), tmp_path / "seen"
    stream = ticks(env, seconds)
    policy = RollingPolicy.default_rolling_policy(1 << 20, rollover, inactivity)
    texts = stream.map(lambda n: f"{n:09d}", Types.STRING())
    texts.sink_to(text_sink(tmp_path / "out", policy)).uid("files")
    texts.add_sink(appended(seen))
    client = env.execute_async()
    until(lambda: turns(lines(seen), min(rollover, inactivity) / 1000) > 4, "so much time", PATIENCE)
    assert len(parts(tmp_path / "out")) <= 1  # of the first step
    client.stop().result()
    client.get_job_execution_result().result()
    assert versions(tmp_path / "job") == 2
    files = sorted(parts(tmp_path / "out"), key=counter)
    apart = max(seconds, min(rollover, inactivity) / 1000)
    assert 3 <= len(files) <= 3 + (lines(seen)[-1][0] - lines(seen)[0][0]) / apart
    written = [line for path in files for line in path.read_text().splitlines()]
    assert written == [f"{n:09d}" for n in range(len(written))]


def turns(seen, seconds):
    """How often a record has come so many seconds after the one that a part began with."""
    begins = [moment for moment, _ in seen[:1]]
    for moment, _ in seen:
        if moment > begins[-1] + seconds:
            begins.append(moment)
    return len(begins) - 1


def counter(path):
    return int(path.name.rpartition("-")[2])


@pytest.mark.parametrize("executor", ["local", "spark"])
def test_files_of_bulk_formats_end_with_a_checkpoint(tmp_path, request, executor):
    spark = request.getfixturevalue("spark") if executor == "spark" else None
    settings = {"penstock__step__records": 30, "penstock__step__available_now": "true"}
    env = environment(tmp_path / "job", spark=spark, parallelism=2, **settings)
    row_type = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("text", DataTypes.STRING())])
    rows = ticks(env, 0, 300).map(lambda n: (n, str(n) * 50)).rebalance()
    sink = FileSink.for_bulk_format(str(tmp_path / "out"), ParquetBulkWriters.for_row_type(row_type))
    sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    rows.sink_to(sink.build()).uid("files")
    env.execute()
    files = parts(tmp_path / "out")
    assert len(files) == 4
    read = [row for path in files for row in pyarrow.parquet.read_table(path).to_pylist()]
    assert sorted(row["n"] for row in read) == list(range(300))
    assert all(row["text"] == str(row["n"]) * 50 for row in read)


def modified(paths):
    """When files have been written; they may go meanwhile, as the next checkpoint has come."""
    moments = []
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            moments.append(path.stat().st_mtime)
    return moments


def test_what_was_passed_on_is_removed_with_the_next_checkpoint(tmp_path, spark):
    env = environment(tmp_path / "job", 1_500, spark, penstock__step__records=5)
    texts = ticks(env, 0.01).map(lambda n: f"{n:09d}" * 1_000, Types.STRING())
    texts.sink_to(text_sink(tmp_path / "out", ONE_A_CHECKPOINT)).uid("files")
    client = env.execute_async()
    for _ in range(2):
        before = versions(tmp_path / "job")
        until(lambda before=before: versions(tmp_path / "job") >= before + 2, "a checkpoint", PATIENCE)
        manifests = sorted(modified((tmp_path / "job" / "manifests").iterdir()))
        packs = list((tmp_path / "job").glob("prepared/.steps-*/*-*-*"))
        assert all(moment >= manifests[-2] for moment in modified(packs))
        until(lambda: list((tmp_path / "job").glob("prepared/.steps-*/*-*-*")), "a pack", PATIENCE)
    cancelled(client)
    assert len(list((tmp_path / "job").glob("prepared/.steps-*/*-*-*"))) == 0


def test_what_was_passed_on_before_a_failure_is_discarded(tmp_path, spark):
    failed = tmp_path / "failed"

    def once(number):
        if number == 155 and not failed.exists():
            failed.touch()
            raise ValueError("once")
        return f"{number:09d}" * 300

    settings = {"penstock__step__records": 10, "penstock__step__available_now": "true"}
    env = environment(tmp_path / "job", LONG, spark, 2, **settings)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(5, 0))
    ticks(env, 0, 200).map(once, Types.STRING()).sink_to(text_sink(tmp_path / "out", ONE_A_CHECKPOINT)).uid("files")
    env.execute()
    assert failed.exists()
    written = [line for path in parts(tmp_path / "out") for line in path.read_text().splitlines()]
    assert sorted(written) == [f"{n:09d}" * 300 for n in range(200)]
    assert not [path for path in tmp_path.rglob("*") if ".steps-" in str(path)]
