"""Sources of splits: how they are dealt out, and files as splits, whole or cut, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from dataclasses import replace

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ConfigurationError, InvalidProgramError, UnsupportedError
from penstock.runtime.io import file_source
from penstock.runtime.io.file_format import TextLines
from penstock.runtime.io.file_paths import found_files
from penstock.runtime.io.file_source import read_text
from penstock.runtime.io.splits import Records, Source, Split, SplitSource, deal

COMPRESSED = {
    "gz": gzip.compress,
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "deflate": zlib.compress,
    "txt": bytes,
}
TEXT = "".join(f"line {number} of €\n" for number in range(60_000))


def lines(parts):
    return [line for part in parts for line in part.values]


@given(st.lists(st.integers(0, 50)), st.integers(1, 6))
def test_every_split_is_dealt_out_once_in_order_and_by_weight(weights, parallelism):
    splits = [Split(str(index), weight=weight) for index, weight in enumerate(weights)]
    dealt = deal(splits, parallelism)
    assert len(dealt) == parallelism
    assert sorted((split for share in dealt for split in share), key=lambda split: int(split.id)) == splits
    assert all([int(split.id) for split in share] == sorted(int(split.id) for split in share) for share in dealt)
    loads = [sum(split.weight for split in share) for share in dealt]
    assert max(loads) - min(loads) <= max(weights, default=0)
    assert dealt == deal(splits, parallelism)


@pytest.mark.parametrize("ending", [*COMPRESSED, "zst"])
def test_a_file_is_read_to_its_end_and_from_every_position_on(tmp_path, ending):
    path = tmp_path / f"file.{ending}"
    if ending == "zst":
        with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
            file.write(TEXT.encode())
    else:
        path.write_bytes(COMPRESSED[ending](TEXT.encode()))
    (split,) = TextLines("UTF-8").splits((str(path),), splittable=True)
    parts = list(read_text(split, "UTF-8"))
    assert lines(parts) == TEXT.splitlines()
    assert len(parts) > 1
    for index, part in enumerate(parts):
        rest = list(read_text(replace(split, start=part.position), "UTF-8"))
        assert lines(rest) == lines(parts[index + 1 :])


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "deflate"])
def test_a_damaged_file_is_an_error_and_not_its_end(tmp_path, ending):
    path = tmp_path / f"file.{ending}"
    path.write_bytes(COMPRESSED[ending](TEXT.encode())[:-200])
    (split,) = TextLines("UTF-8").splits((str(path),), splittable=False)
    with pytest.raises((EOFError, OSError, zlib.error, lzma.LZMAError)):
        list(read_text(split, "UTF-8"))


def test_a_text_that_cannot_be_cut_at_bytes_is_read_at_once(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text(TEXT, encoding="UTF-16")
    (split,) = TextLines("UTF-16").splits((str(path),), splittable=True)
    (records,) = read_text(split, "UTF-16")
    assert records.values == TEXT.splitlines()
    assert list(read_text(replace(split, start=records.position), "UTF-16")) == []


@pytest.mark.parametrize("size", [1_000, 4_096, 99_999])
def test_a_file_that_is_cut_gives_each_line_once(tmp_path, monkeypatch, size):
    monkeypatch.setattr(file_source, "SPLIT_BYTES", size)
    path = tmp_path / "file:1.txt"
    path.write_text(TEXT, encoding="UTF-8")
    splits = TextLines("UTF-8").splits((str(path),), splittable=True)
    assert len(splits) > 10
    assert len({split.id for split in splits}) == len(splits)
    assert [line for split in splits for part in read_text(split, "UTF-8") for line in part.values] == TEXT.splitlines()
    assert len(TextLines("UTF-8").splits((str(path),), splittable=False)) == 1


def test_folders_are_entered_and_hidden_files_left_out(tmp_path):
    for name in ("b.txt", "a.txt", "_no", ".no", "deep/er/c.txt", "deep/_no/d.txt", ".no2/e.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")

    def listed(*paths):
        return [os.path.relpath(entry.path, tmp_path) for entry in found_files(paths)]

    root = str(tmp_path)
    assert listed(root) == ["a.txt", "b.txt", "deep/er/c.txt"]
    assert listed(f"{root}/b.txt", root) == ["b.txt", "a.txt", "deep/er/c.txt"]
    assert listed(f"{root}/*.txt") == ["a.txt", "b.txt"]
    assert listed(f"{root}/**/c.*") == ["deep/er/c.txt"]
    assert listed(f"file://{root}/a.txt") == ["a.txt"]
    (tmp_path / "odd[1].txt").write_text("x")
    assert listed(f"{root}/odd[1].txt") == ["odd[1].txt"]


def test_paths_that_stand_for_nothing_are_refused(tmp_path):
    for path in (tmp_path / "none.txt", tmp_path / "*.txt"):
        with pytest.raises(ConfigurationError, match="does not exist") as caught:
            found_files((str(path),))
        assert caught.value.flink_class == "java.io.FileNotFoundException"
    with pytest.raises(UnsupportedError, match="ftp"):
        found_files(("ftp://host/path",))


class Three(Source):
    def __init__(self, result):
        self.result = result

    def splits(self, parallelism):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def read(self, split):
        yield Records([split.id], None)


def test_a_source_is_asked_on_the_driver_and_read_by_subtask():
    source = SplitSource(Three([Split("a"), Split("b"), Split("c")])).prepare(2)
    read = [[records.values for split in share for records in source.source.read(split)] for share in source.dealt]
    assert read == [[["a"], ["c"]], [["b"]]]


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (["a"], "gave 'a' as a split"),
        ([Split("a"), Split("a")], "two splits with the id 'a'"),
        (ValueError("no network"), r"splits\(1\) raised ValueError: no network"),
    ],
)
def test_what_a_source_gives_is_checked(result, says):
    with pytest.raises(InvalidProgramError, match=says) as caught:
        SplitSource(Three(result)).prepare(1)
    assert caught.value.__cause__ is (result if isinstance(result, Exception) else None)


def test_a_sources_own_refusal_stays():
    with pytest.raises(UnsupportedError, match="as it is"):
        SplitSource(Three(UnsupportedError("as it is"))).prepare(1)


def test_a_source_without_its_two_methods_is_not_readable():
    assert not Source().readable()
    assert Three([]).readable()
    for call in (lambda: Source().splits(1), lambda: Source().read(Split("a"))):
        with pytest.raises(NotImplementedError):
            call()


class Growing(Source):
    """Two partitions, a file, and something whose end nobody knows."""

    bounded = False

    def __init__(self, ends):
        self.ends = ends

    def splits(self, parallelism):
        partitions = [Split(name, 0, end) for name, end in self.ends.items()]
        return [*partitions, Split("file", finite=True), Split("feed")]


def test_a_step_reads_from_where_the_step_before_has_left_a_split():
    source = Growing({"p0": 5, "p1": 0})
    assert source.pending(2, {}) == [Split("p0", 0, 5), Split("file", finite=True), Split("feed")]
    source.ends["p1"] = 3
    left = source.pending(2, {"p0": 5, "p1": 1, "feed": "x", "file": 7})
    assert left == [Split("p1", 1, 3), Split("file", 7, finite=True), Split("feed", "x")]
    assert source.pending(2, {"p0": 5, "p1": 3}, {"file"}) == [Split("feed")]
    assert source.limited(left[0], 1) == left[0]
    assert not source.ended()
    assert Three([]).ended()
