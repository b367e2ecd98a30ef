"""Avro files, and Parquet files of Avro records: read what others write, written for others to read, and back."""

from __future__ import annotations

import io
import json
import sys
from datetime import date, datetime, time, timezone
from decimal import Decimal
from uuid import UUID

import duckdb
import fastavro
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Instant, Row, Types
from penstock.datastream.connectors import FileSource
from penstock.datastream.formats import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroParquetReaders,
    AvroParquetWriters,
    AvroReaderFormat,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from penstock.errors import (
    ConfigurationError,
    FileFormatError,
    InvalidProgramError,
    JobExecutionError,
    UnsupportedError,
)
from penstock.runtime.io import file_source
from penstock.runtime.io.splits import Split
from tests.formats.programs import files, read, sink, write
from tests.formats.values import TEXTS
from tests.running import collected, environment

PAIR = AvroSchema.parse_string(
    '{"type": "record", "name": "Pair", "fields": [{"name": "word", "type": "string"}, {"name": "n", "type": "int"}]}'
)
RECORDS = [{"word": f"w{number}", "n": number} for number in range(3_000)]


def record_of(**fields):
    return AvroSchema.parse_string(
        json.dumps(
            {"type": "record", "name": "R", "fields": [{"name": name, "type": kind} for name, kind in fields.items()]}
        )
    )


def logical(kind, name, **more):
    return {"type": kind, "logicalType": name, **more}


ALL = record_of(
    text="string",
    flag="boolean",
    n="int",
    large="long",
    single="float",
    double="double",
    raw="bytes",
    color={"type": "enum", "name": "Color", "symbols": ["RED", "BLUE"]},
    two={"type": "fixed", "name": "Two", "size": 2},
    maybe=["null", "int"],
    list={"type": "array", "items": ["null", "string"]},
    map={"type": "map", "values": "long"},
    inner={"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "int"}]},
    day=logical("int", "date"),
    hour=logical("long", "time-micros"),
    moment=logical("long", "timestamp-micros"),
    money=logical("bytes", "decimal", precision=10, scale=2),
)
RECORD = {
    "text": "é",
    "flag": True,
    "n": -1,
    "large": 2**40,
    "single": 1.5,
    "double": 2.5,
    "raw": b"\0",
    "color": "BLUE",
    "two": b"ab",
    "maybe": None,
    "list": ["a", None],
    "map": {"k": 1},
    "inner": {"x": 1},
    "day": date(2020, 1, 1),
    "hour": time(1, 2, 3, 4),
    "moment": datetime(2020, 1, 1, 1, 2, 3, 4, timezone.utc),
    "money": Decimal("1.50"),
}


def written(schema, records, path):
    with path.open("wb") as file:
        fastavro.writer(file, json.loads(str(schema)), records, codec="deflate", sync_interval=200)


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_files_go_round_and_others_read_them(tmp_path, parallelism):
    paths = write(tmp_path, AvroBulkWriters.for_generic_record(PAIR), RECORDS, parallelism=parallelism)
    assert len(paths) == parallelism
    theirs = [record for path in paths for record in fastavro.reader(path.open("rb"))]
    assert sorted(theirs, key=lambda record: record["n"]) == RECORDS
    actual = read(AvroReaderFormat.for_generic_record(PAIR), tmp_path, parallelism=parallelism)
    assert sorted(actual, key=lambda record: record["n"]) == RECORDS


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_file_is_cut_between_its_blocks(tmp_path, parallelism, monkeypatch):
    written(PAIR, RECORDS, tmp_path / "file")
    file_format = AvroReaderFormat.for_generic_record(PAIR)
    for size in (100, 333, 5_000, 1 << 30):
        monkeypatch.setattr(file_source, "SPLIT_BYTES", size)
        splits = file_format.splits((str(tmp_path),), True)
        assert [record for split in splits for batch in file_format.read(split) for record in batch.values] == RECORDS
    monkeypatch.setattr(file_source, "SPLIT_BYTES", 5_000)
    actual = read(file_format, tmp_path, parallelism=parallelism, splittable=True)
    assert sorted(actual, key=lambda record: record["n"]) == RECORDS


def test_a_reader_goes_on_where_another_was_left(tmp_path, monkeypatch):
    monkeypatch.setattr("penstock.connectors.formats.avro._DECODED", 1_000)
    written(PAIR, RECORDS, tmp_path / "file")
    file_format = AvroReaderFormat.for_generic_record(PAIR)
    actual = list(file_format.read(Split(str(tmp_path / "file"))))
    assert len(actual) > 5
    for records in actual:
        left = file_format.read(Split(str(tmp_path / "file"), records.position))
        assert [batch["n"] for some in left for batch in some.values] == list(range(records.values[-1]["n"] + 1, 3_000))


@pytest.mark.parametrize("parallelism", [1, 2])
def test_create_input_is_planned_as_flink_does_and_runs(tmp_path, parallelism):
    written(PAIR, RECORDS, tmp_path / "a.avro")
    written(PAIR, RECORDS[:5], tmp_path / "b.avro")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "c.avro").write_text("not entered")
    env = environment(parallelism)
    stream = env.create_input(AvroInputFormat(str(tmp_path), PAIR))
    assert stream.get_type() == GenericRecordAvroTypeInfo(PAIR)
    counts = stream.map(lambda record: record["n"])
    names = [node.name for node in env.get_stream_graph().nodes]
    assert names[:2] == ["Source: Custom File source", "Split Reader: Custom File source"]
    assert sorted(collected(counts)) == sorted([*range(3_000), *range(5)])


def test_every_type(tmp_path):
    [path] = write(tmp_path / "avro", AvroBulkWriters.for_generic_record(ALL), [RECORD])
    assert list(fastavro.reader(path.open("rb"))) == [RECORD]
    assert read(AvroReaderFormat.for_generic_record(ALL), tmp_path / "avro") == [RECORD]
    [path] = write(tmp_path / "parquet", AvroParquetWriters.for_generic_record(ALL), [RECORD])
    assert pq.read_table(path).column("color").to_pylist() == ["BLUE"]
    assert duckdb.sql(f"select struct_extract(\"inner\", 'x'), money from read_parquet('{path}')").fetchall() == [
        (1, Decimal("1.50"))
    ]
    assert read(AvroParquetReaders.for_generic_record(ALL), tmp_path / "parquet") == [RECORD]


def test_records_as_rows_and_moments_as_instants(tmp_path):
    schema = record_of(
        inner={"type": "record", "name": "I", "fields": [{"name": "x", "type": "int"}]},
        at=logical("long", "timestamp-micros"),
    )
    rows = [Row(inner=Row(x=1), at=Instant(1, 5_000)), ({"x": 2}, Instant(-1, 0))]
    expected = [
        {"inner": {"x": 1}, "at": datetime(1970, 1, 1, 0, 0, 1, 5, timezone.utc)},
        {"inner": {"x": 2}, "at": datetime(1969, 12, 31, 23, 59, 59, tzinfo=timezone.utc)},
    ]
    for name, factory in (("a", AvroBulkWriters), ("p", AvroParquetWriters)):
        write(tmp_path / name, factory.for_generic_record(schema), rows)
    assert read(AvroReaderFormat.for_generic_record(schema), tmp_path / "a") == expected
    assert read(AvroParquetReaders.for_generic_record(schema), tmp_path / "p") == expected


@pytest.mark.parametrize("parallelism", [1, 2])
def test_the_type_of_a_stream_may_be_declared(tmp_path, parallelism):
    """The example of PyFlink's documentation."""
    env = environment(parallelism)
    stream = env.from_collection([{"array": [1, 2]}], type_info=Types.PICKLED_BYTE_ARRAY()).rebalance()
    schema = record_of(array={"type": "array", "items": "int"})
    declared = stream.map(lambda e: e, output_type=GenericRecordAvroTypeInfo(schema)).rebalance()
    declared.sink_to(sink(tmp_path, AvroBulkWriters.for_generic_record(schema)))
    env.execute()
    assert read(AvroReaderFormat.for_generic_record(schema), tmp_path) == [{"array": [1, 2]}]


def test_a_file_of_another_schema(tmp_path):
    written(PAIR, RECORDS[:1], tmp_path / "file")
    later = AvroSchema.parse_string(
        '{"type": "record", "name": "Pair", "fields": [{"name": "n", "type": "long"}, {"name": "more", "type": '
        '["null", "string"], "default": null}]}'
    )
    assert read(AvroReaderFormat.for_generic_record(later), tmp_path) == [{"n": 0, "more": None}]


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "a": TEXTS,
                "b": st.none() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
                "c": st.lists(st.dictionaries(TEXTS, st.floats(allow_nan=False), max_size=2), max_size=2),
            }
        ),
        max_size=3,
    )
)
def test_whatever_is_written_is_read(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("avro") / "file"
    maps = {"type": "array", "items": {"type": "map", "values": "double"}}
    schema = record_of(a="string", b=["null", "long", "string"], c=maps)
    with path.open("wb") as file:
        writer = AvroBulkWriters.for_generic_record(schema).create(file)
        writer.add_all(records)
        writer.finish()
    batches = AvroReaderFormat.for_generic_record(schema).read(Split(str(path)))
    assert [record for batch in batches for record in batch.values] == records


@pytest.mark.parametrize("left", [0, 3, 50, 200, 1_001, -1, -17, -100])
def test_a_file_that_is_not_whole_is_refused(tmp_path, left):
    out = io.BytesIO()
    fastavro.writer(out, json.loads(str(PAIR)), RECORDS, sync_interval=1 << 20)
    (tmp_path / "file").write_bytes(out.getvalue()[:left])
    with pytest.raises(JobExecutionError, match=r"file is not an Avro file, or it is damaged.*not complete"):
        read(AvroReaderFormat.for_generic_record(PAIR), tmp_path)


def test_damaged_blocks_are_refused(tmp_path):
    written(PAIR, RECORDS, tmp_path / "file")
    data = bytearray((tmp_path / "file").read_bytes())
    for first, last in ((-16, -1), (400, 410)):
        damaged = bytearray(data)
        damaged[first:last] = b"\xff" * (last - first)
        (tmp_path / "file").write_bytes(damaged)
        with pytest.raises(FileFormatError, match=r"/file"):
            list(AvroReaderFormat.for_generic_record(PAIR).read(Split(str(tmp_path / "file"))))


def test_a_schema_that_the_file_does_not_lead_to(tmp_path):
    written(PAIR, RECORDS, tmp_path / "file")
    other = record_of(word="int")
    with pytest.raises(FileFormatError, match=r"file, before byte \d+: the records do not lead to the schema"):
        list(AvroReaderFormat.for_generic_record(other).read(Split(str(tmp_path / "file"))))


@pytest.mark.parametrize("factory", [AvroBulkWriters, AvroParquetWriters])
@pytest.mark.parametrize(
    "record", [{"word": "a", "n": 2**40}, {"word": 1, "n": 1}, {"word": "a"}, {"word": "a", "n": 1, "z": 1}, ("a",)]
)
def test_a_record_that_does_not_fit_fails_the_job(tmp_path, factory, record):
    with pytest.raises(JobExecutionError, match=r"/part-.*: The (record|value|column) "):
        write(tmp_path, factory.for_generic_record(PAIR), [RECORDS[0], record])
    assert files(tmp_path) == []


def test_types_that_no_column_of_parquet_has():
    with pytest.raises(UnsupportedError, match="has not one type beside null"):
        AvroParquetReaders.for_generic_record(record_of(x=["int", "string"]))
    tree = record_of(x={"type": "record", "name": "T", "fields": [{"name": "child", "type": ["null", "T"]}]})
    with pytest.raises(UnsupportedError, match="'T' stands inside itself"):
        AvroParquetWriters.for_generic_record(tree)


def test_schemas(tmp_path):
    (tmp_path / "pair.avsc").write_text(str(PAIR))
    assert AvroSchema.parse_file(str(tmp_path / "pair.avsc")) == PAIR
    with pytest.raises(InvalidProgramError, match="cannot be read"):
        AvroSchema.parse_file(str(tmp_path / "nothing"))
    with pytest.raises(InvalidProgramError, match=r"not an Avro schema.*Give a schema in JSON"):
        AvroSchema.parse_string("{}")
    with pytest.raises(InvalidProgramError, match="not that of a record"):
        AvroReaderFormat.for_generic_record(AvroSchema.parse_string('"string"'))
    with pytest.raises(InvalidProgramError, match="create_input"):
        FileSource.for_record_stream_format(AvroInputFormat("in", PAIR), "in")


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastavro", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'penstock\[avro\]'"):
        AvroSchema.parse_string("{}")


def test_a_uuid_and_named_types_that_are_used_twice(tmp_path):
    text = json.loads(
        str(record_of(a={"type": "enum", "name": "E", "symbols": ["X"]}, b="E", c=logical("string", "uuid")))
    )
    schema = AvroSchema.parse_string(json.dumps(text))
    record = {"a": "X", "b": "X", "c": UUID(int=1)}
    write(tmp_path, AvroBulkWriters.for_generic_record(schema), [record])
    assert read(AvroReaderFormat.for_generic_record(schema), tmp_path) == [record]


@pytest.mark.parametrize(
    ("writers", "readers"), [(AvroBulkWriters, AvroReaderFormat), (AvroParquetWriters, AvroParquetReaders)]
)
def test_fields_may_be_called_as_what_a_row_has(tmp_path, writers, readers):
    schema = AvroSchema.parse_string(str(record_of(field_names="string", values="long")))
    write(tmp_path, writers.for_generic_record(schema), [Row(values=1, field_names="x")])
    assert read(readers.for_generic_record(schema), tmp_path) == [{"field_names": "x", "values": 1}]
