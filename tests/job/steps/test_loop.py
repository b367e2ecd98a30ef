"""The loop of steps, by whole programs on the local executor: what it goes on from, when it acts, how it ends."""

from __future__ import annotations

import os
import re
import signal
import time
import warnings
from collections import Counter

import pytest

from penstock.common import Configuration, Duration, JobStatus, RestartStrategies, Time, Types, WatermarkStrategy
from penstock.datastream import (
    AsyncDataStream,
    AsyncFunction,
    KeyedProcessFunction,
    MapFunction,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors import Records, Source, Split
from penstock.errors import DirectoryHeldError, InvalidProgramError, JobCancelledError, JobExecutionError
from penstock.job.folder import owners
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.owners import Owner
from penstock.job.steps import commits, interruptions
from tests.running import collected

NONE = WatermarkStrategy.no_watermarks()
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


def environment(folder=None, **settings):
    values = {key.replace("__", ".").replace("_", "-"): str(value) for key, value in settings.items()}
    if folder is not None:
        values["execution.checkpointing.dir"] = str(folder)
    configuration = Configuration.from_dict(values)
    return StreamExecutionEnvironment.get_execution_environment(configuration, executor="local").set_parallelism(2)


def pairs(count):
    return [(f"k{number % 7}", 1) for number in range(count)]


def sums(env, records, fail_at=None):
    """A running sum, whose map fails at one record."""
    seen = []

    def checked(record):
        seen.append(record)
        if len(seen) == fail_at:
            raise ValueError("here")
        return record

    mapped = env.from_collection(records, PAIR).map(checked, PAIR).set_parallelism(1)
    return mapped.key_by(lambda record: record[0], Types.STRING()).sum(1).uid("sum")


WHOLE = Counter((f"k{number % 7}", number // 7 + 1) for number in range(100))


class Endless(Source):
    """Numbers from 0, as many at a time as there are."""

    bounded = False
    end = 0

    def splits(self, parallelism):
        return [Split("numbers", 0, type(self).end)]

    def read(self, split):
        for number in range(split.start, split.end):
            yield Records([number], number + 1)


@pytest.fixture
def numbers():
    class Numbers(Endless):
        end = 10

    return Numbers


def test_a_job_that_has_failed_goes_on_where_it_was(tmp_path, capsys):
    step = {"penstock__step__records": 10}
    with pytest.raises(JobExecutionError, match="here"):
        collected(sums(environment(tmp_path, **step), pairs(100), fail_at=55))
    before = JobFolder(str(tmp_path)).newest()
    assert "Starting with the new checkpoint directory" in capsys.readouterr().err
    rest = Counter(collected(sums(environment(tmp_path, **step), pairs(100))))
    assert f"Resuming from checkpoint {before.version + 1} " in capsys.readouterr().err
    assert len(rest) == 50
    assert not rest - WHOLE
    assert collected(sums(environment(tmp_path, **step), pairs(100))) == []


def test_steps_of_any_size_give_the_same(tmp_path):
    for records in (1, 7, 1000):
        result = collected(sums(environment(tmp_path / str(records), penstock__step__records=records), pairs(100)))
        assert Counter(result) == WHOLE


def test_a_restart_strategy_goes_on_from_the_newest_version(tmp_path):
    env = environment(tmp_path, penstock__step__records=10)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 0))
    # each attempt's function counts from 0: the first fails at record 55, the second has but 50 to go
    assert Counter(collected(sums(env, pairs(100), fail_at=55))) == WHOLE
    env = environment(tmp_path / "again", penstock__step__records=10)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(3, 0))
    with pytest.raises(JobExecutionError, match="here"):
        collected(sums(env, pairs(100), fail_at=5))


@pytest.fixture
def at_once(monkeypatch):
    """Without pauses between failures."""
    monkeypatch.setattr(interruptions, "PAUSE", 0)


def failing_again_and_again(env, times, every=True):
    """A sum of a hundred pairs, whose map fails in so many attempts: each at its 15th record, or at its first."""

    class Fails(MapFunction):
        def open(self, context):
            self.left = 15 if every else 1
            self.fails = context.get_attempt_number() < times

        def map(self, value):
            self.left -= 1
            if self.left == 0 and self.fails:
                time.sleep(0.02 * every)  # longer than the interval: the next step is a checkpoint
                raise ValueError("here")
            return value

    mapped = env.from_collection(pairs(100), PAIR).map(Fails(), PAIR).set_parallelism(1)
    return mapped.key_by(lambda record: record[0], Types.STRING()).sum(1).uid("sum")


def with_checkpoints(folder, **settings):
    return environment(folder, penstock__step__records=10, execution__checkpointing__interval="10 ms", **settings)


@pytest.mark.usefixtures("at_once")
def test_a_job_with_checkpoints_is_run_again_as_long_as_it_gets_on(tmp_path):
    assert interruptions.IN_PLACE < 8
    assert Counter(collected(failing_again_and_again(with_checkpoints(tmp_path), 8))) == WHOLE


@pytest.mark.usefixtures("at_once")
def test_a_job_that_fails_again_and_again_in_one_place_stops_with_the_error(tmp_path):
    records = collected(
        failing_again_and_again(with_checkpoints(tmp_path / "few"), interruptions.IN_PLACE - 1, every=False)
    )
    assert Counter(records) == WHOLE
    with pytest.raises(JobExecutionError, match="here") as caught:
        collected(failing_again_and_again(with_checkpoints(tmp_path / "many"), interruptions.IN_PLACE, every=False))
    assert caught.value.attempt == interruptions.IN_PLACE - 1


@pytest.mark.parametrize("strategy", ["set", "configured"])
def test_a_job_with_checkpoints_that_is_not_to_be_run_again_is_not(tmp_path, strategy):
    env = with_checkpoints(tmp_path, **({"restart_strategy": "none"} if strategy == "configured" else {}))
    if strategy == "set":
        env.set_restart_strategy(RestartStrategies.no_restart())
    with pytest.raises(JobExecutionError, match="here") as caught:
        collected(failing_again_and_again(env, 1))
    assert caught.value.attempt == 0


@pytest.mark.usefixtures("at_once")
def test_falling_back_is_the_same_as_setting_nothing(tmp_path):
    env = with_checkpoints(tmp_path)
    env.set_restart_strategy(RestartStrategies.no_restart()).set_restart_strategy(RestartStrategies.fall_back_restart())
    assert Counter(collected(failing_again_and_again(env, 1))) == WHOLE


def test_what_metrics_count_is_counted_once(tmp_path):
    env = environment(tmp_path, penstock__step__records=10)
    sums(env, pairs(100), fail_at=55).print()
    with pytest.raises(JobExecutionError):
        env.execute()
    env = environment(tmp_path, penstock__step__records=10)
    sums(env, pairs(100)).print()
    metrics = env.execute().metrics
    by_name = {operator.name: operator for operator in metrics.values()}
    assert by_name["Map"].records_in == 100


def test_a_held_folder_is_refused_and_said_by_whom(tmp_path, numbers):
    env = environment(tmp_path)
    env.from_source(numbers(), NONE, "numbers", Types.LONG()).print()
    client = env.execute_async()
    while client.get_job_status().result() is not JobStatus.RUNNING:
        time.sleep(0.01)
    other = environment(tmp_path)
    other.from_source(numbers(), NONE, "numbers", Types.LONG()).print()
    with pytest.raises(DirectoryHeldError, match="is held by the job"):
        other.execute()
    client.cancel()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()


def left_behind(folder):
    """A checkpoint directory that a driver on another machine has left without a word a moment ago."""
    JobFolder(str(folder)).open("sums", Owner("sums", host="elsewhere")).close()
    for left in (folder / "lease").glob("left-*"):
        left.unlink()


def test_the_lease_of_a_dead_driver_is_waited_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(owners, "LEASE_SECONDS", 1.0)
    left_behind(tmp_path)
    env = environment(tmp_path)
    sums(env, pairs(100)).print()
    env.execute()
    assert re.search(r"is held by the job 'sums' .* on elsewhere.* Waiting for that\.\n", capsys.readouterr().err)
    assert JobFolder(str(tmp_path)).newest().epoch == 2


@pytest.mark.parametrize("ending", ["lives", "stop", "cancel"])
def test_it_is_waited_for_no_longer_than_needed(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(commits, "BEAT_SECONDS", 0.2)
    left_behind(tmp_path)
    env = environment(tmp_path)
    sums(env, pairs(100)).print()
    client = env.execute_async()
    time.sleep(1.5)
    if ending == "lives":
        (tmp_path / "lease" / "beat-1").write_bytes(b"alive")
    else:
        getattr(client, ending)()
    with pytest.raises(JobCancelledError if ending == "cancel" else DirectoryHeldError):
        client.get_job_execution_result().result(20)


def test_stopping_commits_the_step_and_ends(tmp_path, numbers):
    env = environment(tmp_path)
    env.from_source(numbers(), NONE, "numbers", Types.LONG()).print()
    client = env.execute_async()
    until = time.monotonic() + 60
    while (newest := JobFolder(str(tmp_path)).newest()) is None and time.monotonic() < until:
        time.sleep(0.01)
    client.stop()
    assert client.get_job_execution_result().result().metrics["Source: numbers"].records_out == 10
    assert newest is not None
    assert client.get_job_status().result() is JobStatus.FINISHED


@pytest.fixture
def heeded():
    """An interrupt as in a terminal: a process in the background may have been begun with none."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
def test_an_interrupt_commits_the_step_and_ends(numbers, capfd):
    env = environment()
    stream = env.from_source(numbers(), NONE, "numbers", Types.LONG())
    stream.map(lambda n: n if n != 9 else os.kill(os.getpid(), signal.SIGINT) or n, Types.LONG()).print()
    assert env.execute().metrics["Source: numbers"].records_out == 10
    captured = capfd.readouterr()
    assert "interrupt once more" in captured.err
    assert len(captured.out.splitlines()) == 10
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_available_now_reads_what_is_there_and_more_the_next_time(tmp_path, numbers):
    def run():
        env = environment(tmp_path, penstock__step__available_now="true", penstock__step__records=3)
        return collected(env.from_source(numbers(), NONE, "numbers", Types.LONG()).map(str, Types.STRING()))

    assert sorted(map(int, run())) == list(range(10))
    numbers.end = 14
    assert sorted(map(int, run())) == [10, 11, 12, 13]
    assert run() == []


class Later(KeyedProcessFunction):
    """Emits each record again after a while by the clock."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 50)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key()


def test_timers_by_the_clock_fire_while_nothing_comes(numbers):
    env = environment()
    stream = env.from_source(numbers(), NONE, "numbers", Types.LONG())
    with stream.key_by(lambda n: n, Types.LONG()).process(Later(), Types.LONG()).execute_and_collect() as records:
        assert sorted(next(records) for _ in range(10)) == list(range(10))


class Stamped(Endless):
    """Two splits, of which one falls silent."""

    together = True
    end = 10

    def splits(self, parallelism):
        return [Split("goes-on", 0, int(time.monotonic() * 100) % 1_000_000), Split("silent", 0, 1)]

    def limited(self, split, records):
        return Split(split.id, split.start, min(split.end, split.start + records))


def test_a_warning_tells_of_checkpoints_that_nobody_keeps(tmp_path):
    def run(folder=None, checkpoints=True, async_=False):
        env = environment(folder, penstock__step__available_now="true")
        if checkpoints:
            env.enable_checkpointing(1000)
        env.from_source(Endless(), NONE, "s", Types.INT()).print()
        env.execute_async("mine").get_job_execution_result().result() if async_ else env.execute("mine")

    for async_ in (False, True):
        with pytest.warns(
            UserWarning,
            match=r"never ends and has checkpoints enabled, but no checkpoint directory: .*--checkpoint-directory",
        ):
            run(async_=async_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(tmp_path / "job")
        run(checkpoints=False)


def test_a_split_that_is_silent_holds_time_back_until_it_is_idle():
    env = environment(penstock__step__records=1000).set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda n, _: n)
    stream = env.from_source(Stamped(), strategy.with_idleness(Duration.of_millis(100)), "s", Types.LONG())

    class Watched(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(5)

        def on_timer(self, timestamp, ctx):
            yield timestamp

    with stream.key_by(lambda n: 0, Types.LONG()).process(Watched(), Types.LONG()).execute_and_collect() as records:
        assert next(records) == 5


class Pushing(SourceFunction):
    """Pushes numbers for ever, slowly."""

    def __init__(self, pause):
        self.pause = pause

    def run(self, ctx):
        number = 0
        while True:
            ctx.collect(number)
            number += 1
            time.sleep(self.pause)


def test_a_function_that_pushes_for_ever_is_committed_at_the_checkpoints_interval(tmp_path):
    env = environment(tmp_path)
    env.enable_checkpointing(50)
    stream = env.add_source(Pushing(0.005), type_info=Types.LONG())
    stream.map(lambda n: n, Types.LONG()).print()
    client = env.execute_async()
    until = time.monotonic() + 60
    while time.monotonic() < until:
        newest = JobFolder(str(tmp_path)).newest()
        if newest is not None and newest.version >= 3:
            break
        time.sleep(0.01)
    client.stop()
    assert client.get_job_execution_result().result().metrics.counters() == {}
    assert JobFolder(str(tmp_path)).newest().version >= 3


def test_a_source_that_ends_in_the_middle_of_a_step_ends_time_behind_it(tmp_path):
    env = environment(tmp_path, penstock__step__records=4).set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda n, _: n)
    stream = env.from_collection(list(range(10)), Types.LONG()).assign_timestamps_and_watermarks(strategy)

    class AtTheEnd(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(2**62)

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key()

    assert sorted(collected(stream.key_by(lambda n: n, Types.LONG()).process(AtTheEnd(), Types.LONG()))) == list(
        range(10)
    )


def test_records_that_go_round_are_carried_to_the_next_step(tmp_path):
    env = environment(tmp_path, penstock__step__records=2).set_parallelism(1)
    loop = env.from_collection(list(range(1, 6)), Types.LONG()).map(lambda n: n, Types.LONG()).iterate(100)
    body = loop.map(lambda n: n - 1, Types.LONG())
    loop.close_with(body.filter(lambda n: n > 0))
    assert sorted(collected(body.filter(lambda n: n <= 0))) == [0] * 5


def test_state_that_no_operator_takes_over_is_refused(tmp_path):
    env = environment(tmp_path, penstock__step__records=10)
    sums(env, pairs(20)).print()
    env.execute()
    other = environment(tmp_path)
    sums(other, pairs(20)).uid("another").print()
    with pytest.raises(InvalidProgramError, match="sum"):
        other.execute()


def test_cancelling_leaves_what_was_committed(tmp_path, numbers):
    env = environment(tmp_path)

    def slow(number):
        time.sleep(0.001 if number < 10 else 0.1)
        return number

    env.from_source(numbers(), NONE, "numbers", Types.LONG()).map(slow, Types.LONG()).print()
    client = env.execute_async()
    while JobFolder(str(tmp_path)).newest() is None:
        time.sleep(0.01)
    numbers.end = 1000
    client.cancel()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()
    assert JobFolder(str(tmp_path)).newest().sources


class FailingCall(AsyncFunction):
    """Whose second call fails."""

    async def async_invoke(self, value):
        if value == 1:
            raise ValueError("here")
        return [value]


@pytest.mark.filterwarnings("error")
def test_a_task_that_has_failed_is_disposed_of_once(numbers):
    env = environment()
    stream = env.from_source(numbers(), NONE, "numbers", Types.LONG())
    AsyncDataStream.ordered_wait(stream, FailingCall(), Time.seconds(9)).print()
    with pytest.raises(JobExecutionError, match="Could not complete the stream element"):
        env.execute()
