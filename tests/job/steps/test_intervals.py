"""A checkpoint interval changes neither results nor latency: it says how often state is made durable, and how often
sinks commit. By whole programs, on the local executor; two of them on Spark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from penstock.common import Configuration, RestartStrategies, Time, Types, WatermarkStrategy
from penstock.common.serialization import SimpleStringEncoder
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import FileSink, Records, Source, Split, TwoPhaseCommitSink
from penstock.datastream.window import TumblingEventTimeWindows, TumblingProcessingTimeWindows
from penstock.errors import JobCancelledError, JobExecutionError
from penstock.job.folder.lease import JobFolder
from tests.running import collected

NONE = WatermarkStrategy.no_watermarks()
LONG = 3_600_000
"""Milliseconds of an interval that does not pass."""
PATIENCE = 60


class Ticking(Source):
    """Numbers from 0, one more every so many seconds since it was made, and no more than so many."""

    bounded = False
    together = True

    def __init__(self, seconds, most):
        self.seconds, self.most = seconds, most
        self.began = time.time()

    def splits(self, parallelism):
        due = int((time.time() - self.began) / self.seconds) if self.seconds else self.most
        return [Split("numbers", 0, min(self.most, due))]

    def read(self, split):
        for number in range(split.start, split.end):
            yield Records([number], number + 1)


def environment(folder=None, interval=LONG, spark=None, parallelism=1, **settings):
    values = {key.replace("__", ".").replace("_", "-"): str(value) for key, value in settings.items()}
    if folder is not None:
        values["execution.checkpointing.dir"] = str(folder)
    where = {"executor": "local"} if spark is None else {"spark": spark}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(values), **where)
    if interval is not None:
        env.enable_checkpointing(interval)
    return env.set_parallelism(parallelism)


def ticks(env, seconds=0.05, most=1_000_000, strategy=NONE):
    return env.from_source(Ticking(seconds, most), strategy, "ticks", Types.LONG()).uid("ticks")


def appended(path):
    """A sink that needs no commit: it writes each record behind a file, with the time."""

    def note(record):
        with path.open("a") as file:
            file.write(json.dumps([time.time(), record]) + "\n")

    return note


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def until(holds, what="it", patience=PATIENCE):
    limit = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < limit, f"{what} does not come"
        time.sleep(0.01)


def cancelled(client):
    client.cancel()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()


def versions(folder):
    newest = JobFolder(str(folder)).newest()
    return 0 if newest is None else newest.version


@pytest.mark.slow
@pytest.mark.parametrize("interval", [None, LONG])
def test_windows_by_the_clock_are_the_same(tmp_path, interval):
    """As many windows, of as many records, whatever the interval."""
    out, env = tmp_path / "out", environment(tmp_path / "job", interval)
    ones = ticks(env, 0.05).map(lambda n: (0, 1), Types.TUPLE([Types.INT(), Types.INT()]))
    keyed = ones.key_by(lambda pair: pair[0], Types.INT())
    windows = keyed.window(TumblingProcessingTimeWindows.of(Time.milliseconds(500))).sum(1)
    windows.add_sink(appended(out))
    client = env.execute_async()
    until(lambda: len(lines(out)) >= 6)
    cancelled(client)
    # each comes when it is over, and has about ten, whatever has come before the first: median, as a machine may pause
    sizes = sorted(record[1] for _, record in lines(out)[1:])
    assert 5 <= sizes[len(sizes) // 2] <= 15
    between = sorted(after[0] - before[0] for before, after in pairwise(lines(out)))
    assert between[len(between) // 2] < 1


@pytest.mark.parametrize("interval", [None, 20_000])
def test_a_record_is_seen_at_once(tmp_path, interval, capfd):
    """Printed, and by a sink without commits: long before the interval is over."""
    out, env = tmp_path / "out", environment(tmp_path / "job", interval)
    source = Ticking(0.1, 1_000_000)
    began = source.began
    stream = env.from_source(source, NONE, "ticks", Types.LONG())
    stream.add_sink(appended(out))
    stream.print()
    client = env.execute_async()
    until(lambda: len(lines(out)) >= 15)
    cancelled(client)
    waited = sorted(moment - began - (number + 1) * 0.1 for moment, number in lines(out)[5:])
    assert waited[len(waited) // 2] < 5
    printed = capfd.readouterr().out.split()
    assert [int(text) for text in printed] == list(range(len(printed)))
    assert len(printed) >= 10


class ByItself(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 1000


def test_watermarks_advance_between_checkpoints(tmp_path):
    out, env = tmp_path / "out", environment(tmp_path / "job")
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByItself())
    ones = ticks(env, 0.02, strategy=strategy).map(lambda n: (0, 1), Types.TUPLE([Types.INT(), Types.INT()]))
    keyed = ones.key_by(lambda pair: pair[0], Types.INT())
    keyed.window(TumblingEventTimeWindows.of(Time.seconds(5))).sum(1).add_sink(appended(out))
    client = env.execute_async()
    until(lambda: len(lines(out)) >= 4 and client.metrics().steps_since > 4)
    assert versions(tmp_path / "job") == 1  # the first step
    assert client.metrics().version == 1
    cancelled(client)
    assert {record[1] for _, record in lines(out)} == {5}


@pytest.mark.slow
def test_there_are_as_many_manifests_as_intervals(tmp_path):
    env = environment(tmp_path / "job", 250)
    ticks(env, 0.01).map(lambda n: n, Types.LONG()).print()
    client = env.execute_async()
    until(lambda: versions(tmp_path / "job") >= 1)
    began, before = time.monotonic(), versions(tmp_path / "job")
    until(lambda: time.monotonic() > began + 2.5)
    manifests, most = versions(tmp_path / "job") - before, (time.monotonic() - began) / 0.25
    cancelled(client)
    assert 2 <= manifests <= most + 1


def count(stream, out):
    """Running counts of ten keys, each told with its key and number; into files, exactly once."""

    class Count(KeyedProcessFunction):
        def open(self, context):
            from penstock.datastream import ValueStateDescriptor

            self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))

        def process_element(self, value, ctx):
            count = (self.count.value() or 0) + 1
            self.count.update(count)
            yield f"{ctx.get_current_key()} {count}"

    counted = stream.key_by(lambda n: n % 10, Types.LONG()).process(Count(), Types.STRING()).uid("count")
    sink = FileSink.for_row_format(str(out), SimpleStringEncoder()).build()
    counted.sink_to(sink).uid("files")
    return counted


def written(out):
    """What is visible, in any order."""
    parts = [part for part in Path(out).rglob("part-*") if ".steps-" not in str(part)]
    return sorted(line for part in parts for line in part.read_text().split("\n") if line)


def whole(records):
    return sorted(f"{n % 10} {n // 10 + 1}" for n in range(records))


def test_files_appear_at_the_interval_only(tmp_path):
    env = environment(tmp_path / "job", penstock__step__records=5, parallelism=2)
    seen = tmp_path / "seen"
    count(ticks(env, 0, 200), tmp_path / "out").add_sink(appended(seen))
    client = env.execute_async()
    until(lambda: len(lines(seen)) == 200)
    visible = written(tmp_path / "out")
    assert 0 < len(visible) <= 10  # of the first step
    client.stop()
    client.get_job_execution_result().result()
    assert written(tmp_path / "out") == whole(200)
    assert versions(tmp_path / "job") == 2
    assert len(list((tmp_path / "out").rglob("part-*"))) <= 4  # two subtasks, twice


@pytest.mark.parametrize("backend", ["memory", "disk"])
def test_a_failure_goes_back_to_the_last_checkpoint(tmp_path, backend):
    failed, out = tmp_path / "failed", tmp_path / "out"

    def once(number):
        if number == 150 and not failed.exists():
            failed.touch()
            raise ValueError("once")
        return number

    settings = {"penstock__step__records": 10, "penstock__state__backend": backend}
    env = environment(tmp_path / "job", parallelism=2, **settings)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 0))
    seen = tmp_path / "seen"
    mapped = ticks(env, 0, 300).map(once, Types.LONG())
    mapped.add_sink(appended(seen)).set_parallelism(1)
    counted = count(mapped, out)
    client = env.execute_async()
    until(lambda: len({record for _, record in lines(seen)}) == 300)
    metrics = client.metrics()
    client.stop()
    result = client.get_job_execution_result().result()
    assert failed.exists()
    assert metrics.failed_steps == 1
    assert written(out) == whole(300)
    assert max(Counter(record for _, record in lines(seen)).values()) == 2  # a sink without commits: at least once
    assert result.metrics["ticks" if "ticks" in result.metrics else "Source: ticks"].records_out == 300
    assert counted is not None


def test_what_is_collected_is_so_once(tmp_path):
    """It waits for a checkpoint, as in Flink; the end of a job is one."""
    failed = tmp_path / "failed"

    def once(number):
        if number == 55 and not failed.exists():
            failed.touch()
            raise ValueError("once")
        return number

    env = environment(tmp_path / "job", penstock__step__records=10)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 0))
    assert sorted(collected(env.from_collection(list(range(100)), Types.LONG()).map(once, Types.LONG()))) == list(
        range(100)
    )
    assert failed.exists()


def test_records_go_round_between_checkpoints(tmp_path):
    """Those on their way back are a part of the next checkpoint; after a failure they begin again."""
    failed = tmp_path / "failed"

    def less(number):
        if number == 3 and not failed.exists():
            failed.touch()
            raise ValueError("once")
        return number - 1

    env = environment(tmp_path / "job", None, penstock__step__records=2)
    env.enable_checkpointing(LONG, force=True)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 0))
    loop = env.from_collection([1, 2, 4, 5, 6], Types.LONG()).map(lambda n: n, Types.LONG()).iterate(100)
    body = loop.map(less, Types.LONG())
    loop.close_with(body.filter(lambda n: n > 0))
    assert collected(body.filter(lambda n: n <= 0)) == [0] * 5
    assert failed.exists()


def test_a_two_phase_sink_prepares_once_for_each_checkpoint(tmp_path):
    calls = tmp_path / "calls"

    class Noted(TwoPhaseCommitSink):
        def open(self, context):
            self.values = []

        def write(self, value):
            self.values.append(value)

        def prepare(self, version):
            values, self.values = self.values, []
            return values or None

        def commit(self, committables, version):
            with calls.open("a") as file:
                file.write(json.dumps([version, [value for values in committables for value in values]]) + "\n")

    env = environment(tmp_path / "job", penstock__step__records=10, penstock__step__available_now="true")
    ticks(env, 0, 100).sink_to(Noted())
    env.execute()
    assert lines(calls) == [[1, list(range(10))], [2, list(range(10, 100))]]


def test_a_savepoint_between_checkpoints_has_what_was_read(tmp_path):
    seen = tmp_path / "seen"
    env = environment(tmp_path / "job", penstock__step__records=5, parallelism=2)
    count(ticks(env, 0, 100), tmp_path / "out").add_sink(appended(seen))
    client = env.execute_async()
    until(lambda: len(lines(seen)) == 100)
    place = client.stop_with_savepoint(False, str(tmp_path / "saved")).result()
    client.get_job_execution_result().result()
    assert written(tmp_path / "out") == whole(100)
    settings = {"execution__savepoint__path": place, "penstock__step__available_now": "true"}
    env = environment(tmp_path / "other", parallelism=3, **settings)
    count(ticks(env, 0, 150), tmp_path / "more")
    env.execute()
    assert written(tmp_path / "more") == sorted(Counter(whole(150)) - Counter(whole(100)))


@pytest.mark.parametrize("backend", ["memory", "disk"])
def test_one_that_takes_what_is_there_ends_with_a_checkpoint(tmp_path, backend):
    settings = {"penstock__step__available_now": "true", "penstock__state__backend": backend}
    for most in (100, 250):
        env = environment(tmp_path / "job", penstock__step__records=10, parallelism=2, **settings)
        count(ticks(env, 0, most), tmp_path / "out")
        env.execute()
        assert written(tmp_path / "out") == whole(most)
    assert versions(tmp_path / "job") <= 6


PROGRAM = """
import sys
from penstock.common import WatermarkStrategy
from tests.job.steps import test_intervals as t

folder, out, parallelism, most, seen, interval = sys.argv[1:]
env = t.environment(folder, int(interval), penstock__step__records=20, parallelism=int(parallelism))
stream = t.ticks(env, 0.001, int(most))
t.count(stream, out).add_sink(t.appended(t.Path(seen))).set_parallelism(1)
env.execute("killed")
"""


def started(tmp_path, parallelism, most, interval):
    arguments = [tmp_path / "job", tmp_path / "out", parallelism, most, tmp_path / "seen", interval]
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    root = str(Path(__file__).resolve().parents[3])
    env = {**os.environ, "PYTHONPATH": root}
    return subprocess.Popen([sys.executable, str(program), *map(str, arguments)], env=env, stderr=subprocess.DEVNULL)


@pytest.mark.slow
def test_a_driver_that_is_killed_between_checkpoints_loses_and_doubles_nothing(tmp_path):
    """Three times, restored at another parallelism each time."""
    most = 3_000
    for parallelism in (1, 3, 2):
        process = started(tmp_path, parallelism, most, 500)
        before = len(lines(tmp_path / "seen"))
        until(lambda before=before: len(lines(tmp_path / "seen")) > before + 300)
        process.send_signal(signal.SIGKILL)
        process.wait()
    env = environment(tmp_path / "job", parallelism=2, penstock__step__available_now="true")
    count(ticks(env, 0, most), tmp_path / "out")
    env.execute()
    assert written(tmp_path / "out") == whole(most)


def test_a_failing_checkpoint_forgets_what_was_before(tmp_path):
    """A sink that cannot prepare: the job goes back, and what others have prepared is not committed twice."""
    failed = tmp_path / "failed"

    class Failing(TwoPhaseCommitSink):
        def write(self, value):
            pass

        def prepare(self, version):
            if version == 2 and not failed.exists():
                failed.touch()
                raise OSError("full")

        def commit(self, committables, version):
            pass

    env = environment(tmp_path / "job", penstock__step__records=10, penstock__step__available_now="true")
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 0))
    stream = ticks(env, 0, 100)
    count(stream, tmp_path / "out")
    stream.sink_to(Failing())
    env.execute()
    assert failed.exists()
    assert written(tmp_path / "out") == whole(100)


def test_without_a_restart_strategy_the_folder_stays_as_of_the_last_checkpoint(tmp_path):
    env = environment(tmp_path / "job", penstock__step__records=10)
    env.set_restart_strategy(RestartStrategies.no_restart())
    count(ticks(env, 0, 100).map(lambda n: n if n != 55 else 1 // 0, Types.LONG()), tmp_path / "out")
    with pytest.raises(JobExecutionError):
        env.execute()
    assert versions(tmp_path / "job") == 1
    assert written(tmp_path / "out") == whole(10)


@pytest.mark.spark
def test_on_spark_files_commit_at_the_interval_and_a_failure_goes_back(tmp_path, spark):
    """A driver that fails between two checkpoints, in this session; the next one goes on at another parallelism."""
    settings = {"penstock__step__records": 50}
    env = environment(tmp_path / "job", spark=spark, parallelism=2, **settings)
    seen = tmp_path / "seen"
    count(ticks(env, 0, 200), tmp_path / "out").add_sink(appended(seen)).set_parallelism(1)
    client = env.execute_async()
    until(lambda: len(lines(seen)) == 200, patience=120)
    assert len(written(tmp_path / "out")) == 50
    assert versions(tmp_path / "job") == 1
    cancelled(client)
    env = environment(tmp_path / "job", spark=spark, parallelism=3, penstock__step__available_now="true", **settings)
    count(ticks(env, 0, 300), tmp_path / "out")
    env.execute()
    assert written(tmp_path / "out") == whole(300)
    state = {path.name for path in (tmp_path / "job" / "state").iterdir()}
    job = JobFolder(str(tmp_path / "job"))
    named = {name for version in job.versions() for name in job.read(version).files()}
    assert named <= state
    assert len(state - named) <= 2
