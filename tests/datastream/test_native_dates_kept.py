"""Dates and times in files, on the console and in state: the same with native code and without."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from penstock.common import Configuration, Row, Types
from penstock.common.data_types import DataTypes
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSink
from penstock.datastream.formats import OrcBulkWriters, ParquetBulkWriters
from penstock.errors import JobExecutionError
from penstock.runtime import native
from tests.datastream.test_native_dates import DAY, MIXED, NAMED, PLAIN, RECORD, TEXT, TIME, Gaps
from tests.datastream.test_native_sinks import files
from tests.job.steps.evolving import environment as in_steps
from tests.job.steps.evolving import fed
from tests.running import collected

pytestmark = pytest.mark.skipif(native.functions() is None, reason="needs the native module")
COLUMNS = DataTypes.ROW(
    [
        DataTypes.FIELD("key", DataTypes.STRING()),
        DataTypes.FIELD("day", DataTypes.DATE()),
        DataTypes.FIELD("at", DataTypes.TIMESTAMP()),
        DataTypes.FIELD("number", DataTypes.BIGINT()),
    ]
)
FINE = DataTypes.ROW([*COLUMNS.fields[:2], DataTypes.FIELD("at", DataTypes.TIMESTAMP(9)), COLUMNS.fields[3]])


def environment(way: str) -> StreamExecutionEnvironment:
    settings = Configuration().set_string("penstock.native", way)
    return StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(1)


BULK: dict[str, Callable[[], Any]] = {
    "Parquet in UTC": lambda: ParquetBulkWriters.for_row_type(COLUMNS, utc_timestamp=True),
    "Parquet in the zone of the machine": lambda: ParquetBulkWriters.for_row_type(COLUMNS),
    "Parquet with nanoseconds": lambda: ParquetBulkWriters.for_row_type(FINE, utc_timestamp=True),
    "ORC": lambda: OrcBulkWriters.for_row_type(COLUMNS),
}


@pytest.mark.parametrize("named", [False, True], ids=["tuples", "rows"])
@pytest.mark.parametrize("form", BULK)
def test_bulk_files_have_the_same_bytes(form: str, named: bool, tmp_path: Path) -> None:
    results = []
    for way in ("auto", "off"):
        env = environment(way)
        stream = env.from_collection([r for r in PLAIN if 1900 < r[1].year < 2200], RECORD)
        if named:
            stream = stream.map(lambda r: Row(key=r[0], day=r[1], at=r[2], number=r[3]), NAMED)
        else:
            stream = stream.map(lambda r: (r[0], r[1] if r[3] % 7 else None, r[2], r[3]), RECORD)
        stream.sink_to(FileSink.for_bulk_format(str(tmp_path / way), BULK[form]()).build())
        env.execute()
        results.append(files(tmp_path / way))
    assert results[0] == results[1]
    assert results[0]


@pytest.mark.parametrize(
    ("function", "type_info"),
    [
        (lambda r: (r[0], r[2], r[2], r[3]), RECORD),  # a time for a day
        (lambda r: (r[0], r[1], r[1], r[3]), RECORD),  # a day for a time
        (lambda r: (r[0], r[1], r[2].isoformat(), r[3]), RECORD),
        (lambda r: (r[0], r[3], r[2], r[3]), RECORD),
    ],
)
def test_what_does_not_fit_its_column_is_the_same_error(function: Any, type_info: Any, tmp_path: Path) -> None:
    errors = []
    for way in ("auto", "off"):
        env = environment(way)
        stream = env.from_collection(PLAIN[6:], RECORD).map(function, type_info)
        sink = FileSink.for_bulk_format(str(tmp_path / "files"), BULK["Parquet in UTC"]()).build()
        stream.sink_to(sink)
        with pytest.raises(JobExecutionError, match="cannot be written into the column") as failure:
            env.execute()
        errors.append(str(failure.value).rpartition(": The value")[2])  # behind the name of the file
    assert errors[0] == errors[1]


def test_written_columns_are_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.connectors.formats.columnar import TableWriter

    monkeypatch.setattr(TableWriter, "add_all", None)  # of objects
    env = environment("auto")
    stream = env.from_collection(PLAIN, RECORD).filter(lambda r: 1900 < r[1].year < 2200)
    factory = BULK["Parquet in UTC"]()
    stream.sink_to(FileSink.for_bulk_format(str(tmp_path / "files"), factory).build())
    env.execute()
    [path] = [path for path in (tmp_path / "files").rglob("part-*") if path.is_file()]
    table = pq.read_table(path)
    rows = [r for r in PLAIN if 1900 < r[1].year < 2200]
    assert table.column("day").to_pylist() == [r[1] for r in rows]


KINDS: dict[str, Any] = {
    "tuples": RECORD,
    "rows": NAMED,
    "undeclared": None,
    "days": DAY,
    "times": TIME,
    "clocks": Types.TUPLE([TEXT, Types.SQL_TIME()]),
    "lists": Types.LIST(TIME),
    "wrong": Types.TUPLE([TEXT, TIME, DAY, Types.LONG()]),
}


@pytest.mark.parametrize("records", [PLAIN, MIXED], ids=["plain", "mixed"])
@pytest.mark.parametrize("kind", KINDS)
def test_lines_of_texts_are_the_same(
    kind: str, records: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = []
    for way in ("auto", "off"):
        env = environment(way)
        values = env.from_collection(records, RECORD).map(
            {
                "rows": lambda r: Row(key=r[0], day=r[1], at=r[2], number=r[3]),
                "days": lambda r: r[1],
                "times": lambda r: None if r[3] % 9 == 5 else r[2],
                "clocks": lambda r: (r[0], r[2].time()),
                "lists": lambda r: [r[2], r[2]],
            }.get(kind, lambda r: r),
            KINDS[kind],
        )
        values.write_as_text(str(tmp_path / way))
        values.print("here")
        env.execute()
        results.append(((tmp_path / way).read_bytes(), capsys.readouterr().out))
    assert results[0] == results[1]
    assert results[0][0].count(b"\n") == len(records)


def test_texts_of_days_and_times(tmp_path: Path) -> None:
    env = environment("auto")
    records = [(date(1, 1, 1), datetime(1, 1, 1)), (date(2024, 2, 29), datetime(2024, 2, 29, 1, 2, 3, 40_500))]
    stream = env.from_collection(records, Types.TUPLE([DAY, TIME])).map(lambda r: r, Types.TUPLE([DAY, TIME]))
    stream.write_as_text(str(tmp_path / "lines"))
    env.execute()
    assert (
        tmp_path / "lines"
    ).read_text() == "(0001-01-01,0001-01-01 00:00:00.0)\n(2024-02-29,2024-02-29 01:02:03.0405)\n"


def in_turn(folder: Path, ways: list[str]) -> list[list[Any]]:
    """The results of a job that goes on with more records, native code on or off each time."""
    results = []
    for turn, way in enumerate(ways, 1):
        env = in_steps(folder, 2, penstock__native=way, penstock__step__records=40)
        first = datetime(1969, 12, 31, 23, 59, 59, 999_999)
        records = [
            ("abc"[n % 3], date(2024, 2, 27) + timedelta(days=n % 5), first + timedelta(hours=n * n % 97), n)
            for n in range(90 * turn)
        ]
        keyed = fed(env, folder, records, RECORD).key_by(lambda r: r[1], DAY)
        gaps = keyed.process(Gaps()).uid("gaps")
        latest = keyed.max_by(2).uid("latest")
        by_time = fed_by_time(fed(env, folder, records, RECORD))
        shown = gaps.map(repr).union(latest.map(repr), by_time.map(repr))
        results.append(sorted(collected(shown)))
    return results


def fed_by_time(stream: Any) -> Any:
    return stream.key_by(lambda r: r[2], TIME).reduce(lambda a, b: (a[0], b[1], a[2], a[3] + b[3])).uid("sums")


def test_state_goes_on_with_native_code_and_without(tmp_path: Path) -> None:
    expected = in_turn(tmp_path / "off" / "job", ["off"] * 3)
    assert all(expected)
    for ways in (["auto", "off", "auto"], ["off", "auto", "off"]):
        assert in_turn(tmp_path / "".join(ways) / "job", ways) == expected
