"""Timers and windows by the clock that became due while nobody ran the job fire when it runs again, though no record
comes."""

from __future__ import annotations

import functools
import shutil
import time
from pathlib import Path

import pytest

from penstock.common import Configuration, RestartStrategies, Time, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.window import TumblingProcessingTimeWindows
from penstock.errors import JobCancelledError
from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.store import write_savepoint
from tests.job.steps.evolving import Fed
from tests.running import collected

pytestmark = pytest.mark.slow

WAIT = 1_000
"""Milliseconds until a timer is due: longer than a run takes that only reads, else it is tried with twice as many."""
PATIENCE = 240
"""Seconds until a test fails."""


class Alarm(KeyedProcessFunction):
    """Sends each key again after a while by the clock.

    Args:
        wait: for so many milliseconds.
        fails: a file that is not there as long as a timer is to fail.
    """

    def __init__(self, wait, fails=None):
        self.wait, self.fails = wait, fails

    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + self.wait)

    def on_timer(self, timestamp, ctx):
        if self.fails is not None and not Path(self.fails).exists():
            Path(self.fails).touch()
            raise ValueError("once")
        yield ctx.get_current_key()


def alarms(keyed, wait=WAIT, **more):
    return keyed.process(Alarm(wait, **more), Types.LONG()).uid("kept")


def windows(keyed, wait=WAIT):
    return keyed.window(TumblingProcessingTimeWindows.of(Time.milliseconds(wait))).reduce(max).uid("kept")


def program(folder, make, *, filled, parallelism=2, spark=None, strategy=None, **settings):
    """A stream of what a function makes of the numbers 0 to 3, if they are there."""
    values = {key.replace("__", ".").replace("_", "-"): str(value) for key, value in settings.items()}
    where = {"executor": "local"} if spark is None else {"spark": spark}
    values["execution.checkpointing.dir"] = str(folder)
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(values), **where)
    env.set_parallelism(parallelism)
    if strategy is not None:
        env.set_restart_strategy(strategy)
    source = Fed(list(range(4)) if filled else [], folder.parent / "seen")
    read = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).uid("numbers")
    return make(read.set_parallelism(1).key_by(lambda n: n, Types.LONG()))


def read_and_left(folder, make, spark=None):
    """Run it, so that it reads the numbers and ends before anything is due. Returns it, when that is due."""
    wait = WAIT
    while True:
        waiting = functools.partial(make, wait=wait)
        stream = program(folder, waiting, filled=True, spark=spark, penstock__step__available_now="true")
        if spark is None:  # all of it is in this process: its clock stands still, so much in the past
            past = time.time_ns() - (wait + 1) * 1_000_000
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(time, "time_ns", lambda past=past: past)
                assert collected(stream) == []
            return waiting
        time.sleep((wait - time.time() * 1000 % wait) / 1000)  # else a window might be over at once
        began = time.monotonic()
        records, took = collected(stream), time.monotonic() - began
        if took < wait / 1000:
            assert records == []
            time.sleep(wait / 1000)
            return waiting
        shutil.rmtree(folder)
        wait *= 2


def four_of(stream, out):
    """What comes of a program that goes on, until there are four records, or too much time has passed."""
    path = out / f"seen-{time.monotonic_ns()}"
    path.touch()

    def note(record):
        with path.open("a") as file:
            file.write(f"{record}\n")

    stream.add_sink(note).set_parallelism(1)
    client, until = stream.get_execution_environment().execute_async("alarms"), time.monotonic() + PATIENCE
    while len(path.read_text().split()) < 4 and time.monotonic() < until:
        time.sleep(0.02)
    client.cancel()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()
    return sorted(map(int, path.read_text().split()))


@pytest.mark.parametrize("make", [alarms, windows])
@pytest.mark.parametrize("parallelism", [2, 3])
def test_they_fire_though_no_record_comes(tmp_path, make, parallelism):
    make = read_and_left(tmp_path / "job", make)
    assert four_of(program(tmp_path / "job", make, filled=False, parallelism=parallelism), tmp_path) == [0, 1, 2, 3]


def test_they_fire_in_a_job_that_begins_with_a_savepoint(tmp_path):
    make = read_and_left(tmp_path / "job", alarms)
    job = JobFolder(str(tmp_path / "job"))
    write_savepoint(job.files, job.newest(), str(tmp_path / "saved"), "savepoint", lambda: None, None)
    stream = program(tmp_path / "other", make, filled=False, execution__savepoint__path=tmp_path / "saved")
    assert four_of(stream, tmp_path) == [0, 1, 2, 3]


def test_they_fire_again_after_one_has_failed(tmp_path):
    make = read_and_left(tmp_path / "job", functools.partial(alarms, fails=str(tmp_path / "failed")))
    stream = program(tmp_path / "job", make, filled=False, strategy=RestartStrategies.fixed_delay_restart(1, 0))
    assert four_of(stream, tmp_path) == [0, 1, 2, 3]
    assert (tmp_path / "failed").exists()


def test_they_fire_once_in_a_run_that_reads_what_is_there(tmp_path):
    """And what is not due by then does not hold it up."""

    class Again(Alarm):
        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key()
            ctx.timer_service().register_processing_time_timer(timestamp + 1)

    def again(keyed, wait):
        return keyed.process(Again(wait), Types.LONG()).uid("kept")

    make = read_and_left(tmp_path / "job", again)
    stream = program(tmp_path / "job", make, filled=True, penstock__step__available_now="true")
    assert set(collected(stream)) == {0, 1, 2, 3}


def test_a_run_without_anything_to_do_makes_no_version(tmp_path):
    make = read_and_left(tmp_path / "job", alarms)
    four_of(program(tmp_path / "job", make, filled=False), tmp_path)
    before = JobFolder(str(tmp_path / "job")).newest()
    assert collected(program(tmp_path / "job", make, filled=True, penstock__step__available_now="true")) == []
    assert JobFolder(str(tmp_path / "job")).newest().last_step == before.last_step


@pytest.mark.spark
@pytest.mark.parametrize("make", [alarms, windows])
def test_they_fire_on_spark(tmp_path, spark, make):
    make = read_and_left(tmp_path / "job", make, spark)
    assert four_of(program(tmp_path / "job", make, filled=False, spark=spark), tmp_path) == [0, 1, 2, 3]
