"""The harness of sources: sources that come with Penstock pass it, and each way to be wrong has an answer."""

from __future__ import annotations

import gzip
import itertools
from dataclasses import replace

import pytest

from penstock.common import Duration
from penstock.connectors.files import watched_folders
from penstock.connectors.files.watched_folders import FolderMonitor, TextPieces
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
    datagen,
)
from penstock.datastream.formats import CsvReaderFormat, CsvSchema
from penstock.errors import InvalidProgramError
from penstock.runtime.io import file_source
from penstock.testing import SourceContractError, SourceTestHarness, check_source


class Feed(Source):
    """Partitions that grow; a list in a list stands for the server."""

    bounded = False

    def __init__(self, partitions):
        self.partitions = partitions

    def splits(self, parallelism):
        return [Split(str(number), 0, len(partition)) for number, partition in enumerate(self.partitions)]

    def limited(self, split, records):
        return replace(split, end=min(split.end, split.start + records))

    def read(self, split):
        partition = self.partitions[int(split.id)]
        for position in range(split.start, split.end, 2):
            end = min(position + 2, split.end)
            yield Records(partition[position:end], end)


class Shared:
    """A server that all copies of a source ask."""

    partitions: list[list[str]]

    @classmethod
    def source(cls):
        cls.partitions = [["a", "b", "c"], []]
        return Feed(Shares())


class Shares:
    """Stands for a connection: what it shows is the server's."""

    def __iter__(self):
        return iter(Shared.partitions)

    def __getitem__(self, index):
        return Shared.partitions[index]


GROWS = (
    lambda: Shared.partitions[1].extend("xyz"),
    lambda: Shared.partitions[0].extend("defgh"),
    lambda: Shared.partitions.append(list("new")),
)


def test_a_feed_that_grows_passes():
    read = check_source(Shared.source, grow=GROWS)
    assert read == {"0": list("abcdefgh"), "1": list("xyz"), "2": list("new")}


@pytest.fixture
def looking(monkeypatch):
    """A clock that goes on whenever somebody looks at it."""
    monkeypatch.setattr(watched_folders, "now", itertools.count().__next__)
    monkeypatch.setattr("penstock.runtime.io.files.BLOCK_BYTES", 50)
    monkeypatch.setattr(file_source, "SPLIT_BYTES", 300)


def watched(format, folder, cut=False):
    builder = FileSource.for_record_stream_format(format, str(folder))
    if cut:
        builder.set_file_enumerator(FileEnumeratorProvider.default_splittable_file_enumerator())
    return builder.monitor_continuously(Duration.of_millis(1)).build()


@pytest.mark.parametrize("cut", [False, True])
def test_files_pass(tmp_path, looking, cut):
    def make():
        for path in tmp_path.iterdir():
            path.unlink()
        (tmp_path / "a").write_text("".join(f"{number}\n" for number in range(200)))
        return watched(StreamFormat.text_line_format(), tmp_path, cut)

    def more():
        (tmp_path / "b.gz").write_bytes(gzip.compress(b"".join(b"b%d\n" % number for number in range(100))))

    read = check_source(make, grow=[more])
    assert sum(map(len, read.values())) == 300
    assert len(read) == (4 if cut else 2)


def test_csv_passes(tmp_path, looking, monkeypatch):
    monkeypatch.setattr("penstock.connectors.formats.csv._BATCH", 3)
    schema = CsvSchema.builder().add_string_column("name").add_number_column("size").build()
    (tmp_path / "a.csv").write_text("".join(f"n{number},{number}\n" for number in range(20)))
    read = check_source(lambda: watched(CsvReaderFormat.for_schema(schema), tmp_path))
    assert len(*read.values()) == 20


def test_monitors_made_up_records_and_hybrids_pass(tmp_path, looking, monkeypatch):
    monkeypatch.setattr(datagen, "_BATCH", 3)
    (tmp_path / "a").write_text("".join(f"line {number}\n" for number in range(200)))
    read = check_source(lambda: FolderMonitor(str(tmp_path), 1, TextPieces("UTF-8")), parallelism=1)
    assert len(*read.values()) == -(-1_690 // 300)
    assert check_source(lambda: NumberSequenceSource(1, 10)) == {"0": [1, 2, 3, 4, 5], "1": [6, 7, 8, 9, 10]}
    step = RateLimiterStrategy.per_checkpoint(7)
    woven = check_source(lambda: DataGeneratorSource(lambda number: number, 20, rate_limiter_strategy=step))
    assert woven == {"0/2": [*range(0, 20, 2)], "1/2": [*range(1, 20, 2)]}

    def hybrid():
        return HybridSource.builder(NumberSequenceSource(1, 5)).add_source(Shared.source()).build()

    both = check_source(hybrid, grow=GROWS)
    assert both == {
        "0-0": [1, 2, 3], "0-1": [4, 5], "1-0": list("abcdefgh"), "1-1": list("xyz"), "1-2": list("new")
    }  # fmt: skip
    source = hybrid()
    assert [split.id for split in source.available(1, {})] == ["0-0", "1-0"]
    assert [split.start for split in source.available(1, {"0-0": 3, "1-0": 1})] == [3, 1]
    harness = SourceTestHarness(source)
    assert [harness.step(2) for _ in range(5)] == [[1, 2], [3, 4], [5], ["a", "b"], ["c"]]
    assert not harness.source.ended()


def test_by_hand(tmp_path, looking):
    (tmp_path / "a").write_text("".join(f"{number}\n" for number in range(40)))
    harness = SourceTestHarness(watched(StreamFormat.text_line_format(), tmp_path))
    first = harness.step(5)
    assert first == [str(number) for number in range(len(first))]
    assert 5 <= len(first) < 30
    assert harness.positions
    again = harness.restarted()
    rest = again.run()
    assert first + rest == [str(number) for number in range(40)]
    assert harness.run() == rest
    assert again.over
    assert not again.positions
    assert again.read == harness.read


class Wrong(Feed):
    """One partition of ten."""

    def __init__(self):
        super().__init__([list("abcdefghij")])


def wrong(**methods):
    return type("Wrong", (Wrong,), methods)


def asks(answer):
    asked = itertools.count()
    return lambda self, parallelism: answer(next(asked))


class Stateful(Wrong):
    def read(self, split):
        self.read_before = getattr(self, "read_before", 0) + 1
        yield Records(["x" * (split.start + 1)] * (split.end - split.start), split.end)


class ByDriver(Wrong):
    """Takes what the driver has left off for its position."""

    left = 0

    def pending(self, parallelism, positions, over=frozenset()):
        splits = [Split("0", self.left, 10)] if self.left < 10 else []
        self.left += 5
        return splits


class Random(Wrong):
    bits = itertools.count()

    def read(self, split):
        yield Records([next(Random.bits) for _ in range(split.start, split.end)], split.end)


WRONG = {
    "two of a name": (wrong(splits=lambda s, p: [Split("a", 0, 1)] * 2), "two splits with the id 'a'"),
    "no splits": (wrong(splits=lambda s, p: ["a"]), "gave 'a' as a split"),
    "an end that goes back": (wrong(splits=asks(lambda n: [Split("0", 0, 10 - n)])), "end 10 and has 9 now"),
    "a cut before the start": (wrong(limited=lambda s, split, n: replace(split, end=split.start)), "behind the start"),
    "a cut behind the end": (wrong(limited=lambda s, split, n: replace(split, end=99)), "limited.*end=99"),
    "another name": (wrong(limited=lambda s, split, n: replace(split, id="x")), "may change the end only"),
    "no records": (wrong(read=lambda s, split: iter([["a"]])), r"gave \['a'\]. Give Records"),
    "a rest that stays": (wrong(read=lambda s, split: iter([Records(["a"], 3)])), "stopped at 3, so the rest"),
    "positions before": (
        wrong(read=lambda s, split: (Records([i], i if i < 9 else 10) for i in range(split.start, split.end))),
        "gave 0 with the position 0, where it had been before",
    ),
    "a number per record": (Random, "read in steps of 1 has 10 records.*the first difference is at 0"),
    "a driver that counts": (ByDriver, "begins the split '0' at 5, and it has been left at"),
    "a position that is not itself": (
        wrong(read=lambda s, split: iter([Records(["a"], object())])),
        "does not equal its copy",
    ),
    "a position that is nobody's": (wrong(read=lambda s, split: iter([Records(["a"], lambda: 1)])), "cannot be kept"),
    "too few times": (wrong(read=lambda s, split: iter([Records("ab", 10, [1])])), "2 records and 1 timestamps"),
    "a late record": (
        wrong(
            read=lambda s, split: (
                Records(["a"], position + 1, [5], watermark=5) for position in range(split.start, split.end)
            )
        ),
        "a record of 5 behind the watermark 5",
    ),
    "nothing comes": (
        wrong(splits=lambda s, p: [Split("0", 0)], limited=Source.limited, read=lambda s, split: iter(())),
        "after 100000 steps|reads nothing of them",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name, monkeypatch):
    monkeypatch.setattr("penstock.testing.sources._STEPS", 1_000)
    make, says = WRONG[name]
    with pytest.raises((SourceContractError, InvalidProgramError), match=says.replace("100000", "1000")):
        check_source(make)


def test_it_takes_sources():
    with pytest.raises(InvalidProgramError, match=r"subclass of Source"):
        SourceTestHarness([1, 2])
