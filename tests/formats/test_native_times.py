"""Dates and times in files and messages are read as Python reads them, and written as Python writes them."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Row, Types
from penstock.common.data_types import DataTypes as D
from penstock.connectors.kafka import messages
from penstock.datastream.connectors import FileSink
from penstock.datastream.formats import CsvReaderFormat, CsvSchema, JsonLinesEncoder, JsonReaderFormat
from penstock.datastream.schemas import JsonRowDeserializationSchema, JsonRowSerializationSchema
from penstock.runtime import native
from tests.datastream.test_native_dates import CLOCK, DAY, PLAIN, RECORD, TIME
from tests.datastream.test_native_dates_kept import environment
from tests.datastream.test_native_sinks import files
from tests.formats.test_native_files import compare

FUNCTIONS: Any = native.functions()
pytestmark = pytest.mark.skipif(FUNCTIONS is None, reason="there is no native module")
NAMES = ("day", "at", "clock")
TYPE = Types.ROW_NAMED(list(NAMES), [DAY, TIME, CLOCK])
COLUMNS = D.ROW([D.FIELD("day", D.DATE()), D.FIELD("at", D.TIMESTAMP(6)), D.FIELD("clock", D.TIME(6))])
CSV = CsvReaderFormat.for_schema(
    CsvSchema.builder()
    .add_column("day", D.DATE())
    .add_column("at", D.TIMESTAMP(3))
    .add_column("clock", D.TIME())
    .set_null_value("")
    .build()
)
LINES = JsonReaderFormat.for_row_type(COLUMNS)
JSON_IN = JsonRowDeserializationSchema.builder().type_info(TYPE).build()
JSON_OUT = JsonRowSerializationSchema.builder().with_type_info(TYPE).build()

ODD = [
    *("2024-02-29", "2023-02-29", "2024-2-9", "0000-01-01", "0001-01-01", "9999-12-31", " 2024-02-29", "20240229", ""),
    *("2024-02-29 23:59:59", "2024-02-29T23:59:59", "2024-02-29 23:59:59.9", "2024-02-29T23:59:59.123456"),
    *("2024-02-29T23:59:59.1234567", "2024-02-29T23:59:59.1234560", "2024-02-29T24:00:00", "2024-02-29T24:00:00Z"),
    *("2024-02-29T23:59:59Z", "2024-02-29 23:59:59Z", "2024-02-29T23:59:59.5Z", "2024-02-29T23:59:60Z", "2024-02-29T"),
    *("2024-02-29T23:59:59+01:00", "2024-02-29T23:59", "2024-02-29T23:59:59.", "2024-02-29x23:59:59", "٢024-02-29"),
    *("12:34:56", "12:34:56.5", "12:34:56.000001", "12:34:56Z", "12:34:56.0Z", "12:34:56.5Z", "24:00:00", "24:00:00Z"),
    *("12:34", "12:34:60", "12:34:56+01:00", "123456", "null", "2024-02-29T23:59:59.5z", "2024-02-29T-3:59:59"),
]
TEXT = (
    st.sampled_from(ODD)
    | st.dates().map(str)
    | st.datetimes().map(str)
    | st.datetimes().map(lambda at: f"{at.isoformat()}Z")
    | st.times().map(str)
    | st.times().map(lambda at: f"{at.replace(microsecond=0)}Z")
    | st.text("0123456789-:.TZ ", max_size=20)
)
NODE = st.none() | TEXT | st.integers(0, 3_000) | st.booleans() | st.lists(TEXT, max_size=2)


@given(rows=st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=6))
def test_csv_has_the_rows_of_python(rows: list[tuple[str, ...]], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("csv") / "file"
    path.write_text("".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
    compare(CSV, path)


@given(rows=st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, NODE)), max_size=6))
def test_lines_of_json_have_the_rows_of_python(rows: list[Any], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("json") / "file"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    compare(LINES, path)


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("column", range(3))
def test_each_text_is_read_as_python_reads_it(text: str, column: int, tmp_path: Path) -> None:
    values = ["2024-02-29", "2024-02-29 01:02:03.5", "01:02:03.5"]
    values[column] = text
    (tmp_path / "csv").write_text(f"{','.join(values)}\n")
    (tmp_path / "json").write_text(f"{json.dumps(dict(zip(NAMES, values, strict=True)))}\n")
    compare(CSV, tmp_path / "csv")
    compare(LINES, tmp_path / "json")


def agrees(message: bytes) -> bool:
    """Whether native code reads the message; then it gives what the schema gives."""
    batch, end = messages.reading_of(FUNCTIONS, JSON_IN, True).read([message], 0)
    if not end:
        return False
    (row,) = batch.objects()
    assert repr(row) == repr(JSON_IN.deserialize(message))
    return True


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, NODE)))
def test_messages_have_the_rows_of_the_schema(node: Any) -> None:
    agrees(json.dumps(node).encode())


@pytest.mark.parametrize("text", ODD)
def test_each_text_of_a_message_is_read_as_the_schema_reads_it(text: str) -> None:
    for name in NAMES:
        agrees(json.dumps({name: text}).encode())


def test_usual_texts_are_read_natively(tmp_path: Path) -> None:
    assert agrees(b'{"day": "2024-02-29", "at": "2024-02-29T01:02:03.5Z", "clock": "01:02:03Z"}')
    (tmp_path / "csv").write_text("2024-02-29,2024-02-29 01:02:03.5,01:02:03\n" * 3_000)
    assert compare(CSV, tmp_path / "csv") == 3_000
    line = '{"day": "2024-02-29", "at": "2024-02-29T01:02:03", "clock": "01:02:03.000001"}\n'
    (tmp_path / "json").write_text(line * 3_000)
    assert compare(LINES, tmp_path / "json") == 3_000


TIMES = st.datetimes() | st.sampled_from([datetime.min, datetime.max, datetime(2024, 1, 1, fold=1)])
AWARE = st.datetimes(timezones=st.just(timezone(timedelta(hours=1))))
ROW = st.builds(
    Row,
    st.none() | st.dates() | TIMES,
    st.none() | TIMES | AWARE | st.dates(),
    st.none() | st.times() | st.sampled_from([time.max, time(1, fold=1), time(1, tzinfo=timezone.utc)]),
)


def written(write: Any) -> Any:
    try:
        return write()
    except Exception as error:
        return str(error)


@given(ROW)
def test_rows_have_the_texts_of_python(row: Row) -> None:
    batch = FUNCTIONS.Batch.of([row])
    if batch is None:  # with a zone, or a fold
        return
    values, _, doubtful = messages.layout_of(FUNCTIONS, JSON_OUT).messages(batch, 0, 1)
    usual = type(row[0]) in (date, type(None)) and type(row[1]) in (datetime, type(None))
    assert doubtful is not usual
    assert doubtful or values == [JSON_OUT.serialize(row)]


@pytest.mark.parametrize("wrong", [False, True])
def test_lines_have_the_bytes_of_python(wrong: bool, tmp_path: Path) -> None:
    results = []
    for way in ("auto", "off"):
        env = environment(way)
        stream = env.from_collection([r for r in PLAIN if r[1].year > 999], RECORD)
        if wrong:
            stream = stream.map(lambda r: Row(day=r[2], at=r[2], clock=r[2].time()), TYPE)
        else:
            stream = stream.map(
                lambda r: Row(day=r[1], at=r[2] if r[3] % 5 else None, clock=r[2].time()),
                TYPE,
            )
        sink = FileSink.for_row_format(str(tmp_path / way), JsonLinesEncoder.for_row_type(COLUMNS)).build()
        stream.sink_to(sink)
        error = written(env.execute) if wrong else env.execute()
        results.append(error.rpartition(": The value")[2] if wrong else files(tmp_path / way))
    assert results[0] == results[1]
    assert results[0]
