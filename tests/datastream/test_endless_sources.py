"""Sources without an end in whole programs, on the local executor: step by step, and on from a checkpoint directory."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time

import pytest

from penstock.common import Configuration, Duration, Types, WatermarkStrategy
from penstock.datastream import FileProcessingMode, MapFunction, ProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import (
    DataGeneratorSource,
    FileEnumeratorProvider,
    FileSource,
    HybridSource,
    NumberSequenceSource,
    RateLimiterStrategy,
    Records,
    Source,
    Split,
    StreamFormat,
)
from penstock.errors import DirectoryHeldError, JobExecutionError
from penstock.runtime.io import file_source
from tests.running import collected

NONE = WatermarkStrategy.no_watermarks()
STEP = RateLimiterStrategy.per_checkpoint(3)


def environment(folder=None, parallelism=2, **settings):
    values = {key.replace("__", ".").replace("_", "-"): str(value) for key, value in settings.items()}
    if folder is not None:
        values["execution.checkpointing.dir"] = str(folder)
    configuration = Configuration.from_dict(values)
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor="local")
    return env.set_parallelism(parallelism)


def some(make, count):
    """The first records of a program, which is cancelled then; the one before has to let go of the folder."""
    until = time.monotonic() + 60
    while True:
        try:
            with make().execute_and_collect() as records:
                return sorted(itertools.islice(records, count))
        except DirectoryHeldError:
            assert time.monotonic() < until
            time.sleep(0.02)


def watched(folder, cut=False):
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder))
    if cut:
        builder.set_file_enumerator(FileEnumeratorProvider.default_splittable_file_enumerator())
    return builder.monitor_continuously(Duration.of_millis(1)).build()


def added(folder, name, text):
    (folder / f".{name}").write_text(text)
    os.rename(folder / f".{name}", folder / name)


@pytest.fixture
def inbox(tmp_path):
    (tmp_path / "inbox").mkdir()
    return tmp_path / "inbox"


def test_made_up_records_at_a_rate_end_when_all_have_been_made():
    env = environment()
    slow = env.from_source(NumberSequenceSource(1, 10, STEP), NONE, "slow").map(str, Types.STRING())
    fast = env.from_source(DataGeneratorSource(str, 4, Types.STRING()), NONE, "fast")
    sums = slow.union(fast).key_by(len, Types.INT()).reduce(lambda a, b: f"{int(a) + int(b)}".rjust(len(a))[: len(a)])
    assert len(collected(sums)) == 14
    both = HybridSource.builder(NumberSequenceSource(1, 5)).add_source(NumberSequenceSource(6, 10, STEP)).build()
    assert collected(environment(parallelism=1).from_source(both, NONE, "both")) == [*range(1, 11)]


def test_files_are_read_as_they_come(inbox):
    added(inbox, "a", "a1\na2\n")
    with environment().from_source(watched(inbox), NONE, "inbox").execute_and_collect() as lines:
        assert sorted(itertools.islice(lines, 2)) == ["a1", "a2"]
        added(inbox, "b", "b1\n")
        added(inbox, "a", "a1\na2\na3\n")
        added(inbox, "c", "c1\n")
        assert sorted(itertools.islice(lines, 2)) == ["b1", "c1"]


@pytest.mark.parametrize("cut", [False, True])
def test_a_job_that_goes_on_reads_what_is_new(tmp_path, inbox, monkeypatch, cut):
    monkeypatch.setattr(file_source, "SPLIT_BYTES", 500)
    monkeypatch.setattr("penstock.runtime.io.files.BLOCK_BYTES", 100)

    def run(count, **settings):
        def program():
            env = environment(tmp_path / "job", **settings)
            return env.from_source(watched(inbox, cut), NONE, "inbox").map(str, Types.STRING())

        return some(program, count)

    def texts(name, count):
        return [f"{name}{number:03}" for number in range(count)]

    for name in ("a", "b"):
        added(inbox, name, "".join(f"{text}\n" for text in texts(name, 200)))
    assert run(400, penstock__step__records=7) == texts("a", 200) + texts("b", 200)
    added(inbox, "a", "changed\n")
    added(inbox, "c", "".join(f"{text}\n" for text in texts("c", 150)))
    assert run(150, penstock__step__records=40, parallelism=2) == texts("c", 150)
    added(inbox, "d", "d\n")
    assert run(1) == ["d"]


class Fails(MapFunction):
    """Once, at a record, by a file that says so."""

    def __init__(self, mark, at):
        self.mark = mark
        self.at = at

    def map(self, value):
        if value == self.at and not os.path.exists(self.mark):
            open(self.mark, "w").close()
            raise OSError("the wire is cut")
        return value


def test_after_a_failure_every_record_is_read_once(tmp_path, inbox):
    for file in range(300):
        added(inbox, f"{file:03}", f"{file}-0\n{file}-1\n")

    def run():
        settings = {"penstock__step__records": 20, "penstock__step__available_now": "true"}
        env = environment(tmp_path / "job", **settings)
        files = env.from_source(watched(inbox), NONE, "inbox").map(
            Fails(str(tmp_path / "mark"), "99-1"), Types.STRING()
        )
        numbers = env.from_source(DataGeneratorSource(str, 10, Types.STRING()), NONE, "ended")
        files.union(numbers).write_as_text(str(tmp_path / "out"))
        env.execute()

    with pytest.raises(JobExecutionError, match="the wire is cut"):
        run()
    run()
    out = tmp_path / "out"
    written = [line for path in ([out] if out.is_file() else out.iterdir()) for line in path.read_text().split()]
    assert sorted(written) == sorted(
        [f"{file}-{half}" for file in range(300) for half in (0, 1)] + [*map(str, range(10))]
    )


def test_more_files_than_a_step_takes_are_all_there_is(inbox):
    for number in range(1_200):
        (inbox / str(number)).write_text(f"{number}\n")
    env = environment(penstock__step__available_now="true")
    assert sorted(map(int, collected(env.from_source(watched(inbox), NONE, "inbox")))) == [*range(1_200)]


def test_a_modified_file_is_read_again_by_read_file(tmp_path, inbox):
    def run(count):
        mode = FileProcessingMode.PROCESS_CONTINUOUSLY
        return some(lambda: environment(tmp_path / "job").read_file(str(inbox), mode, 1), count)

    (inbox / "a").write_text("a1\n")
    os.utime(inbox / "a", (100, 100))
    assert run(1) == ["a1"]
    (inbox / "a").write_text("a1\na2\n")
    assert run(2) == ["a1", "a2"]
    (inbox / "b").write_text("b\n")
    assert run(1) == ["b"]


def test_a_socket_is_read_until_it_is_closed():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with listener.accept()[0] as line:
                for number in range(500):
                    line.sendall(f"line {number}|".encode())
                line.sendall(b"last")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        env = environment(parallelism=1, penstock__step__records=50)
        texts = collected(env.socket_text_stream("127.0.0.1", listener.getsockname()[1], "|"))
        thread.join()
    assert texts == [*(f"line {number}" for number in range(500)), "last"]


class Journal(Source):
    """A file that grows, and ends with a line of its own. Positions are bytes."""

    bounded = False
    produced_type = Types.STRING()

    def __init__(self, path):
        self.path = path

    def splits(self, parallelism):
        return [Split("journal", 0, self.path.stat().st_size)]

    def ended(self):
        return self.path.read_text().endswith("end\n")

    def read(self, split):
        with open(self.path, "rb") as file:
            file.seek(split.start)
            while file.tell() < split.end:
                yield Records([file.readline().decode().strip()], file.tell())


def test_a_source_of_one_s_own(tmp_path):
    path = tmp_path / "journal"
    path.write_text("first\n")
    with environment().from_source(Journal(path), NONE, "journal").execute_and_collect() as lines:
        assert next(lines) == "first"
        with open(path, "a") as file:
            file.write("second\nend\n")
        assert [*lines] == ["second", "end"]


class Stamped(Source):
    """Numbers with timestamps, some of them equal, and with watermarks of its own."""

    bounded = False
    produced_type = Types.LONG()

    def splits(self, parallelism):
        return [Split("numbers", 0, 12)]

    def ended(self):
        return True

    def read(self, split):
        for at in range(split.start, split.end, 4):
            values = (*range(at, at + 4),)  # no list: a column, say
            yield Records(values, at + 4, [value // 3 for value in values], watermark=at)


class Times(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


@pytest.mark.parametrize("steps", [1, 5, 100])
def test_without_a_strategy_records_keep_their_times_and_watermarks_of_the_source_do_not_count(steps):
    def records(strategy):
        env = environment(parallelism=1, penstock__step__records=steps)
        return collected(env.from_source(Stamped(), strategy, "stamped").process(Times()))

    never = -(1 << 63)
    assert records(NONE) == [(value, value // 3, never) for value in range(12)]
    idle = NONE.with_idleness(Duration.of_minutes(1))  # has a generator, which is given record by record
    assert records(idle) == records(NONE)
