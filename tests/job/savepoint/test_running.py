"""Savepoints of jobs that run: taken beside their steps, with their end, at the end of time."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Duration, JobClient, JobStatus, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import DataStream, SourceFunction, StreamExecutionEnvironment
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.errors import ConfigurationError, JobCancelledError, JobExecutionError, SavepointError
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint import store
from penstock.job.savepoint.store import bring_in, read_savepoint
from tests.job.savepoint.jobs import At, Numbers, environment

SECONDS = 60
NONE = WatermarkStrategy.no_watermarks()


@pytest.fixture
def numbers() -> type[Numbers]:
    class Own(Numbers):
        end = 10

    return Own


class ByItself(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value


def sums(env: StreamExecutionEnvironment, numbers: type[Numbers]) -> DataStream:
    """Running sums by remainder."""
    stream = env.from_source(numbers(), NONE, "numbers", Types.LONG()).uid("numbers")
    return stream.key_by(lambda number: number % 3, Types.LONG()).sum().uid("sum")


def windows(env: StreamExecutionEnvironment, numbers: type[Numbers]) -> DataStream:
    """How many numbers each ten have."""
    times = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).with_timestamp_assigner(ByItself())
    stream = env.from_source(numbers(), times, "numbers", Types.LONG()).uid("numbers").map(lambda n: (0, 1))
    keyed = stream.key_by(lambda pair: pair[0], Types.INT())
    return keyed.window(TumblingEventTimeWindows.of(Duration.of_millis(10))).sum(1).uid("windows")


def when(holds: Any) -> None:
    until = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < until, "it does not come"
        time.sleep(0.01)


def version(client: JobClient) -> int:
    return client.metrics().version


def sink_to(path: Path, stream: DataStream) -> None:
    stream.map(str, Types.STRING()).write_as_text(str(path)).set_parallelism(1)


def lines(path: Path) -> list[str]:
    return path.read_text().split("\n")[:-1]


@pytest.mark.parametrize("kept", [True, False], ids=["checkpoint directory", "temporary folder"])
def test_a_job_runs_on_while_a_savepoint_is_taken(kept: bool, tmp_path: Path, numbers: type[Numbers]) -> None:
    env = environment(tmp_path / "job" if kept else None, state__savepoints__dir=tmp_path / "savepoints")
    sums(env, numbers).add_sink(lambda value: None)
    client = env.execute_async("sums")
    when(lambda: version(client) >= 1)
    place = client.trigger_savepoint().result(SECONDS)
    assert Path(place).parent == tmp_path / "savepoints"
    assert Path(place).name.startswith(f"savepoint-{str(client.get_job_id())[:6]}-")
    numbers.end = 20
    when(lambda: client.metrics()["numbers"].metrics.records_out == 20)
    other = client.trigger_savepoint(str(tmp_path / "others")).result(SECONDS)
    client.stop()
    client.get_job_execution_result().result(SECONDS)
    first, second = read_savepoint(place), read_savepoint(other)
    assert (first.about.kind, first.about.job, first.about.job_id) == ("savepoint", "sums", str(client.get_job_id()))
    assert first.about.version < second.about.version
    for savepoint, position in ((first, 10), (second, 20)):
        manifest = bring_in(savepoint, Files(str(tmp_path / f"new{position}")))
        [source] = manifest.sources.values()
        assert source.positions["numbers"][1] == At(position)
        assert len(manifest.operators) == 1


def test_one_that_is_asked_for_before_the_first_step_waits_for_it(tmp_path: Path, numbers: type[Numbers]) -> None:
    numbers.end = 0
    env = environment(tmp_path / "job")
    sums(env, numbers).add_sink(lambda value: None)
    client = env.execute_async("sums")
    savepoint = read_savepoint(client.trigger_savepoint(str(tmp_path)).result(SECONDS))
    assert savepoint.about.version >= 1
    client.cancel()


def test_a_job_stops_with_a_savepoint(tmp_path: Path, numbers: type[Numbers]) -> None:
    env = environment(tmp_path / "job")
    sink_to(tmp_path / "out", windows(env, numbers))
    client = env.execute_async("windows")
    when(lambda: version(client) >= 1)
    place = client.stop_with_savepoint(False, str(tmp_path)).result(SECONDS)
    assert client.get_job_status().result() is JobStatus.FINISHED
    savepoint = read_savepoint(place)
    assert savepoint.about.kind == "stop"
    assert savepoint.about.version == JobFolder(str(tmp_path / "job")).versions()[-1]
    assert lines(tmp_path / "out") == []  # no watermark came


def test_a_job_is_drained(tmp_path: Path, numbers: type[Numbers]) -> None:
    numbers.end = 25
    env = environment(tmp_path / "job")
    sink_to(tmp_path / "out", windows(env, numbers))
    client = env.execute_async("windows")
    when(lambda: version(client) >= 1)
    place = client.stop_with_savepoint(True, str(tmp_path)).result(SECONDS)
    assert client.get_job_status().result() is JobStatus.FINISHED
    assert Counter(lines(tmp_path / "out")) == Counter({"(0, 10)": 2, "(0, 5)": 1})
    savepoint = read_savepoint(place)
    assert savepoint.about.kind == "drain"
    assert not any(task.finished for tasks in savepoint.manifest.tasks.values() for task in tasks)
    newest = JobFolder(str(tmp_path / "job")).newest()
    assert newest is not None
    assert all(task.finished for tasks in newest.tasks.values() for task in tasks)


def test_a_bounded_job_with_more_to_read_is_drained(tmp_path: Path) -> None:
    env = environment(tmp_path / "job", parallelism=1, penstock__step__records=10)

    def slow(number: int) -> int:
        time.sleep(0.001)
        return number

    stream = env.generate_sequence(1, 100_000).map(slow, Types.LONG())
    sink_to(tmp_path / "out", stream.key_by(lambda number: 0, Types.INT()).reduce(lambda a, b: b).uid("last"))
    client = env.execute_async("long")
    when(lambda: version(client) >= 2)
    place = client.stop_with_savepoint(True, str(tmp_path)).result(SECONDS)
    manifest = read_savepoint(place).manifest
    [source] = manifest.sources.values()
    [(_, position)] = source.positions.values()
    assert 0 < position < 100_000
    assert lines(tmp_path / "out") == [str(number) for number in range(1, position + 1)]


def test_a_loop_is_drained(tmp_path: Path, numbers: type[Numbers]) -> None:
    env = environment(tmp_path / "job", parallelism=1)
    iteration = env.from_source(numbers(), NONE, "numbers", Types.LONG()).iterate()
    halved = iteration.map(lambda number: number // 2, Types.LONG())
    iteration.close_with(halved.filter(lambda number: number > 0))
    sink_to(tmp_path / "out", halved.filter(lambda number: number == 0))
    client = env.execute_async("loop")
    client.stop_with_savepoint(True, str(tmp_path)).result(SECONDS)
    assert lines(tmp_path / "out") == ["0"] * 10


def test_there_must_be_a_place(tmp_path: Path, numbers: type[Numbers]) -> None:
    env = environment(tmp_path / "job")
    sums(env, numbers).add_sink(lambda value: None)
    client = env.execute_async("sums")
    with pytest.raises(ConfigurationError, match=r"state\.savepoints\.dir") as raised:
        client.trigger_savepoint().result(SECONDS)
    assert raised.value.flink_class == "java.lang.IllegalStateException"
    with pytest.raises(ConfigurationError):
        client.stop_with_savepoint(False).result(SECONDS)
    (tmp_path / "file").touch()
    with pytest.raises(SavepointError, match="cannot be written"):
        client.stop_with_savepoint(False, str(tmp_path / "file")).result(SECONDS)
    assert client.get_job_status().result() is JobStatus.RUNNING
    env.set_default_savepoint_directory(str(tmp_path))
    assert env.get_default_savepoint_directory() == str(tmp_path)
    client.cancel()
    with pytest.raises(JobExecutionError):
        client.trigger_savepoint(str(tmp_path)).result(SECONDS)


def test_a_job_of_one_step_has_none(tmp_path: Path) -> None:
    env = environment()
    env.from_collection([1, 2]).add_sink(lambda value: None)
    client = env.execute_async("bounded")
    with pytest.raises(JobExecutionError, match="one step"):
        client.trigger_savepoint(str(tmp_path)).result(SECONDS)


def test_one_that_comes_with_the_end_is_taken_or_refused(tmp_path: Path) -> None:
    for number in range(10):
        env = environment(tmp_path / str(number), penstock__step__records=10)
        pairs = [(f"k{index % 7}", 1) for index in range(100)]
        env.from_collection(pairs).key_by(lambda pair: pair[0]).sum(1).add_sink(lambda value: None)
        client = env.execute_async("bounded")
        time.sleep(0.003 * number)
        asked = [client.trigger_savepoint(str(tmp_path)), client.stop_with_savepoint(number % 2 == 0, str(tmp_path))]
        for future in asked:
            error = future.exception(SECONDS)
            assert error is None or isinstance(error, (JobExecutionError, SavepointError))
            if error is None:
                read_savepoint(future.result())
        assert client.get_job_execution_result().exception(SECONDS) is None


class Slow:
    """Copies as if each file took its time, until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.on = threading.Event(), threading.Event()
        carry = store.carry

        def slowly(source: Any, target: Any, names: Any, go_on: Any) -> int:
            self.begun.set()
            while not self.on.wait(0.01):
                go_on()
            return carry(source, target, names, go_on)

        monkeypatch.setattr(store, "carry", slowly)


def test_its_version_stays_while_the_job_goes_on(
    tmp_path: Path, numbers: type[Numbers], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = environment(tmp_path / "job", penstock__job__retained_manifests=1)
    sums(env, numbers).add_sink(lambda value: None)
    client = env.execute_async("sums")
    when(lambda: version(client) >= 1)
    slow = Slow(monkeypatch)
    future = client.trigger_savepoint(str(tmp_path))
    assert slow.begun.wait(SECONDS)
    held = JobFolder(str(tmp_path / "job")).versions()
    for end in range(20, 100, 10):
        before = version(client)
        numbers.end = end
        when(lambda before=before: version(client) > before)
    assert set(held) & set(JobFolder(str(tmp_path / "job")).versions())
    slow.on.set()
    savepoint = read_savepoint(future.result(SECONDS))
    assert savepoint.about.version in held
    before = version(client)
    numbers.end = 200
    when(lambda: version(client) > before)
    before = version(client)
    numbers.end = 210
    when(lambda: version(client) > before)
    client.stop()
    client.get_job_execution_result().result(SECONDS)
    assert savepoint.about.version not in JobFolder(str(tmp_path / "job")).versions()
    assert set(os.listdir(savepoint.state)) == set(savepoint.manifest.files())


@pytest.mark.parametrize("kind", ["savepoint", "stop"])
def test_a_job_that_is_cancelled_gives_its_savepoint_up(
    kind: str, tmp_path: Path, numbers: type[Numbers], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = environment(tmp_path / "job")
    sums(env, numbers).add_sink(lambda value: None)
    client = env.execute_async("sums")
    when(lambda: version(client) >= 1)
    slow, place = Slow(monkeypatch), str(tmp_path / "savepoints")
    future = client.trigger_savepoint(place) if kind == "savepoint" else client.stop_with_savepoint(False, place)
    assert slow.begun.wait(SECONDS)
    client.cancel()
    with pytest.raises(JobCancelledError):
        future.result(SECONDS)
    assert isinstance(client.get_job_execution_result().exception(SECONDS), JobCancelledError)
    assert not os.path.exists(place)


def test_a_drained_job_can_go_on(tmp_path: Path, numbers: type[Numbers]) -> None:
    numbers.end = 25
    env = environment(tmp_path / "job")
    sink_to(tmp_path / "first", sums(env, numbers))
    client = env.execute_async("sums")
    when(lambda: version(client) >= 1)
    place = client.stop_with_savepoint(True, str(tmp_path)).result(SECONDS)
    with JobFolder(str(tmp_path / "new")).open("sums") as lease:
        lease.commit(bring_in(read_savepoint(place), lease.files))
    numbers.end = 40
    env = environment(tmp_path / "new", penstock__step__available_now="true")
    sink_to(tmp_path / "second", sums(env, numbers))
    env.execute("sums")
    totals = [sum(range(rest, 25, 3)) for rest in range(3)]
    wanted = []
    for number in range(25, 40):
        totals[number % 3] += number
        wanted.append(str(totals[number % 3]))
    assert Counter(lines(tmp_path / "second")) == Counter(wanted)


class Pushing(SourceFunction):
    """Numbers as long as it is not cancelled; says in a file that it was."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.runs = True

    def run(self, ctx: Any) -> None:
        number = 0
        while self.runs:
            ctx.collect(number)
            number += 1
            time.sleep(0.001)

    def cancel(self) -> None:
        self.runs = False
        with open(self.path, "a") as file:
            file.write("cancelled\n")


def test_a_function_that_pushes_is_drained(tmp_path: Path) -> None:
    env = environment(tmp_path / "job", parallelism=1)
    env.enable_checkpointing(20)
    pushed = env.add_source(Pushing(str(tmp_path / "told")), "pushing", Types.LONG()).uid("pushing")
    keyed = pushed.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByItself())
    ).key_by(lambda number: 0, Types.INT())
    window = keyed.window(TumblingEventTimeWindows.of(Duration.of_hours(1)))
    sink_to(tmp_path / "out", window.reduce(lambda first, second: second))
    client = env.execute_async("pushing")
    when(lambda: version(client) >= 3)
    savepoint = read_savepoint(client.stop_with_savepoint(True, str(tmp_path)).result(SECONDS))
    assert client.get_job_execution_result().exception(SECONDS) is None
    [source] = savepoint.manifest.sources.values()
    [(_, (emitted, _))] = source.positions.values()
    assert lines(tmp_path / "out") == [str(emitted - 1)]
    assert lines(tmp_path / "told") == ["cancelled"]
