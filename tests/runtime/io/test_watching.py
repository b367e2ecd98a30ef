"""Sources of files without an end: what they give step by step, whatever is done to the folder meanwhile."""

from __future__ import annotations

import gzip
import os
import pickle

import pytest

from penstock.common import Duration
from penstock.connectors.files import watched_folders
from penstock.connectors.files.watched_folders import FolderMonitor, Limits, TextPieces, Watch, named
from penstock.datastream.connectors import FileEnumeratorProvider, FileSource, StreamFormat
from penstock.errors import ConfigurationError, FileFormatError, InvalidProgramError
from penstock.runtime.io import file_source
from penstock.runtime.io.file_source import read_text
from penstock.runtime.io.splits import LostSplitsError


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(watched_folders, "now", lambda: time[0])
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
        values = []
        for split in self.source.pending(1, dict(self.positions), frozenset(self.over)):
            read = 0
            for some in self.source.read(split):
                values += some.values
                self.positions[split.id] = some.position
                read += len(some.values)
                if read >= most:
                    break
            else:
                assert split.finite
                self.over.add(split.id)
                self.positions.pop(split.id, None)
        return values

    def restarted(self):
        job = Job(pickle.loads(pickle.dumps(self.source)))
        job.positions, job.over = dict(self.positions), set(self.over)
        return job


def lines_of(*paths, cut=False, interval=1_000):
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), *map(str, paths))
    if cut:
        builder.set_file_enumerator(FileEnumeratorProvider.default_splittable_file_enumerator())
    return Job(builder.monitor_continuously(Duration.of_millis(interval)).build())


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
    look = watched_folders.found_files
    monkeypatch.setattr(watched_folders, "found_files", lambda *a, **k: looks.append(clock[0]) or look(*a, **k))
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
    job, values, steps = lines_of(tmp_path, cut=cut), [], 0
    while more := job.step(most=100):
        values += more
        steps += 1
        clock[0] += 0.3
        if steps == 3:
            with open(tmp_path / "a:1/2", "a") as file:
                file.write("".join(f"late {number}\n" for number in range(1_000)) if cut else "")
        job = job.restarted()
    assert sorted(values, key=lambda text: int(text.split()[1])) == texts
    assert values == texts or cut
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
    for module in ("penstock.connectors.files.watched_folders", "penstock.runtime.io.file_source"):
        monkeypatch.setattr(f"{module}.SPLIT_BYTES", 1_000)
    monkeypatch.setattr("penstock.connectors.files.watched_folders.MOST_BYTES", 3_000)
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


def test_a_large_file_that_is_gone_when_it_was_read_in_part_is_named(tmp_path, clock):
    touched(tmp_path / "a", "a1\n", 200)
    job = monitor(tmp_path)
    (split,) = job.source.pending(1, {})
    os.remove(tmp_path / "a")
    again = job.restarted()
    with pytest.raises(LostSplitsError, match=r"/a was read up to position 3, and is gone") as lost:
        again.source.pending(1, {split.id: 3})
    assert lost.value.splits == (split.id,)
    newer = f"{tmp_path}/a:/{300 * 10**9}"  # it was modified, and read again to its end, before it was removed
    assert again.source.pending(1, {split.id: 3}, frozenset({newer})) == []


# --- files that change when they have been read in part ---------------------------------------------------------------


def interrupted(tmp_path, names="a", cut=False, lines=100):
    """A job that has read ten lines or more of each file, or of its first piece."""
    for name in names:
        (tmp_path / name).write_text("".join(f"{name}{number:03}\n" for number in range(lines)))
    job = lines_of(tmp_path, cut=cut)
    job.step(most=10)
    assert all(10 <= at < lines * 5 for at in job.positions.values() if isinstance(at, int))
    return job.restarted()


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("penstock.runtime.io.files.BLOCK_BYTES", 50)
    monkeypatch.setattr(file_source, "SPLIT_BYTES", 200)


def resize(path, length):
    with open(path, "r+b") as file:
        file.truncate(length)


def halves(path):
    resize(path, path.stat().st_size // 2)


def empties(path):
    resize(path, 0)


def rewrites(path):
    path.write_text("other\n")


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("change", [os.remove, halves, empties, rewrites])
def test_a_file_that_is_not_what_it_was_when_it_was_read_in_part_is_named(tmp_path, clock, small_blocks, cut, change):
    job = interrupted(tmp_path, "ab", cut)
    change(tmp_path / "b")
    reason = "is gone" if change is os.remove else r"was read in part when it had 500 bytes, and has \d+ now"
    for _ in range(2):  # whoever tries again is told again
        with pytest.raises(
            LostSplitsError, match=rf"/b was read .*{reason}|/b {reason}.*--allow-non-restored-state"
        ) as lost:
            job.step()
    assert {name.split(":")[0] for name in lost.value.splits} == {str(tmp_path / "b")}
    job.over |= set(lost.value.splits)
    for name in lost.value.splits:
        job.positions.pop(name, None)
    assert {line[0] for line in job.step()} == {"a"}


@pytest.mark.parametrize("change", [os.remove, halves, rewrites])
def test_a_file_of_which_nothing_was_read_may_go_or_change(tmp_path, clock, small_blocks, change):
    job = interrupted(tmp_path, "a")
    (tmp_path / "b").write_text("b\n" * 50)
    clock[0] += 1
    assert len(job.source.pending(1, dict(job.positions))) == 2
    change(tmp_path / "b")
    assert {line[0] for line in job.restarted().step()} <= {"a", "b", "o"}


def test_a_file_that_was_read_to_its_last_byte_may_go(tmp_path, clock, small_blocks):
    job = interrupted(tmp_path, "a")
    ((name, _),) = job.positions.items()
    job.positions[name] = (tmp_path / "a").stat().st_size
    os.remove(tmp_path / "a")
    assert job.step() == []


def test_a_file_that_the_program_reads_otherwise_now_is_named(tmp_path, clock, small_blocks):
    job = interrupted(tmp_path, "a")
    other = lines_of(tmp_path, cut=True)
    other.positions = dict(job.positions)
    with pytest.raises(LostSplitsError, match=r"as the split '.*', which does not exist any more"):
        other.step()
    (tmp_path / "elsewhere").mkdir()
    other = lines_of(tmp_path / "elsewhere")
    other.positions = dict(job.positions)
    with pytest.raises(LostSplitsError, match="is gone"):
        other.step()


@pytest.mark.parametrize("begins", [0, 10])
def test_a_file_that_is_cut_while_it_is_read_is_named(tmp_path, clock, small_blocks, begins):
    (tmp_path / "a").write_text("line\n" * 100)
    job = lines_of(tmp_path)
    if begins:
        job.step(most=begins)
    (split,) = job.source.pending(1, dict(job.positions))
    records = job.source.read(split)
    next(records)
    halves(tmp_path / "a")
    with pytest.raises(FileFormatError, match=r"/a was cut while it was being read: it had 500 bytes, and has 250 now"):
        list(records)


def test_a_file_that_is_removed_while_it_is_open_is_read_to_its_end(tmp_path, clock, small_blocks):
    (tmp_path / "a").write_text("line\n" * 100)
    source = lines_of(tmp_path).source
    (split,) = source.pending(1, {})
    records = source.read(split)
    read = len(next(records).values)
    os.remove(tmp_path / "a")
    assert read + sum(len(some.values) for some in records) == 100
