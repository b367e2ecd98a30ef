"""A file that was read in part, and was removed or cut while the job was down: the job says so, whatever the format."""

from __future__ import annotations

import io
import json

import pytest

from penstock.common import Duration, Row, Types, WatermarkStrategy
from penstock.datastream.connectors import FileEnumeratorProvider, FileSource, HybridSource, NumberSequenceSource
from penstock.datastream.connectors.file_system import StreamFormat
from penstock.datastream.formats import ParquetColumnarRowInputFormat
from penstock.errors import ConfigurationError, PenstockError
from penstock.runtime.io import file_source
from penstock.storage.stores import storage_of
from tests.formats.test_stores import AVRO, FORMATS, KIND, RECORDS
from tests.job.restore.jobs import environment, some

NONE = WatermarkStrategy.no_watermarks()


def avro_of_small_blocks():
    fastavro = pytest.importorskip("fastavro")
    out = io.BytesIO()
    fastavro.writer(out, json.loads(str(AVRO)), [{"n": row.n, "word": row.word} for row in RECORDS], sync_interval=300)
    return out.getvalue()


LINES = "".join(f"{row.n}\n" for row in RECORDS).encode()
ALL = {
    **FORMATS,
    "avro": (avro_of_small_blocks(), FORMATS["avro"][1]),
    "parquet": (FORMATS["parquet"][0], ParquetColumnarRowInputFormat(KIND, batch_size=50)),
    "text": (LINES, StreamFormat.text_line_format()),
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Formats take some records at a time."""
    monkeypatch.setattr("penstock.runtime.io.files.BLOCK_BYTES", 300)
    monkeypatch.setattr("penstock.connectors.formats.csv._BATCH", 50)
    monkeypatch.setattr("penstock.connectors.formats.avro._DECODED", 1)


class Reading:
    """A job that reads one file in several lives, and is stopped after two steps."""

    def __init__(self, tmp_path, place, name, watched, splittable=False, second=False):
        self.job, self.inbox, self.name, self.watched = tmp_path / "job", f"{place}/inbox", name, watched
        self.splittable, self.second = splittable, second
        self.path = f"{self.inbox}/file.{name}"
        self.put(ALL[name][0])

    def put(self, data):
        storage_of(self.path).put(self.path, data)

    def stream(self, **settings):
        begin = FileSource.for_record_stream_format if self.name != "parquet" else FileSource.for_bulk_file_format
        builder = begin(ALL[self.name][1], self.inbox)
        builder.set_file_enumerator(FileEnumeratorProvider(self.splittable))
        if self.watched:
            builder.monitor_continuously(Duration.of_millis(1))
        env = environment(self.job, 1, penstock__step__records=60, **settings)
        source = builder.build()
        if self.second:
            source = HybridSource.builder(NumberSequenceSource(5000, 5009)).add_source(source).build()
        return env.from_source(source, NONE, "files").uid("files").map(number, Types.LONG())

    def run(self, steps, **settings):
        """The records of some steps; all that there are is no more than a hundred steps."""
        ends = {"penstock__step__available_now": "true"} if self.watched else {}
        return some(self.stream(**ends, **settings), steps)


def number(record):
    return record["n"] if isinstance(record, (dict, Row)) else int(record)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("watched", [False, True])
def test_the_rest_of_a_file_that_is_gone_or_cut_is_not_skipped(tmp_path, name, watched):
    job, data = Reading(tmp_path, str(tmp_path), name, watched), ALL[name][0]
    seen = job.run(8)
    assert 400 < len(seen) < 900
    storage_of(job.path).delete([job.path])
    with pytest.raises(ConfigurationError, match=r"/file\.\w+.* up to position"):
        job.run(100)
    for cut in (data[: len(data) // 4], data[:60], b""):
        job.put(cut)
        with pytest.raises(PenstockError) as refused:
            job.run(100)
        assert f"file.{name}" in str(refused.value)
    job.put(data)
    assert seen + job.run(100) == [row.n for row in RECORDS]


@pytest.mark.parametrize("name", ["text", "json", "avro", "parquet"])
@pytest.mark.parametrize("watched", [False, True])
def test_pieces_of_a_file_that_was_cut_are_not_skipped(tmp_path, name, watched, monkeypatch):
    monkeypatch.setattr(file_source, "SPLIT_BYTES", len(ALL[name][0]) // 3)
    job, data = Reading(tmp_path, str(tmp_path), name, watched, splittable=True), ALL[name][0]
    seen = job.run(3)
    assert 0 < len(seen) < 1000
    job.put(data[: len(data) // (2 if watched else 8)])  # a bounded source is asked anew how long its files are
    with pytest.raises(PenstockError, match=rf"file\.{name}"):
        job.run(100)
    job.put(data)
    rest = job.run(100)
    assert rest[-1] == 999
    if watched:  # else the run that fails comes as far as the cut
        assert sorted(seen + rest) == [row.n for row in RECORDS]


@pytest.mark.parametrize("name", ["text", "csv"])
@pytest.mark.parametrize("watched", [False, True])
def test_a_file_on_a_store_is_not_skipped_either(tmp_path, bucket, name, watched):
    job, data = Reading(tmp_path, bucket, name, watched), ALL[name][0]
    seen = job.run(8)
    storage_of(job.path).delete([job.path])
    if watched:  # else the folder is gone with its only file
        job.path = f"{job.inbox}/other"
        job.put(b"")
        job.path = f"{job.inbox}/file.{name}"
    with pytest.raises(ConfigurationError):
        job.run(100)
    job.put(data[:60])
    with pytest.raises(PenstockError, match=rf"file\.{name}"):
        job.run(100)
    job.put(data)
    assert (seen + job.run(100))[:1000] == [row.n for row in RECORDS]


@pytest.mark.parametrize("watched", [False, True])
def test_the_rest_is_left_behind_if_the_user_says_so(tmp_path, watched, caplog):
    job = Reading(tmp_path, str(tmp_path), "text", watched)
    seen = job.run(8)
    storage_of(job.path).delete([job.path])
    job.path = f"{job.inbox}/more"
    job.put(b"7000\n7001\n")
    assert job.run(100, execution__savepoint__ignore_unclaimed_state="true") == [7000, 7001]
    assert "leaves the rest of 1 splits behind" in caplog.text
    assert job.run(100) == []
    assert 400 < len(seen) < 900


@pytest.mark.parametrize("watched", [False, True])
def test_in_a_hybrid_source_it_is_the_same(tmp_path, watched):
    job = Reading(tmp_path, str(tmp_path), "text", watched, second=True)
    seen = job.run(8)
    storage_of(job.path).delete([job.path])
    with pytest.raises(ConfigurationError, match="up to position"):
        job.run(100)
    job.put(LINES)
    assert sorted(seen + job.run(100)) == sorted([*range(5000, 5010), *(row.n for row in RECORDS)])
