"""Sinks of the user's own in two phases, and tables with markers: each record is committed once, whatever dies when."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shutil
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.common import RestartStrategies, Types
from penstock.connectors import two_phase
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSink
from penstock.datastream.sinks import TwoPhaseCommitSink
from penstock.errors import ConfigurationError, JobExecutionError
from penstock.job.steps.outputs import Outputs
from penstock.runtime.operators.sink import StreamSink
from tests.effort import one_of
from tests.job.commit.crashes import dies_at, hidden
from tests.job.programs import Program
from tests.job.restore.jobs import environment
from tests.job.steps.looping import Sinks, go, in_steps, newest

STEPS = [range(5), [], range(5, 8), range(8, 12)]


class Ledger(TwoPhaseCommitSink[int, Any]):
    """Keeps a JSON document per committed version, which it writes whole; and what it was told."""

    def __init__(self, folder: Path, padding: int = 0) -> None:
        self.folder, self.padding = str(folder), padding

    def open(self, context: Any) -> None:
        self.subtask = context.get_index_of_this_subtask()
        self.values: list[int] = []

    def write(self, value: int) -> None:
        if value < 0:
            raise ValueError("negative")
        self.values.append(value)

    def prepare(self, version: int) -> Any:
        values, self.values = self.values, []
        return {"subtask": self.subtask, "values": values, "padding": "x" * self.padding} if values else None

    def commit(self, committables: Any, version: int) -> None:
        name = Path(self.folder, f"{self.owner}-{version}")
        text = json.dumps([[committable["subtask"], committable["values"]] for committable in committables])
        if name.exists():
            assert name.read_text() == text
            return
        temporary = Path(self.folder, "temporary")
        temporary.write_text(text)
        os.replace(temporary, name)

    def recover(self, version: int) -> None:
        Path(self.folder, "recovered").write_text(str(version))

    def abort(self) -> None:
        Path(self.folder, f"aborted-{self.subtask}").touch()


def pipeline(sink, p=2):
    program = Program()
    program.add(StreamSink(sink.runtime()), program.source([1]), p=p, partitioner="REBALANCE", name="Sink: Ledger")
    return program.pipeline("two phases")


def committed(folder: Path) -> dict[int, Any]:
    by_version = {int(path.name.partition("-")[2]): json.loads(path.read_text()) for path in folder.glob("f*-*")}
    return dict(sorted(by_version.items()))


EXPECTED = {
    1: [[0, [0, 2, 4]], [1, [1, 3]]],
    3: [[0, [5, 7]], [1, [6]]],
    4: [[0, [8, 10]], [1, [9, 11]]],
}


@pytest.mark.slow
@pytest.mark.parametrize("padding", [0, 50_000], ids=["in the manifest", "in files"])
def test_a_driver_that_dies_anywhere_commits_each_version_once(tmp_path, padding):
    n, versions = 0, set()
    while True:
        root = tmp_path / str(n)
        (root / "out").mkdir(parents=True)

        def work(root=root):
            go(lambda: pipeline(Ledger(root / "out", padding)), str(root / "job"), STEPS, rebuilt=True)

        if not dies_at(n, work):
            break
        manifest = newest(str(root / "job")) if (root / "job").exists() else None
        versions.add(manifest["version"] if manifest else 0)
        work()
        assert committed(root / "out") == EXPECTED, n
        assert not hidden(root), n
        shutil.rmtree(root)
        n += one_of(5)
    assert committed(tmp_path / str(n) / "out") == EXPECTED
    assert versions == {0, 1, 2, 3, 4}


def test_a_sink_is_told_what_does_not_count(tmp_path):
    deployment = in_steps(pipeline(Ledger(tmp_path)), str(tmp_path / "job"))
    with Outputs(deployment) as outputs:
        outputs.recover((), 0)
        sinks = Sinks(deployment, {})
        outputs.put_together(sinks.step(1, [1]))
        outputs.recover((), 0)
        first = outputs.put_together(sinks.step(1, [2]))
        outputs.publish(first, 1)
        outputs.recover(first, 1)
        assert (tmp_path / "recovered").read_text() == "1"
        for writers in sinks.writers.values():
            for writer, _ in writers:
                writer.discard()
    assert committed(tmp_path) == {1: [[0, [2]]]}
    assert len(list(tmp_path.glob("aborted-*"))) == 2


def test_a_sink_that_the_program_has_not_any_more_is_asked_for(tmp_path):
    deployment = in_steps(pipeline(Ledger(tmp_path)), str(tmp_path / "job"))
    with Outputs(deployment) as outputs:
        first = outputs.put_together(Sinks(deployment, {}).step(1, [1]))
    program = Program()
    program.collect(program.source([1]))
    other = in_steps(program.pipeline(), str(tmp_path / "job"), resumed=True)
    with (
        Outputs(other, resumed=True) as outputs,
        pytest.raises(ConfigurationError, match=r"no longer has this sink.*uid\(\)"),
    ):
        outputs.recover(first, 1)


def test_a_commit_that_fails_is_named_and_repeated(tmp_path):
    deployment = in_steps(pipeline(Ledger(tmp_path / "out")), str(tmp_path / "job"))
    with Outputs(deployment) as outputs:
        first = outputs.put_together(Sinks(deployment, {}).step(1, [1]))
        with pytest.raises(JobExecutionError, match=r"\(Ledger\) could not commit checkpoint 1: FileNotF"):
            outputs.publish(first, 1)
        (tmp_path / "out").mkdir()
        outputs.publish(first, 1)
    assert committed(tmp_path / "out") == {1: [[0, [1]]]}


# --- tables


def table(path: Path, **kwargs) -> JdbcSink:
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{path}").build()
    return JdbcSink.sink("INSERT INTO numbers VALUES (?)", Types.INT(), options, **kwargs)


def rows(path: Path) -> list[int]:
    with sqlite3.connect(path) as connection:
        return sorted(value for (value,) in connection.execute("SELECT value FROM numbers"))


@pytest.mark.slow
def test_rows_with_a_marker_are_inserted_once_wherever_the_driver_dies(tmp_path):
    n = 0
    while True:
        root = tmp_path / str(n)
        root.mkdir()
        with sqlite3.connect(root / "db") as connection:
            connection.execute("CREATE TABLE numbers (value INTEGER)")

        def work(root=root):
            sink = table(root / "db", exactly_once="numbers")
            go(lambda: pipeline(sink), str(root / "job"), STEPS)

        if not dies_at(n, work):
            break
        work()
        assert rows(root / "db") == list(range(12)), n
        n += one_of(7)


def test_a_version_that_is_committed_again_is_refused_and_another_job_folder_has_its_own(tmp_path):
    with sqlite3.connect(tmp_path / "db") as connection:
        connection.execute("CREATE TABLE numbers (value INTEGER)")
    for number, folder in enumerate(("a" * 32, "b" * 32), 1):
        deployment = in_steps(pipeline(table(tmp_path / "db", exactly_once="n")), str(tmp_path / folder), folder)
        with Outputs(deployment) as outputs:
            sinks = Sinks(deployment, {})
            first = outputs.put_together(sinks.step(1, [1, 2]))
            outputs.publish(first, 1)
            outputs.publish(first, 1)
            second = outputs.put_together(sinks.step(2, [3]))
            outputs.publish(second, 2)
            outputs.publish(first, 1)
        assert rows(tmp_path / "db") == sorted([1, 2, 3] * number)


def test_rows_without_a_marker_come_at_least_once(tmp_path):
    with sqlite3.connect(tmp_path / "db") as connection:
        connection.execute("CREATE TABLE numbers (value INTEGER)")
    go(lambda: pipeline(table(tmp_path / "db")), str(tmp_path / "job"), STEPS)
    assert rows(tmp_path / "db") == list(range(12))


class Shaky(Ledger):
    """Cannot commit as often as a file says."""

    def commit(self, committables: Any, version: int) -> None:
        left = Path(self.folder, "refusals")
        count = int(left.read_text()) if left.exists() else 0
        if count:
            left.write_text(str(count - 1))
            raise ConnectionError("the other side is away")
        super().commit(committables, version)


@pytest.mark.parametrize("padding", [0, 50_000], ids=["in the manifest", "in files"])
def test_a_commit_that_fails_when_a_job_goes_on_is_tried_again_as_its_strategy_says(tmp_path, padding, caplog):
    def run(strategy=None, refusals=0):
        (tmp_path / "refusals").write_text(str(refusals))
        env = environment(tmp_path / "job", 1, penstock__step__records=5)
        if strategy is not None:
            env.set_restart_strategy(strategy)
        env.from_collection(list(range(10)), Types.INT()).sink_to(Shaky(tmp_path, padding))
        env.execute()

    with pytest.raises(JobExecutionError, match="could not commit checkpoint 1: ConnectionError"):
        run(refusals=1)
    with pytest.raises(
        JobExecutionError, match="could not commit checkpoint 1: ConnectionError"
    ):  # as its strategy says
        run(refusals=1)
    with pytest.raises(JobExecutionError, match="could not commit checkpoint 1: ConnectionError"):
        run(RestartStrategies.fixed_delay_restart(2, 5), refusals=3)
    assert not list(tmp_path.glob("*-1"))
    caplog.clear()
    run(RestartStrategies.fixed_delay_restart(3, 5), refusals=3)
    assert len([record for record in caplog.records if "is run again" in record.message]) == 3
    pages = [path for path in tmp_path.iterdir() if re.fullmatch(r"[0-9a-f]{32}-\d+", path.name)]
    ledger = [json.loads(path.read_text()) for path in pages]
    assert sorted(value for page in ledger for _, values in page for value in values) == list(range(10))
    assert not hidden(tmp_path)


def test_a_full_disk_names_the_file_in_which_a_sink_waits(tmp_path, monkeypatch):
    def full(path):
        class Full(io.BytesIO):
            def write(self, data):
                raise OSError(errno.ENOSPC, "No space left on device")

        return Full()

    env = environment(tmp_path / "job", 1)
    env.from_collection(list(range(10)), Types.INT()).sink_to(Ledger(tmp_path, 50_000))
    monkeypatch.setattr(two_phase, "storage_of", lambda path: SimpleNamespace(writing=full))
    with pytest.raises(JobExecutionError, match=rf"No space left on device: '{re.escape(str(tmp_path))}/job/prepared"):
        env.execute()
