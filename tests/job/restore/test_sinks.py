"""What sinks have written stays, and what a changed program writes comes beside it: nothing is lost, nothing twice."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from penstock.common import Types
from penstock.common.serialization import Encoder
from penstock.datastream.connectors import FileSink, JdbcConnectionOptions, JdbcSink
from penstock.datastream.sinks import TwoPhaseCommitSink
from penstock.errors import ConfigurationError, JobExecutionError
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.manifest import Output
from penstock.job.savepoint.store import write_savepoint
from penstock.job.steps.outputs import Outputs
from tests.job.programs import Program
from tests.job.restore.jobs import ending_after, environment
from tests.job.steps.looping import in_steps

MORE = 100


class Ledger(TwoPhaseCommitSink):
    """A file for each version of each checkpoint directory; a version that is there is not written again."""

    def __init__(self, folder):
        self.folder = str(folder)

    def open(self, context):
        self.values = []

    def write(self, value):
        self.values.append(value)

    def prepare(self, version):
        values, self.values = self.values, []
        return values or None

    def commit(self, committables, version):
        path = Path(self.folder, f"{self.owner}-{version}")
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{value}\n" for values in committables for value in values))


def to_files(stream, place):
    sink = FileSink.for_row_format(str(place), Encoder.simple_string_encoder()).build()
    return stream.sink_to(sink)


def to_text(stream, place):
    return stream.write_as_text(str(place))


def to_ledger(stream, place):
    return stream.sink_to(Ledger(place))


def to_table(stream, place):
    with sqlite3.connect(f"{place}.db") as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS numbers (value INTEGER)")
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{place}.db").build()
    return stream.add_sink(JdbcSink.sink("INSERT INTO numbers VALUES (?)", Types.LONG(), options, exactly_once="n"))


SINKS = {"files": to_files, "text": to_text, "two phases": to_ledger, "table": to_table}


def values_in(place: Path) -> list[int]:
    if Path(f"{place}.db").exists():
        with sqlite3.connect(f"{place}.db") as connection:
            return sorted(value for (value,) in connection.execute("SELECT value FROM numbers"))
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    assert not [path for path in files if path.name.startswith(".")]
    return sorted(int(line) for path in files for line in path.read_text().splitlines())


def run(sink, place, env, maps, steps):
    stream = env.generate_sequence(0, MORE - 1).uid("numbers")
    for number in range(maps):
        stream = stream.map(lambda n: n, Types.LONG()).name(f"map {number}").uid(f"map {number}")
    SINKS[sink](stream, place).uid("sink")
    with ending_after(steps):
        env.execute()


LIVES = [(2, 0), (3, 1), (2, 2)]
"""Parallelism, and operators that the program has got meanwhile."""


@pytest.mark.parametrize("sink", SINKS)
def test_a_changed_program_goes_on_in_its_job_folder(tmp_path, sink):
    for number, (parallelism, maps) in enumerate(LIVES):
        env = environment(tmp_path / "job", parallelism, penstock__step__records=5)
        before = values_in(tmp_path / "out") if number else []
        run(sink, tmp_path / "out", env, maps, 2 if number < 2 else 1000)
        assert not set(before) - set(values_in(tmp_path / "out"))
    assert values_in(tmp_path / "out") == list(range(MORE))


@pytest.mark.parametrize("sink", SINKS)
def test_a_new_job_goes_on_beside_what_the_old_one_has_written(tmp_path, sink):
    settings = {"penstock__step__records": 5}
    for number, (parallelism, maps) in enumerate(LIVES):
        job = tmp_path / f"job-{number}"
        run(sink, tmp_path / "out", environment(job, parallelism, **settings), maps, 2 if number < 2 else 1000)
        folder = JobFolder(str(job))
        write_savepoint(folder.files, folder.newest(), tmp_path / f"savepoint-{number}", "stop")
        shutil.rmtree(job)
        settings["execution__savepoint__path"] = str(tmp_path / f"savepoint-{number}")
    assert values_in(tmp_path / "out") == list(range(MORE))


def test_a_text_file_does_not_become_a_folder(tmp_path):
    run("text", tmp_path / "out", environment(tmp_path / "job", 1, penstock__step__records=5), 0, 2)
    with pytest.raises(ConfigurationError, match="is a file, and its sink has a parallelism of 2 now"):
        run("text", tmp_path / "out", environment(tmp_path / "job", 2, penstock__step__records=5), 0, 2)
    run("text", tmp_path / "out", environment(tmp_path / "job", 1, penstock__step__records=5), 1, 1000)
    assert values_in(tmp_path / "out") == list(range(MORE))


def without_the_sink(tmp_path, steps=1000, **settings):
    """The job goes on with another sink in the place of the one that it had."""
    env = environment(tmp_path / "job", penstock__step__records=5, **settings)
    env.generate_sequence(0, MORE - 1).uid("numbers").sink_to(Ledger(tmp_path / "other")).uid("other")
    with ending_after(steps):
        env.execute()


def test_a_sink_whose_output_is_all_published_is_not_missed(tmp_path, caplog):
    run("two phases", tmp_path / "out", environment(tmp_path / "job", penstock__step__records=5), 0, 2)
    without_the_sink(tmp_path)
    assert "is left behind" not in caplog.text
    assert sorted(values_in(tmp_path / "out") + values_in(tmp_path / "other")) == list(range(MORE))


@pytest.fixture
def pending(tmp_path, monkeypatch):
    """A job that has died before its second version was committed by the sink."""
    commit = Ledger.commit

    def refused(self, committables, version):
        if committables[0][0] > 0:
            raise OSError("no connection")
        commit(self, committables, version)

    monkeypatch.setattr(Ledger, "commit", refused)
    with pytest.raises(JobExecutionError, match="could not commit"):
        run("two phases", tmp_path / "out", environment(tmp_path / "job", 1, penstock__step__records=5), 0, 1000)
    monkeypatch.setattr(Ledger, "commit", commit)
    assert len(values_in(tmp_path / "out")) == 5


@pytest.mark.usefixtures("pending")
def test_what_a_sink_has_prepared_that_is_gone_is_asked_for(tmp_path):
    for _ in range(2):  # nobody takes it for published because a program was refused meanwhile
        with pytest.raises(ConfigurationError, match="no longer has this sink"):
            without_the_sink(tmp_path)
    run("two phases", tmp_path / "out", environment(tmp_path / "job", 1, penstock__step__records=5), 0, 1)
    without_the_sink(tmp_path)
    assert sorted(values_in(tmp_path / "out") + values_in(tmp_path / "other")) == list(range(MORE))


@pytest.mark.usefixtures("pending")
def test_what_a_sink_has_prepared_that_is_gone_may_be_left_behind(tmp_path, caplog):
    without_the_sink(tmp_path, execution__savepoint__ignore_unclaimed_state="true")
    assert "is left behind" in caplog.text
    assert len(values_in(tmp_path / "out") + values_in(tmp_path / "other")) == MORE - 5


def test_sinks_come_and_go(tmp_path):
    """Of files and tables: each has what came while it was there."""
    for number, names in enumerate((["a"], ["a", "b"], ["b"], ["a", "b"])):
        env = environment(tmp_path / "job", 2, penstock__step__records=5)
        stream = env.generate_sequence(0, MORE - 1).uid("numbers")
        for name in names:
            to_files(stream, tmp_path / name).uid(name)
        with ending_after(2 if number < 3 else 1000):
            env.execute()
    assert len(values_in(tmp_path / "a")) == MORE - 20
    assert len(values_in(tmp_path / "b")) == MORE - 20
    assert sorted({*values_in(tmp_path / "a"), *values_in(tmp_path / "b")}) == list(range(MORE))


def test_how_far_a_sink_has_sent_is_kept_while_the_program_does_without_it(tmp_path):
    place, waiting = tmp_path / "sink-a", tmp_path / "sink-a" / "waits"
    program = Program()
    program.collect(program.source([1]))
    deployment = in_steps(program.pipeline(), str(tmp_path / "job"), resumed=True)
    sent = [Output("", str(place), overwrite=False, sent=True, at=100, size=0)]
    sent.append(Output(str(waiting), str(place), overwrite=False, sent=True, at=100, size=50))
    with Outputs(deployment, resumed=True) as outputs:
        for version in (7, 8):
            outputs.recover(sent, version)
            sent = list(outputs.put_together([]))
            assert sent == [Output("", str(place), overwrite=False, sent=True, at=150, size=0)]
    place.mkdir()
    waiting.write_bytes(b"x" * 50)
    with Outputs(deployment, resumed=True) as outputs, pytest.raises(ConfigurationError, match="no longer has a sink"):
        outputs.recover([Output(str(waiting), str(place), overwrite=False, sent=True, at=100, size=50)], 7)
