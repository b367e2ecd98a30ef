"""Arrays in columns of Arrow, as Parquet and DataFrames have them, are native columns with the same values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Configuration, Row, WatermarkStrategy
from penstock.common.data_types import DataTypes as D
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSink, FileSource
from penstock.datastream.formats import ParquetBulkWriters, ParquetColumnarRowInputFormat
from penstock.errors import FileFormatError
from penstock.runtime import native
from penstock.runtime.columns.arrow import ArrowRecords, BatchReader, BatchWriter, why_converted

FUNCTIONS: Any = native.functions()
pytestmark = pytest.mark.skipif(FUNCTIONS is None, reason="there is no native module")

TYPE = D.ROW(
    [
        D.FIELD("ints", D.ARRAY(D.INT())),
        D.FIELD("texts", D.ARRAY(D.STRING())),
        D.FIELD("doubles", D.ARRAY(D.DOUBLE())),
        D.FIELD("nested", D.ARRAY(D.ARRAY(D.BIGINT()))),
        D.FIELD("flags", D.ARRAY(D.BOOLEAN())),
        D.FIELD("singles", D.ARRAY(D.FLOAT())),
    ]
)
WRITTEN = D.ROW(list(TYPE.fields[:5]))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


def lists(items: st.SearchStrategy[Any], size: int = 3) -> st.SearchStrategy[Any]:
    return st.none() | st.lists(st.none() | items, max_size=size)


FIELDS = (
    lists(st.integers(-(2**31), 2**31 - 1)),
    lists(TEXT),
    lists(st.floats()),
    lists(lists(st.integers(-(2**63), 2**63 - 1), 2)),
    lists(st.booleans()),
    lists(st.floats(width=32)),
)
ROWS = st.lists(st.tuples(*FIELDS), min_size=1, max_size=5)


def batch_of(rows: list[Any]) -> pa.RecordBatch:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return pa.record_batch([pa.array(c, k) for c, k in zip(columns, SCHEMA.types, strict=True)], schema=SCHEMA)


SCHEMA = pa.schema(
    [
        ("ints", pa.list_(pa.int32())),
        ("texts", pa.list_(pa.string())),
        ("doubles", pa.list_(pa.float64())),
        ("nested", pa.list_(pa.list_(pa.int64()))),
        ("flags", pa.list_(pa.bool_())),
        ("singles", pa.list_(pa.float32())),
    ]
)


@given(ROWS, st.data())
def test_arrays_of_a_file_are_native_columns(rows: list[Any], data: Any) -> None:
    whole = batch_of(rows)
    start = data.draw(st.integers(0, len(rows) - 1))
    for batch in (whole, whole.slice(start), whole.slice(start, 1)):
        records = BatchReader(SCHEMA, TYPE, "a file").records(batch, "here")
        assert isinstance(records, ArrowRecords)
        columns = records.columns(FUNCTIONS)
        assert list(map(repr, columns.objects())) == list(map(repr, records.objects))
        parts = [columns[at] for at in range(len(columns))]
        assert list(map(repr, parts)) == list(map(repr, records.objects))


@given(ROWS)
def test_texts_with_long_offsets_become_short_ones(rows: list[Any]) -> None:
    for kind in (pa.large_string(), pa.string_view()):
        column = pa.array([row[1] for row in rows], pa.list_(kind))
        batch = pa.record_batch([column], ["texts"])
        row_type = D.ROW([TYPE.fields[1]])
        records: Any = BatchReader(batch.schema, row_type, "a file").records(batch, "here")
        expected = [Row(texts=row[1]) for row in rows]
        assert list(map(repr, records)) == list(map(repr, expected))
        if isinstance(records, ArrowRecords):
            assert list(map(repr, records.columns(FUNCTIONS).objects())) == list(map(repr, expected))


def test_texts_in_lists_that_are_not_utf_8_stay_in_python() -> None:
    ends = pa.array([0, 1], pa.int32())
    broken = pa.Array.from_buffers(pa.string(), 1, [None, ends.buffers()[1], pa.py_buffer(b"\xff")])
    column = pa.ListArray.from_arrays(ends, broken)
    batch = pa.record_batch([column], ["texts"])
    with pytest.raises(FileFormatError, match="texts"):
        BatchReader(batch.schema, D.ROW([TYPE.fields[1]]), "a file").records(batch, "here")


@given(ROWS)
def test_native_lists_are_the_arrays_of_a_file(rows: list[Any]) -> None:
    writer = BatchWriter(WRITTEN)
    records = [Row(*row[:5]) for row in rows]
    batch = FUNCTIONS.Batch.of(records)
    if batch is None:
        return
    columns = writer.of_columns(batch)
    assert columns is not None
    expected = writer.batch(records)
    assert columns.schema == expected.schema
    assert repr(columns.to_pylist()) == repr(expected.to_pylist())


@pytest.mark.parametrize(
    ("kind", "value", "is_native"),
    [
        (D.ARRAY(D.INT()), [1, None], True),
        (D.ARRAY(D.INT()), [2**31], False),  # Python says why it does not fit
        (D.ARRAY(D.INT()), [True], False),
        (D.ARRAY(D.INT()), [], True),
        (D.ARRAY(D.INT()), (1, 2), False),
        (D.ARRAY(D.INT(nullable=False)), [1], False),
        (D.ARRAY(D.DOUBLE()), [1], False),
        (D.ARRAY(D.FLOAT()), [1.5], False),
        (D.ARRAY(D.STRING()), ["a", None], True),
        (D.ARRAY(D.ARRAY(D.STRING())), [["a"], None, []], True),
        (D.ARRAY(D.ARRAY(D.STRING())), ["a"], False),
        (D.ARRAY(D.DATE()), [], False),
        (D.INT(), [1], False),
    ],
)
def test_what_is_not_an_array_of_the_type_stays_in_python(kind: Any, value: Any, is_native: bool) -> None:
    writer = BatchWriter(D.ROW([D.FIELD("a", kind)]))
    columns = writer.of_columns(FUNCTIONS.Batch.of([Row(value)]))
    assert (columns is not None) == is_native
    if columns is not None:
        assert columns.equals(writer.batch([Row(value)]))


def test_types_that_are_converted_one_by_one() -> None:
    assert why_converted(TYPE) == ""
    for kind in (D.ARRAY(D.DATE()), D.ARRAY(D.ROW([D.FIELD("x", D.INT())])), D.ARRAY(D.DECIMAL(5, 2))):
        assert "'a'" in why_converted(D.ROW([D.FIELD("a", kind)]))


def through(mode: str, source: Path, target: Path) -> list[str]:
    """The rows that a program writes into Parquet."""
    configuration = Configuration().set_string("penstock.native", mode)
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor="local")
    env.set_parallelism(1)
    reader = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(WRITTEN), str(source)).build()
    rows = env.from_source(reader, WatermarkStrategy.no_watermarks(), "rows")
    kept = rows.filter(lambda row: len(row.ints) != 1)
    changed = kept.map(
        lambda row: Row([n * 2 for n in row.ints], row.texts, row.doubles, row.nested, [len(row.texts) > 1]),
        output_type=WRITTEN.type_info,
    )
    changed.sink_to(FileSink.for_bulk_format(str(target), ParquetBulkWriters.for_row_type(WRITTEN)).build())
    env.execute()
    return sorted(map(repr, pq.read_table(target).to_pylist()))


def test_a_program_writes_the_same_arrays(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    writer = BatchWriter(WRITTEN)
    rows = [Row([n, 1, 2][: n % 4], ["a", None, "é"][: n % 3], [n / 3], [[n], None, []], None) for n in range(1_000)]
    pq.write_table(pa.Table.from_batches([writer.batch(rows)]), tmp_path / "in" / "rows.parquet")
    expected = through("off", tmp_path / "in", tmp_path / "off")
    assert len(expected) == 750
    assert through("auto", tmp_path / "in", tmp_path / "auto") == expected
