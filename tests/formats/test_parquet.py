"""Parquet files: read what others write, written for others to read, and back."""

from __future__ import annotations

import io
import math
from datetime import date, datetime, time
from decimal import Decimal

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given

from penstock.common import Configuration, Instant, Row, Types
from penstock.common.column_types import data_type_of
from penstock.common.data_types import DataTypes as D
from penstock.datastream.formats import ParquetBulkWriters, ParquetColumnarRowInputFormat
from penstock.errors import ConfigurationError, FileFormatError, JobExecutionError, UnsupportedError
from penstock.runtime.io import file_source
from penstock.runtime.io.splits import Split
from tests.formats.programs import files, read, write
from tests.formats.values import NESTED_TYPE, NESTED_VALUES

PAIRS = Types.ROW_NAMED(["word", "count"], [Types.STRING(), Types.INT()])
PAIR = D.ROW([D.FIELD("word", D.STRING()), D.FIELD("count", D.INT())])
RECORDS = [Row(word=str(number), count=number) for number in range(3_000)]


def written(row_type, records, **options):
    """The bytes of a file."""
    out = io.BytesIO()
    writer = ParquetBulkWriters.for_row_type(row_type, **options).create(out)
    if records:
        writer.add_all(records)
    writer.finish()
    return out.getvalue()


def rows(row_type, path, **options):
    batches = ParquetColumnarRowInputFormat(row_type, **options).read(Split(str(path)))
    return [row for records in batches for row in records.values]


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_files_go_round_and_others_read_them(tmp_path, parallelism):
    paths = write(tmp_path, ParquetBulkWriters.for_row_type(PAIR), RECORDS, PAIRS, parallelism)
    assert len(paths) == parallelism
    actual = read(ParquetColumnarRowInputFormat(PAIRS), tmp_path, parallelism=parallelism)
    assert sorted(actual, key=lambda row: row.count) == RECORDS
    expected = [(row.word, row.count) for row in RECORDS]
    by_duckdb = duckdb.sql(f"select word, count from read_parquet({list(map(str, paths))}) order by count")
    assert by_duckdb.fetchall() == expected
    by_pandas = pd.concat([pd.read_parquet(path) for path in paths]).sort_values("count")
    assert list(by_pandas.itertuples(index=False, name=None)) == expected


@given(NESTED_VALUES)
@example(Row.of_values([None] * len(NESTED_TYPE), tuple(NESTED_TYPE.names)))
def test_whatever_is_written_is_read(tmp_path_factory, record):
    path = tmp_path_factory.mktemp("parquet") / "file.parquet"
    for utc in (True, False):
        path.write_bytes(written(NESTED_TYPE, [record, record], utc_timestamp=utc))
        assert rows(NESTED_TYPE, path, is_utc_timestamp=utc) == [record, record]


def test_every_type_of_records_has_a_column(tmp_path):
    kinds = {
        "text": (Types.STRING(), "x"),
        "char": (Types.CHAR(), "c"),
        "byte": (Types.BYTE(), -1),
        "short": (Types.SHORT(), 2),
        "large": (Types.BIG_INT(), 10**37),
        "decimal": (Types.BIG_DEC(), Decimal("1.5")),
        "instant": (Types.INSTANT(), Instant(-1, 5_000)),
        "day": (Types.SQL_DATE(), date(2020, 2, 29)),
        "time": (Types.SQL_TIME(), time(1, 2, 3, 4)),
        "clock": (Types.SQL_TIMESTAMP(), datetime(2020, 1, 2, 3, 4, 5, 6)),
        "bytes": (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"ab"),
        "floats": (Types.PRIMITIVE_ARRAY(Types.FLOAT()), [1.5, 2.5]),
        "texts": (Types.BASIC_ARRAY(Types.STRING()), ["a", None]),
        "objects": (Types.OBJECT_ARRAY(Types.ROW([Types.INT()])), [Row(f0=1)]),
        "list": (Types.LIST(Types.LIST(Types.LONG())), [[1], [], None]),
        "map": (Types.MAP(Types.INT(), Types.INSTANT()), {1: Instant(0, 0)}),
        "tuple": (Types.TUPLE([Types.INT(), Types.STRING()]), (1, "a")),
    }
    row_type = Types.ROW_NAMED(list(kinds), [kind for kind, _ in kinds.values()])
    record = Row.of_values([value for _, value in kinds.values()], tuple(kinds))
    (tmp_path / "file").write_bytes(written(row_type, [record]))
    assert rows(row_type, tmp_path / "file") == [record]
    assert data_type_of(row_type).type_info.field_types[4] == Types.BIG_INT()


def test_tables_of_others_are_read(tmp_path):
    table = pa.table(
        {
            "small": pa.array([1, None], pa.int64()),
            "unsigned": pa.array([1, 2], pa.uint16()),
            "word": pa.array(["a", "b"]).dictionary_encode(),
            "nanos": pa.array([1, 10**9 + 1], pa.timestamp("ns")),
            "zoned": pa.array([datetime(2020, 1, 1)] * 2, pa.timestamp("ms", "Europe/Paris")),
            "halves": pa.array([0.5, math.inf], pa.float32()),
            "cents": pa.array([Decimal("1.50"), None], pa.decimal128(5, 2)),
            "unused": pa.array([[1], [2]], pa.list_(pa.int8())),
        }
    )
    pq.write_table(table, tmp_path / "file", use_deprecated_int96_timestamps=False)
    fields = {"cents": D.DECIMAL(10, 4), "small": D.INT(), "unsigned": D.SMALLINT(), "word": D.STRING()}
    fields |= {"nanos": D.TIMESTAMP(), "zoned": D.TIMESTAMP_LTZ(), "halves": D.DOUBLE()}
    actual = rows(D.ROW([D.FIELD(*field) for field in fields.items()]), tmp_path / "file")
    zoned = Instant(int(datetime.fromisoformat("2020-01-01T00:00:00+00:00").timestamp()), 0)
    assert [tuple(row) for row in actual] == [
        (Decimal("1.5"), 1, 1, "a", datetime(1970, 1, 1), zoned, 0.5),
        (None, None, 2, "b", datetime(1970, 1, 1, 0, 0, 1), zoned, math.inf),
    ]


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_file_is_cut_between_its_row_groups(tmp_path, parallelism, monkeypatch):
    table = pa.table({"n": list(range(4_000))})
    pq.write_table(table, tmp_path / "file", row_group_size=300)
    row_type = D.ROW([D.FIELD("n", D.BIGINT())])
    whole = ParquetColumnarRowInputFormat(row_type, batch_size=100)
    for size in (1_000, 1 << 30):
        monkeypatch.setattr(file_source, "SPLIT_BYTES", size)
        splits = whole.splits((str(tmp_path),), True)
        if size > 1:
            numbers = [[row.n for batch in whole.read(split) for row in batch.values] for split in splits]
            assert [number for batch in numbers for number in batch] == list(range(4_000))
            assert (len([of_split for of_split in numbers if of_split]) > 5) == (size < 4_000)
    monkeypatch.setattr(file_source, "SPLIT_BYTES", 2_000)
    assert sorted(row.n for row in read(whole, tmp_path, parallelism=parallelism)) == list(range(4_000))


def test_a_reader_goes_on_where_another_was_left(tmp_path):
    pq.write_table(pa.table({"n": list(range(1_000))}), tmp_path / "file", row_group_size=300)
    file_format = ParquetColumnarRowInputFormat(D.ROW([D.FIELD("n", D.BIGINT())]), batch_size=70)
    batches = list(file_format.read(Split(str(tmp_path / "file"))))
    assert batches[-1].position == [3, 100]
    for records in batches:
        left = file_format.read(Split(str(tmp_path / "file"), records.position))
        assert [row.n for batch in left for row in batch.values] == list(range(records.values[-1].n + 1, 1_000))


ONE = D.ROW([D.FIELD("n", D.INT())])


@pytest.mark.parametrize(
    ("table", "row_type", "message"),
    [
        ({"n": ["a"]}, ONE, r"file: the column 'n' cannot be read as INT: string in the file, INT declared"),
        ({"n": [1, 2**40]}, ONE, r"file, row group 0, rows 0 to 1: the value 1099511627776 in the column 'n'"),
        ({"n": [1.5]}, ONE, "double in the file"),
        ({"N": [1]}, ONE, r"has no column 'n': it has 'N'.*is_case_sensitive=False"),
        ({"other": [1]}, ONE, r"has none of the columns \['n'\]: it has \['other'\]"),
        ({"o": [1]}, D.ROW([D.FIELD("n", D.INT(nullable=False)), D.FIELD("o", D.INT())]), "declare it nullable"),
        ({"n": [1, None]}, D.ROW([D.FIELD("n", D.BIGINT(nullable=False))]), "'n' has no value in a record"),
        ({"n": [[1]]}, D.ROW([D.FIELD("n", D.ARRAY(D.STRING()))]), "ARRAY<STRING>: int64 in the file, STRING declared"),
        ({"n": [{"x": 1}]}, D.ROW([D.FIELD("n", D.ROW([D.FIELD("y", D.INT())]))]), "no field 'y'"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, table, row_type, message):
    pq.write_table(pa.table(table), tmp_path / "file")
    with pytest.raises(FileFormatError, match=message):
        rows(row_type, tmp_path / "file")


def test_a_column_that_is_not_there_is_none_and_logged(tmp_path, caplog):
    pq.write_table(pa.table({"word": ["a"]}), tmp_path / "file")
    assert rows(PAIR, tmp_path / "file") == [Row(word="a", count=None)]
    assert "file has no column 'count': it is None" in caplog.text


def test_names_in_any_case(tmp_path):
    pq.write_table(pa.table({"WORD": ["a"], "Count": [1]}), tmp_path / "file")
    assert rows(PAIR, tmp_path / "file", is_case_sensitive=False) == [Row(word="a", count=1)]


def test_extension_types_are_read_as_what_they_are_made_of(tmp_path):
    numbers = pa.array([b"0" * 16], pa.binary(16))
    table = pa.table({"id": pa.ExtensionArray.from_storage(pa.uuid(), numbers)})
    pq.write_table(table, tmp_path / "file")
    assert rows(D.ROW([D.FIELD("id", D.BYTES())]), tmp_path / "file") == [Row(id=b"0" * 16)]


def test_names_with_points(tmp_path):
    pq.write_table(pa.table({"a.b": [1], "a": [2]}), tmp_path / "file")
    assert rows(D.ROW([D.FIELD("a.b", D.INT())]), tmp_path / "file") == [Row.of_values([1], ("a.b",))]


@pytest.mark.parametrize("left", [0, 3, 10, -20, -1])
def test_a_file_that_is_not_whole_is_refused(tmp_path, left):
    (tmp_path / "file").write_bytes(written(PAIR, RECORDS)[:left])
    with pytest.raises(JobExecutionError, match=r"file is not a Parquet file, or it is damaged.*not complete"):
        read(ParquetColumnarRowInputFormat(PAIR), tmp_path)


def test_a_damaged_page_is_refused(tmp_path):
    data = bytearray(written(PAIR, RECORDS))
    data[20:400] = b"\xff" * 380
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(FileFormatError, match="damaged"):
        rows(PAIR, tmp_path / "file")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (("a", 2**31), "/part-.*: The value 2147483648 cannot be written into the column 'count' of type INT"),
        (("a", "b"), "The value 'b' .* it is a str, and the column takes int"),
        ((b"a", 1), "column 'word'"),
        (("a",), r"does not have the 2 fields \['word', 'count'\]"),
        ("ab", "does not have the 2 fields"),
        ({"word": "a", "total": 1}, r"has \['total'\]"),
    ],
)
def test_a_record_that_does_not_fit_fails_the_job(tmp_path, record, message):
    with pytest.raises(JobExecutionError, match=message):
        write(tmp_path, ParquetBulkWriters.for_row_type(PAIR), [("x", 1), record])
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (D.DECIMAL(3, 1), Decimal("1.25"), "1.25"),
        (D.DECIMAL(3, 1), Decimal("100"), "100"),
        (D.TIMESTAMP(), datetime.fromisoformat("2020-01-01T00:00:00+01:00"), "declare TIMESTAMP_LTZ"),
        (D.TIMESTAMP_LTZ(), datetime(2020, 1, 1), "an Instant, or a timezone-aware datetime"),
        (D.TIMESTAMP_LTZ(), Instant(0, 1), r"TIMESTAMP_LTZ\(9\)"),
        (D.DATE(), datetime(2020, 1, 1), "it is a datetime"),
        (D.BOOLEAN(), 1, "it is a int"),
        (D.BIGINT(), True, "it is a bool"),
        (D.ARRAY(D.INT()), [1, 1.5], "it is a float"),
        (D.MAP(D.STRING(), D.INT()), {"a": "b"}, "it is a str"),
        (D.ROW([D.FIELD("x", D.INT())]), (1, 2), "does not have the 1 fields"),
        (D.INT(nullable=False), None, "cannot hold None"),
    ],
)
def test_nothing_is_cut_off(kind, value, message):
    with pytest.raises(FileFormatError, match=message):
        written(D.ROW([D.FIELD("n", kind)]), [(value,)])


def test_moments_as_datetimes_and_nanoseconds(tmp_path):
    kind = D.ROW([D.FIELD("n", D.TIMESTAMP_LTZ(9))])
    noon = datetime.fromisoformat("2020-01-01T12:00:00+02:00")
    (tmp_path / "file").write_bytes(written(kind, [(noon,), (Instant(5, 7),)]))
    assert [row.n for row in rows(kind, tmp_path / "file")] == [Instant(int(noon.timestamp()), 0), Instant(5, 7)]


def test_settings_of_hadoop():
    def config(**values):
        configuration = Configuration()
        for key, value in values.items():
            configuration.set_string(key.replace("_", "."), value)
        return configuration

    data = written(PAIR, RECORDS, hadoop_config=config(parquet_compression="gzip", parquet_enable_dictionary="false"))
    column = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    assert (column.compression, column.has_dictionary_page) == ("GZIP", False)
    assert pq.ParquetFile(io.BytesIO(written(PAIR, RECORDS))).metadata.row_group(0).column(0).compression == "SNAPPY"
    with pytest.raises(UnsupportedError, match=r"'fs.x', which means nothing here.*Known are \['parquet.block.size'"):
        ParquetBulkWriters.for_row_type(PAIR, config(fs_x="1"))
    with pytest.raises(UnsupportedError, match="which means nothing here"):
        ParquetColumnarRowInputFormat(PAIR, config(parquet_compression="gzip"))
    with pytest.raises(ConfigurationError, match=r"'fast'\. Give snappy, gzip"):
        ParquetBulkWriters.for_row_type(PAIR, config(parquet_compression="fast"))


def test_row_groups_are_as_large_as_they_are_said_to_be():
    small = Configuration().set_string("parquet.block.size", "1")
    out = io.BytesIO()
    writer = ParquetBulkWriters.for_row_type(PAIR, small).create(out)
    for record in RECORDS[:3]:
        writer.add_element(record)
    writer.finish()
    assert pq.ParquetFile(out).num_row_groups == 3
