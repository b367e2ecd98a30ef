"""Sources of files without an end: what they give step by step, whatever is done to the folder meanwhile."""

from __future__ import annotations

import gzip
import os
import pickle

import pytest

from penstock.common import Duration
from penstock.datastream.connectors import FileEnumeratorProvider, FileSource, StreamFormat
from penstock.errors import ConfigurationError, InvalidProgramError
from penstock.runtime.io import file_source, watching
from penstock.runtime.io.file_monitor import FolderMonitor, TextPieces
from penstock.runtime.io.file_source import read_text
from penstock.runtime.io.watching import Limits, Watch, named


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(watching, "now", lambda: time[0])
    time = [0.0]
    return time


class Job:
    """What a job remembers of a source."""

    def __init__(self, source):
        self.source = source
        self.positions = {}
        self.over = set()

    def step(self, most=1 << 40):
        """Read everything that is pending, or some records of each split."""
        found = []
        for split in self.source.pending(1, dict(self.positions), frozenset(self.over)):
            read = 0
            for some in self.source.read(split):
                found += some.values
                self.positions[split.id] = some.position
                read += len(some.values)
                if read >= most:
                    break
            else:
                assert split.finite
                self.over.add(split.id)
                self.positions.pop(split.id, None)
        return found

    def restarted(self):
        job = Job(pickle.loads(pickle.dumps(self.source)))
        job.positions, job.over = dict(self.positions), set(self.over)
        return job


def lines_of(*paths, cut=False, interval=1_000):
    made = FileSource.for_record_stream_format(StreamFormat.text_line_format(), *map(str, paths))
    if cut:
        made.set_file_enumerator(FileEnumeratorProvider.default_splittable_file_enumerator())
    return Job(made.monitor_continuously(Duration.of_millis(interval)).build())


def test_every_path_is_read_once(tmp_path, clock):
    job = lines_of(tmp_path)
    assert not job.source.bounded
    assert job.step() == []
    (tmp_path / "b").write_text("b1\nb2\n")
    (tmp_path / ".half").write_text("no\n")
    (tmp_path / "_tmp").mkdir()
    (tmp_path / "_tmp" / "c").write_text("no\n")
    assert job.step() == []
    clock[0] += 1
    assert job.step() == ["b1", "b2"]
    (tmp_path / "b").write_text("b1\nb2\nb3, which comes too late\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.gz").write_bytes(gzip.compress(b"a1\n"))
    os.rename(tmp_path / ".half", tmp_path / "whole")
    clock[0] += 1
    assert job.step() == ["no", "a1"]
    clock[0] += 1
    assert job.step() == []
    assert job.restarted().step() == []


def test_it_looks_no_more_often_than_it_was_told(tmp_path, clock, monkeypatch):
    looks = []
    look = watching.found_files
    monkeypatch.setattr(watching, "found_files", lambda *a, **k: looks.append(clock[0]) or look(*a, **k))
    job = lines_of(tmp_path, interval=500)
    for _ in range(17):
        job.step()
        clock[0] += 0.125
    assert looks == [0, 0.5, 1.0, 1.5, 2.0]


@pytest.mark.parametrize("cut", [False, True])
def test_a_step_ends_in_the_middle_of_a_file_and_so_does_a_job(tmp_path, clock, monkeypatch, cut):
    monkeypatch.setattr(file_source, "SPLIT_BYTES", 5_000)
    monkeypatch.setattr("penstock.runtime.io.files.BLOCK_BYTES", 400)
    texts = [f"line {number}" for number in range(2_000)]
    (tmp_path / "a:1/2").parent.mkdir(parents=True)
    (tmp_path / "a:1/2").write_text("".join(f"{text}\n" for text in texts))
    job, found, steps = lines_of(tmp_path, cut=cut), [], 0
    while more := job.step(most=100):
        found += more
        steps += 1
        clock[0] += 0.3
        if steps == 3:
            with open(tmp_path / "a:1/2", "a") as file:
                file.write("".join(f"late {number}\n" for number in range(1_000)) if cut else "")
        job = job.restarted()
    assert sorted(found, key=lambda text: int(text.split()[1])) == texts
    assert found == texts or cut
    assert steps >= 5
    assert len(job.over) == (4 if cut else 1)


def test_files_that_are_gone_are_forgotten_unless_they_have_been_begun(tmp_path, clock, monkeypatch):
    monkeypatch.setattr("penstock.runtime.io.files.BLOCK_BYTES", 10)
    for name in "ab":
        (tmp_path / name).write_text("".join(f"{name}{number}\n" for number in range(20)))
    job = lines_of(tmp_path)
    (first, _) = job.source.pending(1, {})
    job.positions[first.id] = 9
    os.remove(tmp_path / "b")
    clock[0] += 1
    assert [split.id for split in job.source.pending(1, job.positions)] == [first.id]
    (tmp_path / "b").write_text("again\n")
    clock[0] += 1
    assert job.step()[-1] == "again"
    job = job.restarted()
    (tmp_path / "c").write_text("c\n")
    (unread,) = job.source.pending(1, job.positions, frozenset(job.over))
    job.positions[unread.id] = 1
    os.remove(tmp_path / "c")
    clock[0] += 1
    with pytest.raises(FileNotFoundError):
        job.step()


def test_a_step_is_given_no_more_than_it_can_take(tmp_path, clock):
    for name in range(50):
        (tmp_path / f"{name:02}").write_text("x" * 100)
    watch = Watch((str(tmp_path),), 1)

    def cut(file):
        return named(file, file.size, file_source.pieces_of(file, "UTF-8", False))

    def names(over=frozenset(), **limits):
        return [split.id[-7:-5] for split in watch.pending(cut, {}, over, Limits(**limits))]

    assert names(files=3, weight=10_000) == ["00", "01", "02"]
    assert names(files=99, weight=450) == ["00", "01", "02", "03"]
    assert names(files=99, weight=1) == ["00"]
    over = frozenset(f"{tmp_path}/{name:02}:/100" for name in range(48))
    assert names(over, files=99, weight=10_000) == ["48", "49"]
    assert len(names(files=99, weight=10_000)) == 50  # another job of the same program


def test_patterns_may_fit_nothing_yet_and_other_paths_are_there(tmp_path, clock):
    job = lines_of(tmp_path / "*.log")
    assert job.step() == []
    (tmp_path / "1.log").write_text("one\n")
    (tmp_path / "1.txt").write_text("no\n")
    clock[0] += 1
    assert job.step() == ["one"]
    with pytest.raises(ConfigurationError, match="does not exist"):
        lines_of(tmp_path / "nothing").step()


def test_what_travels_is_small(tmp_path, clock):
    for name in range(300):
        (tmp_path / str(name)).write_text("x\n")
    job = lines_of(tmp_path)
    size = len(pickle.dumps(job.source))
    assert len(job.source.available(1, {})) == 300
    assert [len(job.step()) for _ in range(3)] == [256, 44, 0]
    assert job.source.available(1, {}, frozenset(job.over)) == []
    assert len(pickle.dumps(job.source)) == size


# --- read_file --------------------------------------------------------------------------------------------------------


def read_lines(job, **kwargs):
    return [line for piece in job.step(**kwargs) for some in read_text(piece, "UTF-8") for line in some.values]


def touched(path, text, seconds):
    path.write_text(text)
    os.utime(path, (seconds, seconds))


def monitor(path):
    return Job(FolderMonitor(str(path), 1_000, TextPieces("UTF-8")))


def test_a_modified_file_is_read_again_whole_and_files_come_in_order_of_their_times(tmp_path, clock):
    touched(tmp_path / "a", "a1\n", 200)
    touched(tmp_path / "b", "b1\n", 100)
    (tmp_path / "deep").mkdir()
    touched(tmp_path / "deep" / "no", "no\n", 300)
    job = monitor(tmp_path)
    assert read_lines(job) == ["b1", "a1"]
    touched(tmp_path / "b", "b1\nb2\n", 101)
    touched(tmp_path / "old", "older than what has been read\n", 1)
    assert read_lines(job) == []
    clock[0] += 1
    assert read_lines(job.restarted()) == ["older than what has been read", "b1", "b2"]
    assert read_lines(job) == ["older than what has been read", "b1", "b2"]
    clock[0] += 1
    assert read_lines(job) == []


def test_a_file_that_is_modified_before_it_has_been_read_is_read_once(tmp_path, clock):
    touched(tmp_path / "a", "a1\n", 100)
    job = monitor(tmp_path)
    (stale,) = job.source.pending(1, {})
    touched(tmp_path / "a", "a2\n", 101)
    clock[0] += 1
    (fresh,) = job.source.pending(1, {})
    assert (stale.id, fresh.id) == (f"{tmp_path}/a:/100000000000", f"{tmp_path}/a:/101000000000")
    assert read_lines(job) == ["a2"]
    with pytest.raises(InvalidProgramError, match="parallelism 1, not 2"):
        job.source.pending(2, {})


def test_a_large_file_is_read_in_several_steps(tmp_path, clock, monkeypatch):
    for module in ("penstock.runtime.io.file_monitor", "penstock.runtime.io.file_source"):
        monkeypatch.setattr(f"{module}.SPLIT_BYTES", 1_000)
    monkeypatch.setattr("penstock.runtime.io.file_monitor.MOST_BYTES", 3_000)
    texts = [f"line {number}" for number in range(1_000)]
    (tmp_path / "a").write_text("".join(f"{text}\n" for text in texts))
    source = monitor(tmp_path).source
    (split,) = source.pending(1, {})
    cut = source.limited(split, 10)
    pieces = [piece for some in source.read(cut) for piece in some.values]
    assert (len(pieces), cut.end, cut.finite) == (3, 3, False)
    (rest,) = source.pending(1, {split.id: 3})
    pieces += [piece for some in source.read(rest) for piece in some.values]
    assert [line for piece in pieces for some in read_text(piece, "UTF-8") for line in some.values] == texts
