"""Sources at another parallelism: splits are dealt out anew, none is read twice, and they stay what they were."""

from __future__ import annotations

import pytest

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.datastream.connectors import (
    DataGeneratorSource,
    FileSource,
    HybridSource,
    NumberSequenceSource,
    RateLimiterStrategy,
    Records,
    Source,
    Split,
    StreamFormat,
)
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.manifest import SourceState, StepManifest, TaskState
from penstock.job.restore.adapted_manifest import adapt
from penstock.runtime.config.tasks import OperatorConfig, VertexConfig
from tests.job.restore.jobs import environment, some
from tests.running import collected

NONE = WatermarkStrategy.no_watermarks()


class Pages(Source):
    """Numbers whose positions are lists: of the page, and of the place on it."""

    def splits(self, parallelism):
        return [Split(f"book-{number}", [number * 2, 0], [number * 2 + 2, 0]) for number in range(5)]

    def read(self, split):
        page, place = split.start
        for at in range(page * 20 + place, split.end[0] * 20):
            yield Records([at], list(divmod(at + 1, 20)))


class Topic(Source):
    """Partitions that are there all the time, each with numbers of its own; which there are hangs on the parallelism at
    which it is asked."""

    bounded = False
    together = True

    def splits(self, parallelism):
        return [Split(f"{parallelism}-{part}", 0, 20) for part in range(5 * parallelism)]

    def read(self, split):
        part = int(split.id.partition("-")[2])
        for at in range(split.start, split.end):
            yield Records([part * 20 + at], at + 1)


def watched(folder):
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder))
    return builder.monitor_continuously(Duration.of_millis(1)).build()


SOURCES = {
    "topic": lambda inbox: Topic(),
    "watched folder": watched,
    "files": lambda inbox: FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(inbox)).build(),
    "positions that are lists": lambda inbox: Pages(),
    "sequence": lambda inbox: NumberSequenceSource(0, 199),
    "two sequences": lambda inbox: (
        HybridSource.builder(NumberSequenceSource(0, 99)).add_source(NumberSequenceSource(100, 199)).build()
    ),
    "rate": lambda inbox: DataGeneratorSource(lambda n: n, 200, Types.LONG(), RateLimiterStrategy.per_checkpoint(30)),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("lives", [(2, 4, 3, 1), (2, 1, 5, 2)])
def test_every_record_is_read_once(tmp_path, source, lives):
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    for number in range(10):
        (inbox / str(number)).write_text("".join(f"{n}\n" for n in range(number * 20, number * 20 + 20)))
    records = []
    for number, parallelism in enumerate(lives):
        source_read = SOURCES[source](inbox)
        endless = "false" if source_read.bounded or source == "rate" else "true"
        settings = {"penstock__step__records": 7, "penstock__step__available_now": endless}
        env = environment(tmp_path / "job", parallelism, **settings)
        stream = env.from_source(source_read, NONE, "source").uid("source")
        stream = stream.map(int, Types.LONG()).name(f"life {number}")
        records += some(stream, 3) if number < len(lives) - 1 else collected(stream)
    assert sorted(records) == list(range(200))


def test_partitions_are_dealt_out_to_all(tmp_path):
    for parallelism in (1, 3, 2):
        env = environment(tmp_path / "job", parallelism, penstock__step__records=20)
        stream = env.from_source(Topic(), NONE, "topic").uid("topic")
        some(stream.map(lambda n: n, Types.LONG()).filter(lambda n: False).name(f"{parallelism}"), 1)
        (source,) = JobFolder(str(tmp_path / "job")).newest().sources.values()
        assert source.asked == 1
        owners = [at[0] for at in source.positions.values()]
        counts = [owners.count(subtask) for subtask in range(parallelism)]
        assert max(counts) - min(counts) <= 1


def vertex(parallelism, name="a" * 32):
    operator = OperatorConfig(1, name, "source", None, 128, b"")
    return VertexConfig(0, "source", parallelism, 128, 0, 0, (operator,))


def manifest(positions, parallelism, asked=0):
    tasks = {"a" * 32: tuple(TaskState(b"", finished=True) for _ in range(parallelism))}
    return StepManifest(7, "job", "", 0, sources={"a" * 32: SourceState(positions, asked=asked)}, tasks=tasks)


PUSHED = {"records-0": [0, [3, 0]], "records-1": [1, [4, 0]]}


@pytest.mark.parametrize(
    ("old", "new", "positions", "expected"),
    [
        (1, 2, {"b": [0, 5], "a": [0, 6], "c": [0, 7]}, {"a": [0, 6], "b": [1, 5], "c": [0, 7]}),
        (2, 2, {"a": [1, 6], "b": [1, 5]}, {"a": [1, 6], "b": [1, 5]}),
        (2, 2, PUSHED, PUSHED),
        (2, 3, PUSHED, {}),
        (3, 2, {f"records-{i}": [i, 5 * i] for i in range(3)}, {f"records-{i}": [i % 2, 5 * i] for i in range(3)}),
    ],
)
def test_positions_of_another_parallelism(old, new, positions, expected):
    result, _ = adapt(manifest(positions, old), [vertex(new)], "plan", lambda totals: totals[0])
    assert dict(result.sources["a" * 32].positions) == expected
    assert result.sources["a" * 32].asked == old
    assert result.tasks == {"a" * 32: (TaskState(),) * new}
    again, _ = adapt(result, [vertex(7)], "other", lambda totals: totals[0])
    assert again.sources["a" * 32].asked == old
