"""CSV files: read and written as the real PyFlink does, and what it does not say."""

from __future__ import annotations

import csv
import gzip
import io
import json
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.common import Row, Types
from penstock.common.data_types import DataTypes
from penstock.connectors.formats import csv as runtime
from penstock.connectors.formats.csv import CsvRows
from penstock.datastream.formats import CsvBulkWriters, CsvReaderFormat, CsvSchema
from penstock.errors import FileFormatError, JobExecutionError, UnsupportedError
from penstock.runtime.io.splits import Split
from tests.formats.csv_cases import READ, WRITE, two
from tests.formats.programs import files, read, write
from tests.formats.record_csv import FILE
from tests.formats.values import ROW_TYPE, VALUES

FLINK = json.loads(FILE.read_text())
DELIBERATE = {"decimal too large"}
"""Where Flink gives None without a word."""


def schema(build=two):
    return build(CsvSchema.builder(), DataTypes).build()


def rows(described, text, tmp_path):
    path = tmp_path / "file.csv"
    path.write_text(text, newline="")
    batches = CsvReaderFormat.for_schema(described).read(Split(str(path)))
    return [row for records in batches for row in records.values]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (DataTypes.FLOAT(), "1e300", float("inf")),
        (DataTypes.DOUBLE(), " 0x1p-2 ", 0.25),
        (DataTypes.DATE(), " 2026-11-22", date(2026, 11, 22)),
        (DataTypes.BYTES(), "AA E=", b"\0\1"),
    ],
)
def test_texts_are_read_by_the_rules_of_java(kind, text, value, tmp_path):
    described = CsvSchema.builder().add_column("x", kind).build()
    assert [row.x for row in rows(described, f"{text}\n", tmp_path)] == [value]


@pytest.mark.parametrize("text", ["20261122", "2026-W47-7", "2026-11-31"])
def test_a_day_has_one_form(text, tmp_path):
    described = CsvSchema.builder().add_column("x", DataTypes.DATE()).build()
    with pytest.raises(FileFormatError, match=r"file\.csv, line 1: .* cannot be read as DATE: it is not a da"):
        rows(described, f"{text}\n", tmp_path)


@pytest.mark.parametrize("name", READ)
def test_a_file_is_read_as_flink_reads_it(name, tmp_path):
    build, text = READ[name]
    theirs = FLINK["read"][name]
    if isinstance(theirs, dict) or name in DELIBERATE:
        with pytest.raises(FileFormatError, match=r"file\.csv, line \d"):
            rows(schema(build), text, tmp_path)
    else:
        assert [repr(row) for row in rows(schema(build), text, tmp_path)] == theirs


@pytest.mark.parametrize("name", WRITE)
def test_a_file_is_written_as_flink_writes_it(name, tmp_path):
    build, records = WRITE[name]
    [path] = write(tmp_path, CsvBulkWriters.for_schema(schema(build)), records)
    assert path.read_bytes().decode() == FLINK["write"][name]


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_files_go_round(tmp_path, parallelism):
    records = [(str(number), f"{number},\n{number}") for number in range(1_200)]
    written = write(tmp_path, CsvBulkWriters.for_schema(schema()), records, parallelism=parallelism)
    assert len(written) == parallelism
    for splittable in (None, True):
        actual = read(CsvReaderFormat.for_schema(schema()), tmp_path, parallelism=parallelism, splittable=splittable)
        assert sorted(actual, key=lambda row: int(row.a)) == [Row(a=a, c=c) for a, c in records]
    lines = [line for path in written for line in csv.reader(path.open(newline=""))]
    assert sorted(map(tuple, lines)) == sorted(records)


def test_folders_patterns_and_compressed_files(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.csv").write_text("a,1\n")
    (tmp_path / "deep" / "b.csv.gz").write_bytes(gzip.compress(b"b,2\n"))
    (tmp_path / "_c.csv").write_text("no")
    file_format = CsvReaderFormat.for_schema(schema())
    assert sorted(read(file_format, tmp_path, parallelism=2), key=str) == [Row(a="a", c="1"), Row(a="b", c="2")]
    assert read(file_format, tmp_path / "**" / "*.gz") == [Row(a="b", c="2")]


def test_a_reader_goes_on_where_another_was_left(tmp_path, monkeypatch):
    monkeypatch.setattr(runtime, "_BATCH", 2)
    path = tmp_path / "file.csv"
    path.write_text('a,1\n"b" ,2\nc,3\nd,4\ne,5\n')
    file_format = CsvReaderFormat.for_schema(schema())
    batches = list(file_format.read(Split(str(path))))
    assert [records.position for records in batches] == [2, 4, 5]
    for index, records in enumerate(batches):
        left = file_format.read(Split(str(path), records.position))
        assert [row for batch in left for row in batch.values] == [
            r for batch in batches[index + 1 :] for r in batch.values
        ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,1\n" * 2_500 + "b\n", r"file\.csv, line 2501: 1 columns \['b'\], and the schema has 2: \['a', 'c'\]"),
        ('"x\ny",1\n"z\n",1,2\n', r"line 4: 3 columns"),
        ('"a" ,b\n\n', r"line 2: 1 columns"),
        ('a,b\n"c,d\n', r"line \d.*it has no closing \" of a field. Check the quotes and escapes"),
    ],
)
def test_a_broken_file_is_named_with_the_line(tmp_path, text, message):
    with pytest.raises(FileFormatError, match=message):
        rows(schema(), text, tmp_path)


def test_a_bad_value_is_named_with_line_and_column(tmp_path):
    described = CsvSchema.builder().add_string_column("a").add_number_column("n", DataTypes.INT()).build()
    with pytest.raises(FileFormatError, match=r"line 3001: 'x' in the column 'n' cannot be read as INT: it is no"):
        rows(described, "a,1\n" * 3_000 + "a,x\n", tmp_path)
    with pytest.raises(FileFormatError, match=r"'' in the column 'n'.*set_null_value\(''\)"):
        rows(described, "a,\n", tmp_path)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "file.csv").write_bytes(b"a,\xff\n")
    with pytest.raises(FileFormatError, match=r"file\.csv.*not valid UTF-8"):
        list(CsvReaderFormat.for_schema(schema()).read(Split(str(tmp_path / "file.csv"))))


@pytest.mark.parametrize(
    ("build", "record", "message"),
    [
        (lambda b, d: two(b).disable_quote_char(), ("a,b", ""), "'a,b'.*'a' of type STRING.*no quotes"),
        (two, ("a", 1), "The value 1 cannot be written into the column 'c'.*it is a int"),
        (
            lambda b, d: b.add_number_column("n", DataTypes.INT()),
            (2**31,),
            "The value 2147483648 cannot be written into the column 'n' of type INT.*does not fit into 32 bits",
        ),
        (two, ("a",), "does not have the 2 fields"),
        (two, {"a": "x", "z": 1}, r"has \['z'\], and there are no such columns"),
        (lambda b, d: b.add_array_column("l"), (["a;b"],), "';', which separates elements"),
        (
            lambda b, d: b.add_array_column("l", "").disable_array_element_separator(),
            (["a", "b"],),
            "there is no separator",
        ),
    ],
)
def test_what_nobody_could_read_is_not_written(tmp_path, build, record, message):
    with pytest.raises(JobExecutionError, match=message):
        write(tmp_path, CsvBulkWriters.for_schema(schema(build)), [record])
    assert files(tmp_path) == []


def test_rows_and_dicts_are_written_by_name(tmp_path):
    records = [Row(c="2", a="1"), {"c": "4", "a": "3"}, Row("5", "6"), ["7", "8"], {"a": "9"}]
    [path] = write(tmp_path, CsvBulkWriters.for_schema(schema()), records)
    assert path.read_text() == "1,2\n3,4\n5,6\n7,8\n9,\n"


def test_a_job_without_records_makes_no_file(tmp_path):
    assert write(tmp_path, CsvBulkWriters.for_schema(schema()), []) == []


def typed():
    builder = CsvSchema.builder().set_null_value("∅")
    for field in ROW_TYPE:
        builder.add_column(field.name, field.data_type)
    return builder.build()


@given(st.lists(VALUES, max_size=5))
@example([Row.of_values([None] * len(ROW_TYPE), tuple(ROW_TYPE.names))])
def test_whatever_is_written_is_read(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("csv") / "file.csv"
    factory = CsvBulkWriters.for_schema(typed())
    with path.open("wb") as file:
        writer = factory.create(file)
        writer.add_all(records) if records else None
        writer.finish()
    batches = CsvReaderFormat.for_schema(typed()).read(Split(str(path)))
    assert [row for batch in batches for row in batch.values] == records


@given(st.text(alphabet=',"\n\r ab#', max_size=20), st.booleans())
def test_the_slow_reader_reads_what_the_quick_one_reads(text, comments):
    described = CsvSchema(comments=comments)

    def rows_read(slow):
        return list(CsvRows(io.BytesIO(text.encode()), "file", described, slow=slow))

    try:
        quick = rows_read(False)
    except csv.Error:
        return
    assert rows_read(True) == quick


def test_columns_that_no_text_can_show_are_refused():
    for wanted in (Types.MAP(Types.STRING(), Types.INT()), Types.LIST(Types.LIST(Types.INT()))):
        with pytest.raises(UnsupportedError, match="which a column of text cannot show"):
            CsvSchema.builder().add_column("m", wanted)


def test_the_schema_says_how_many_columns_it_has():
    builder = two(CsvSchema.builder())
    assert (len(builder), builder.size(), len(builder.build()), builder.build().size()) == (2, 2, 2, 2)
    assert len(builder.clear_columns()) == 0
    file_format = CsvReaderFormat.for_schema(schema())
    assert file_format.produced_type == Types.ROW_NAMED(["a", "c"], [Types.STRING(), Types.STRING()])
