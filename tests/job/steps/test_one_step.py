"""Bounded jobs that are one step of the loop: their savepoints, their checkpoint directory in BATCH mode, what a sink
of two phases is asked, and time by the clock, which decides nothing in them."""

from __future__ import annotations

import json
import os
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.common.serialization import SimpleStringEncoder
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import DataStream, SourceFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import FileSink, RollingPolicy, TwoPhaseCommitSink
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.errors import InvalidProgramError, JobExecutionError
from penstock.job.folder.lease import JobFolder
from penstock.savepoints import Savepoint
from tests.forks import status_of
from tests.job.savepoint.jobs import environment
from tests.running import collected

SECONDS = 30
PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])


def sums(env: StreamExecutionEnvironment, gate: Path | None = None) -> DataStream:
    """Running sums by remainder. With a ``gate`` records wait until that file is there."""

    def pair(number: int) -> tuple[int, int]:
        while gate is not None and not gate.exists():
            time.sleep(0.01)
        return number % 3, number

    pairs = env.from_collection(list(range(10)), Types.LONG()).uid("numbers").map(pair, PAIR)
    return pairs.key_by(lambda record: record[0], Types.LONG()).sum(1).uid("sum").name("sum")


LAST = {(0, 18), (1, 12), (2, 15)}


@pytest.mark.parametrize("pushed", [False, True], ids=["splits", "function"])
def test_savepoints_of_a_job_of_one_step_have_the_state_of_its_end(tmp_path: Path, pushed: bool) -> None:
    env = environment(state__savepoints__dir=f"file://{tmp_path}/savepoints")
    stream = sums(env, tmp_path / "gate")
    if pushed:
        env.add_source(Twice(), type_info=Types.LONG()).uid("twice").add_sink(lambda value: None)
    stream.map(str, Types.STRING()).write_as_text(str(tmp_path / "text")).set_parallelism(1)
    client = env.execute_async("sums")
    asked = [client.trigger_savepoint()]
    asked += [client.stop_with_savepoint(drains, str(tmp_path / "others")) for drains in (False, True)]
    (tmp_path / "gate").touch()
    places = [Path(future.result(SECONDS)) for future in asked]
    result = client.get_job_execution_result().result(SECONDS)
    assert result.metrics["sum"].records_in == 10
    assert [place.parent.name for place in places] == ["savepoints", "others", "others"]
    assert len((tmp_path / "text").read_text().split("\n")) == 11
    for place in places:
        rows = Savepoint(str(place)).read("sum", "_op_state").rows
        assert {row[-1] if isinstance(row[-1], tuple) else row for row in rows} == LAST
        if not pushed:  # all of it has been read
            assert collected(sums(environment(execution__savepoint__path=place))) == []
    assert os.listdir(tmp_path / "savepoints") == [places[0].name]
    assert sorted(os.listdir(tmp_path)) == ["gate", "others", "savepoints", "text"]


def test_its_state_lies_beside_savepoints_on_a_store_and_goes_with_the_job(bucket: str, tmp_path: Path) -> None:
    from penstock.storage.stores import Store

    env = environment(state__savepoints__dir=f"{bucket}/savepoints")
    sums(env, tmp_path / "gate").add_sink(lambda value: None)
    client = env.execute_async("sums")
    asked = client.trigger_savepoint()
    (tmp_path / "gate").touch()
    place = asked.result(SECONDS)
    client.get_job_execution_result().result(SECONDS)
    paths = [entry.path for entry in Store(bucket).list(f"{bucket}/savepoints", deep=True)]
    assert paths
    assert all(path.startswith(f"{place}/") for path in paths)


class Twice(SourceFunction):
    """Numbers in two rounds."""

    def run(self, ctx: Any) -> None:
        ctx.collect(1)
        ctx.collect(2)

    def cancel(self) -> None: ...


@pytest.mark.parametrize("mode", ["BATCH", "AUTOMATIC"])
def test_a_checkpoint_directory_in_batch_mode_says_that_the_job_has_ended(tmp_path: Path, mode: str) -> None:
    def run(sink: str = "text") -> int:
        env = environment(tmp_path / "job", execution__runtime_mode=mode)
        sums(env).map(str, Types.STRING()).write_as_text(str(tmp_path / sink)).set_parallelism(1)
        return env.execute("sums").metrics["sum"].records_in

    records = run()  # some are combined before
    assert set((tmp_path / "text").read_text().split("\n")) == {*map(str, LAST), ""}
    (tmp_path / "text").unlink()
    assert run() == records  # counted then
    assert not (tmp_path / "text").exists()
    assert collected(sums(environment(tmp_path / "job"))) == []  # STREAMING: the same answer


def test_batch_mode_does_not_go_on_from_steps(tmp_path: Path) -> None:
    def fail_at_the_end(pair: Any) -> Any:
        if pair == (0, 18):
            raise ValueError("here")
        return pair

    env = environment(tmp_path, penstock__step__records=2, parallelism=1)
    sums(env).map(fail_at_the_end, PAIR).add_sink(lambda value: None)
    with pytest.raises(JobExecutionError, match="here"):
        env.execute("sums")
    env = environment(tmp_path, execution__runtime_mode="BATCH", parallelism=1)
    sums(env).map(fail_at_the_end, PAIR).add_sink(lambda value: None)
    with pytest.raises(InvalidProgramError, match=r"is one step, and its .* of a job that has not ended"):
        env.execute("sums")


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_failed_step_is_run_again_and_leaves_nothing(tmp_path: Path, mode: str) -> None:
    def fail_once(pair: Any) -> Any:
        if pair[1] >= 12 and not (tmp_path / "failed").exists():
            (tmp_path / "failed").touch()
            raise ValueError("here")
        return pair

    env = environment(
        tmp_path / "job" if mode == "BATCH" else None,
        execution__runtime_mode=mode,
        state__savepoints__dir=tmp_path / "savepoints",
        restart_strategy="fixed-delay",
        restart_strategy__fixed_delay__delay="1 ms",
    )
    stream = sums(env).map(fail_once, PAIR).map(str, Types.STRING())
    stream.write_as_text(str(tmp_path / "text")).set_parallelism(1)
    client = env.execute_async("sums")
    assert client.get_job_execution_result().result(SECONDS).metrics["sum"].records_out in (3, 10)
    assert (tmp_path / "failed").exists()
    assert set(map(str, LAST)) <= set((tmp_path / "text").read_text().split("\n"))
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


class Ledger(TwoPhaseCommitSink[Any, Any]):
    """Writes what it commits into a file; dies before that, the first time."""

    def __init__(self, path: Path) -> None:
        self.path, self.values = path, list[Any]()

    def write(self, value: Any) -> None:
        self.values.append(value)

    def prepare(self, version: int) -> Any:
        values, self.values = self.values, []
        return values

    def commit(self, committables: list[Any], version: int) -> None:
        if not self.path.exists():
            self.path.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        with self.path.open("a") as file:
            file.write(json.dumps([version, sorted(value for values in committables for value in values)]) + "\n")


def committed(folder: Path, mode: str, *, kept: bool) -> None:
    env = environment(folder / "job" if kept else None, execution__runtime_mode=mode)
    env.from_collection([3, 1, 2], Types.LONG()).sink_to(Ledger(folder / "ledger"))
    env.execute("ledger")


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_sink_of_two_phases_is_asked_again_after_a_kill_between_them(tmp_path: Path, mode: str) -> None:
    work = partial(committed, tmp_path, mode, kept=True)
    assert status_of(work) != 0
    work()
    assert [json.loads(line) for line in (tmp_path / "ledger").read_text().splitlines()] == [[1, [1, 2, 3]]]
    assert JobFolder(str(tmp_path / "job")).versions()


class Slow(SourceFunction):
    """Waits for longer than it takes to be idle, between two times."""

    def run(self, ctx: Any) -> None:
        ctx.collect(1)
        time.sleep(0.3)
        ctx.collect(2)

    def cancel(self) -> None: ...


class ByItself(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_idleness_changes_nothing_where_all_input_is_there(mode: str) -> None:
    def counts(*, idle: bool) -> list[Any]:
        env = environment(parallelism=1, execution__runtime_mode=mode)
        times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByItself())
        slow = times.with_idleness(Duration.of_millis(50)) if idle else times
        waits = env.add_source(Slow(), type_info=Types.LONG()).assign_timestamps_and_watermarks(slow)
        fast = env.from_collection(list(range(100)), Types.LONG()).assign_timestamps_and_watermarks(times)
        both = waits.union(fast).map(lambda number: (0, 1), PAIR).key_by(lambda pair: pair[0], Types.LONG())
        return collected(both.window(TumblingEventTimeWindows.of(Duration.of_millis(10))).sum(1))

    assert counts(idle=True) == counts(idle=False) == [(0, 12), *[(0, 10)] * 9]


def test_files_roll_by_time_in_a_job_of_one_step(tmp_path: Path) -> None:
    policy = RollingPolicy.default_rolling_policy(rollover_interval=60_000, inactivity_interval=100)
    env = environment(parallelism=1)
    sink = FileSink.for_row_format(str(tmp_path / "files"), SimpleStringEncoder()).with_rolling_policy(policy).build()
    env.add_source(Slow(), type_info=Types.LONG()).map(str, Types.STRING()).sink_to(sink)
    env.execute("files")
    assert sorted(path.read_text() for path in (tmp_path / "files").rglob("part-*")) == ["1\n", "2\n"]
