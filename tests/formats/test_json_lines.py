"""JSON lines: there and back, in pieces, and what does not fit."""

from __future__ import annotations

import gzip
import io
import json
from decimal import Decimal

import duckdb
import pytest
from hypothesis import example, given

from penstock.common import Row, Types
from penstock.common.data_types import DataTypes as D
from penstock.datastream.connectors import FileSink, StreamFormat
from penstock.datastream.formats import CsvReaderFormat, CsvSchema, JsonLinesEncoder, JsonReaderFormat
from penstock.errors import FileFormatError, JobExecutionError
from penstock.runtime.io import file_source
from penstock.runtime.io.splits import Split
from tests.formats.programs import BASE, files, read
from tests.formats.values import NESTED_TYPE, NESTED_VALUES
from tests.running import environment

PAIR = Types.ROW_NAMED(["word", "total"], [Types.STRING(), Types.INT()])


def rows(row_type, path, text):
    path.write_text(text)
    batches = JsonReaderFormat.for_row_type(row_type).read(Split(str(path)))
    return [row for records in batches for row in records.values]


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_files_go_round_and_others_read_them(tmp_path, parallelism, monkeypatch):
    env = environment(parallelism)
    sink = FileSink.for_row_format(str(tmp_path / "out"), JsonLinesEncoder.for_row_type(PAIR))
    records = [Row(word=f"é {number}\n", total=number) for number in range(2_000)]
    env.from_collection(records, PAIR).rebalance().sink_to(sink.with_bucket_assigner(BASE).build())
    env.execute()
    paths = list(map(str, files(tmp_path / "out")))
    actual = duckdb.sql(f"select word, total from read_json({paths}, format='newline_delimited') order by total")
    assert actual.fetchall() == [tuple(row) for row in records]
    monkeypatch.setattr(file_source, "SPLIT_BYTES", 1_000)
    for cut in (False, True):
        actual = read(JsonReaderFormat.for_row_type(PAIR), tmp_path, parallelism=parallelism, splittable=cut)
        assert sorted(actual, key=lambda row: row.total) == records


@given(NESTED_VALUES)
@example(Row.of_values([None] * len(NESTED_TYPE), tuple(NESTED_TYPE.names)))
def test_whatever_is_written_is_read(tmp_path_factory, record):
    path = tmp_path_factory.mktemp("json") / "file"
    out = io.BytesIO()
    JsonLinesEncoder.for_row_type(NESTED_TYPE).encode(record, out)
    assert isinstance(json.loads(out.getvalue()), dict)
    assert rows(NESTED_TYPE, path, out.getvalue().decode()) == [record]


def test_objects_of_others(tmp_path):
    kind = D.ROW([D.FIELD("d", D.DECIMAL(10, 2)), D.FIELD("f", D.FLOAT()), D.FIELD("m", D.MAP(D.INT(), D.STRING()))])
    text = '{"d": 0.10, "f": 1, "more": []}\n\n  \n{"m": {"1": "a"}, "d": "2.5"}'
    assert rows(kind, tmp_path / "file", text) == [
        Row(d=Decimal("0.10"), f=1.0, m=None),
        Row(d=Decimal("2.50"), f=None, m={1: "a"}),
    ]


def test_compressed_files(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"word": "a", "total": 1}\n'))
    assert read(JsonReaderFormat.for_row_type(PAIR), tmp_path) == [Row(word="a", total=1)]


def test_a_compressed_file_that_is_not_whole_is_named(tmp_path):
    data = gzip.compress(b'{"word": "a", "total": 1}\n' * 1_000)
    (tmp_path / "a.gz").write_bytes(data[:-20])
    csv = CsvSchema.builder().add_string_column("a").set_any_property_name("rest").build()
    for file_format in (
        JsonReaderFormat.for_row_type(PAIR),
        CsvReaderFormat.for_schema(csv),
        StreamFormat.text_line_format(),
    ):
        with pytest.raises(JobExecutionError, match=r"/a\.gz cannot be read as the compressed file.*to its end"):
            read(file_format, tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"word": "a', "file, line 3: .* is not JSON.*not been written to its end"),
        ("[1]", r"line 3: \[1\] in the field '' cannot be read as ROW.*it is a list, not a dict"),
        ('{"total": "1"}', "'1' in the field 'total' cannot be read as INT: it is a str, not a int"),
        ('{"total": 1.5}', "1.5 in the field 'total'"),
        ('{"total": true}', "it is a bool"),
        ('{"total": 4294967296}', "does not fit into 32 bits"),
        ('{"word": 1}', "1 in the field 'word' cannot be read as STRING"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, message):
    with pytest.raises(FileFormatError, match=message):
        rows(PAIR, tmp_path / "file", f'{{"word": "a", "total": 1}}\n\n{line}\n')


def test_a_field_that_must_be_there(tmp_path):
    kind = D.ROW([D.FIELD("r", D.ROW([D.FIELD("n", D.INT(nullable=False))]))])
    with pytest.raises(FileFormatError, match=r"None in the field 'r\.n'.*declare the type nullable"):
        rows(kind, tmp_path / "file", '{"r": {}}')


def test_a_value_that_does_not_fit_fails_the_job(tmp_path):
    env = environment()
    sink = FileSink.for_row_format(str(tmp_path), JsonLinesEncoder.for_row_type(PAIR)).build()
    env.from_collection([("a", "b")]).sink_to(sink)
    with pytest.raises(
        JobExecutionError, match=r"'b' cannot be written into the field 'total' of type INT: it is a str"
    ):
        env.execute()
    assert files(tmp_path) == []
