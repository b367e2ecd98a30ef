"""Dates and times in columns: programs give the same with native code and without, and with it they are columns."""

from __future__ import annotations

import random
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.common import Row, Time, Types, WatermarkStrategy
from penstock.datastream import (
    AggregateFunction,
    DataStream,
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.datastream.connectors import FileSource
from penstock.datastream.formats import ParquetColumnarRowInputFormat
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.runtime import native
from tests.datastream.test_native import Program, outcome

pytestmark = pytest.mark.skipif(native.functions() is None, reason="needs the native module")

DAY, TIME, TEXT, LONG = Types.SQL_DATE(), Types.SQL_TIMESTAMP(), Types.STRING(), Types.LONG()
RECORD = Types.TUPLE([TEXT, DAY, TIME, LONG])
NAMED = Types.ROW_NAMED(["key", "day", "at", "number"], [TEXT, DAY, TIME, LONG])
ENDS = [
    ("ends", date.min, datetime.min, 0),
    ("ends", date.max, datetime.max, 1),
    ("b", date(1969, 12, 31), datetime(1969, 12, 31, 23, 59, 59, 999_999), 2),
    ("b", date(1970, 1, 1), datetime(1970, 1, 1), 3),
    ("c", date(1582, 10, 4), datetime(1582, 10, 4, 12), 4),
    ("c", date(2000, 2, 29), datetime(2000, 2, 29, 0, 0, 1), 5),
]


class OwnDay(date):
    pass


class OwnTime(datetime):
    pass


ODD = [
    ("b", date(1970, 1, 1), datetime(1970, 1, 1, fold=1), 6),
    ("b", date(1970, 1, 1), datetime(2024, 1, 1, tzinfo=timezone.utc), 7),
    ("c", date(2000, 2, 29), datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30), "here")), 8),
    ("ends", OwnDay(2000, 2, 29), datetime(2000, 2, 29), 9),
    ("ends", date(2000, 2, 29), OwnTime(2000, 2, 29, 1), 10),
    ("b", datetime(2000, 2, 29, 5), datetime(2000, 2, 29), 11),
]
"""What a column does not have, or not where it is."""


def drawn(count: int) -> list[tuple[str, date, datetime, int]]:
    numbers = random.Random(7)
    day, at = date(2024, 2, 20), datetime(2024, 2, 20)
    return [
        (
            "abcdefg"[numbers.randrange(7)],
            day + timedelta(days=numbers.randrange(20)),
            at + timedelta(microseconds=numbers.randrange(10**12)),
            number,
        )
        for number in range(count)
    ]


PLAIN = [*ENDS, *drawn(2_500), *ENDS]
MIXED = [*PLAIN, *ODD, *drawn(2_500), *ENDS, *ODD]


def records(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection(PLAIN, RECORD)


def mixed(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection(MIXED, RECORD)


def fields(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return records(env).map(
        lambda r: (r[1].year, r[1].month, r[2].hour, r[2].microsecond, r[1].isoformat(), str(r[2]), f"{r[2]}|{r[1]}", r)
    )


def computed(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    def shifted(r: Any) -> Any:
        later = r[2] + timedelta(hours=5)
        return later, later.date(), r[1] + timedelta(days=-1), r[1] < date(2024, 3, 1), (later - r[2]).total_seconds()

    return mixed(env).filter(lambda r: r[3] != 11 and 1000 < r[1].year < 9000).map(shifted)


def overflowing(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return records(env).map(lambda r: r[2] + timedelta(days=1))


def compared_with_zones(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return (
        mixed(env).map(lambda r: (r[2] == datetime(2000, 2, 29), r[1] == r[2])).filter(lambda pair: pair[0] or pair[1])
    )


def made_of_texts(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    texts = records(env).map(lambda r: (r[1].isoformat(), r[2].isoformat()))
    return texts.map(
        lambda pair: (date.fromisoformat(pair[0]), datetime.fromisoformat(pair[1])), Types.TUPLE([DAY, TIME])
    )


def some_with_zones(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    texts = records(env).map(lambda r: r[2].isoformat() + ("Z" if r[3] % 97 == 0 else ""))
    return texts.map(
        lambda text: datetime.fromisoformat(text[:-1] + "+00:00") if text[-1] == "Z" else datetime.fromisoformat(text)
    )


def none_among_them(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    pairs = mixed(env).map(lambda r: (r[1] if r[3] % 3 else None, None if r[3] % 5 == 0 else r[2]))
    return pairs.map(lambda pair: (pair, pair[0] is None, [pair[1], pair[1]]))


def shown(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return mixed(env).map(
        lambda r: (str((r[1], [r[2]])), repr(r[1]), r[2].strftime("%Y-%m-%d %H:%M:%S.%f") if r[1].year > 999 else "")
    )


def untouched(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return mixed(env).rebalance()


def by_day(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return mixed(env).key_by(lambda r: r[1], DAY).reduce(lambda a, b: (a[0], b[1], b[2], a[3] + b[3]))


def by_time(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return mixed(env).map(lambda r: r, RECORD).key_by(lambda r: r[2], TIME).sum(3)


def by_undeclared(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return mixed(env).key_by(lambda r: (r[0], r[1], r[2].replace(minute=0, second=0))).sum(3)


def by_what_is_no_day(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    """Keys that are declared as days, and are times."""
    return records(env).key_by(lambda r: r[2], DAY).sum(3)


def by_what_is_no_time(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return records(env).key_by(lambda r: r[1], TIME).sum(3)


def latest(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return records(env).key_by(lambda r: r[0], TEXT).max_by(2)


def earliest_of_mixed(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    plain = mixed(env).filter(lambda r: r[3] != 11)
    return plain.key_by(lambda r: r[0], TEXT).min_by(1)


def greatest(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return records(env).key_by(lambda r: r[0], TEXT).max(2)


def in_time(stream: DataStream) -> DataStream:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda r, _: r[3])
    return stream.assign_timestamps_and_watermarks(strategy)


class Range(AggregateFunction):
    def create_accumulator(self) -> Any:
        return []

    def add(self, value: Any, accumulator: Any) -> Any:
        accumulator.append(value[2])
        return accumulator

    def get_result(self, accumulator: Any) -> Any:
        return min(accumulator), max(accumulator)

    def merge(self, a: Any, b: Any) -> Any:
        a.extend(b)
        return a


class Days(AggregateFunction):
    def create_accumulator(self) -> Any:
        return set()

    def add(self, value: Any, accumulator: Any) -> Any:
        accumulator.add(value[1])
        return accumulator

    def get_result(self, accumulator: Any) -> Any:
        return sorted(accumulator)

    def merge(self, a: Any, b: Any) -> Any:
        a |= b
        return a


def windows(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    keyed = in_time(env.from_collection(drawn(3_000), RECORD)).key_by(lambda r: r[1], DAY)
    tumbling = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(500)))
    return tumbling.reduce(lambda a, b: a if a[2] > b[2] else b)


def windows_of_lists(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    keyed = in_time(env.from_collection(drawn(3_000), RECORD)).key_by(lambda r: r[0], TEXT)
    return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(500))).aggregate(Range())


def windows_of_sets(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    keyed = in_time(env.from_collection([*drawn(1_000), *ODD[:2], *drawn(100)], RECORD)).key_by(lambda r: r[0], TEXT)
    return keyed.count_window(20).aggregate(Days())


class Gaps(KeyedProcessFunction):
    """Values, lists and maps of dates and times."""

    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", TIME))
        self.days = runtime_context.get_list_state(ListStateDescriptor("days", DAY))
        self.counts = runtime_context.get_map_state(MapStateDescriptor("counts", DAY, LONG))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        last = self.last.value()
        if last is None or value[2] > last:
            self.last.update(value[2])
        self.days.add(value[1])
        count = self.counts.get(value[1])
        self.counts.put(value[1], 1 if count is None else count + 1)
        if last is not None:
            yield ctx.get_current_key(), last, self.counts.get(value[1]), value[1]


def process(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return records(env).key_by(lambda r: r[1], DAY).process(Gaps())


def process_mixed(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    plain = mixed(env).filter(lambda r: r[3] != 7 and r[3] != 8)
    return plain.key_by(lambda r: r[0], TEXT).process(Gaps())


HOLIDAYS = frozenset({date(2024, 2, 29), date(1970, 1, 1)})
NAMES = {date(2024, 2, 29): "leap", date(1970, 1, 1): "epoch"}


def looked_up(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return mixed(env).map(lambda r: (r[1] in HOLIDAYS, NAMES.get(r[1], "none"), {r[1]: 1}.get(date(2024, 3, 1))))


def days_in_dicts(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return records(env).map(lambda r: (r[1] in HOLIDAYS, {r[1]: 1}.get(date(2024, 3, 1)), {r[2]: r[1], r[1]: 2}[r[2]]))


def rows(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    values = [Row(key=a, day=b, at=c, number=d) for a, b, c, d in MIXED]
    return env.from_collection(values, NAMED).filter(lambda row: row.day is not None).map(lambda row: row, NAMED)


def parquet(env: StreamExecutionEnvironment, folder: Path, units: str = "us", wide: bool = False) -> DataStream:
    path = folder / "records.parquet"
    if not path.exists():
        days = pa.array([r[1] for r in PLAIN], pa.date32())
        if units == "ns":
            times = pa.array(
                [None if r[2].year < 1900 or r[2].year > 2200 else r[2] for r in PLAIN], pa.timestamp("ns")
            )
        else:
            times = pa.array([r[2] for r in PLAIN], pa.timestamp("us")).cast(pa.timestamp(units), safe=False)
        if wide:
            days = pa.concat_arrays([days, pa.array([2**30], pa.int32()).cast(pa.date32())])
            times = pa.concat_arrays([times, times[:1]])
        columns = {"key": pa.array([r[0] for r in PLAIN] + ["z"] * wide), "day": days, "at": times}
        columns["number"] = pa.array(range(len(days)), pa.int64())
        pq.write_table(pa.table(columns), path, row_group_size=1_700)
    source = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(NAMED, batch_size=700), str(path)).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "records")


def out_of_parquet(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return parquet(env, folder).map(lambda row: (row.day, row.at, row.at.minute, row.number))


def out_of_parquet_in_milliseconds(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return parquet(env, folder, "ms")


def out_of_parquet_in_nanoseconds(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return parquet(env, folder, "ns")


def out_of_parquet_beyond_all_years(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return parquet(env, folder, wide=True)


def batch_of(batch: pa.RecordBatch) -> pa.RecordBatch:
    assert batch.schema.types[1:3] == [pa.date32(), pa.timestamp("us")]
    return batch


def batches(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    same = records(env).map(lambda r: r, RECORD).map_batches(batch_of, output_type=RECORD)
    return same.map(lambda r: (r[2], r[1]))


CLOCK = Types.SQL_TIME()
CLOCKS = Types.TUPLE([TEXT, CLOCK, LONG])
NOON = time(12)


class OwnClock(time):
    pass


def clocks(env: StreamExecutionEnvironment) -> DataStream:
    values = [("a", time.min, 0), ("a", time.max, 1), *((r[0], r[2].time(), r[3]) for r in PLAIN)]
    return env.from_collection(values, CLOCKS)


def clock_fields(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    def of(r: Any) -> Any:
        at = r[1]
        return at.hour, at.minute, at.second, at.microsecond, at < NOON, at == NOON, str(at), at.isoformat(), f"{at}", r

    return clocks(env).map(of).map(lambda t: (t, str(t)))


def odd_clocks(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    odd = [time(1, fold=1), time(1, tzinfo=timezone.utc), OwnClock(1), time(1), None]
    stream = env.from_collection([("a", value, n) for n, value in enumerate(odd * 700)], CLOCKS)
    return stream.map(lambda r: (r[1], str(r[1]), [r[1]]))


def clocks_of_times(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    pairs = mixed(env).filter(lambda r: r[3] != 11).map(lambda r: (r[0], r[2].time(), r[3]), CLOCKS)
    return pairs.key_by(lambda r: r[1], CLOCK).sum(2)


def latest_clocks(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return clocks(env).key_by(lambda r: r[0], TEXT).max_by(1)


def clocks_by_undeclared(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return clocks(env).key_by(lambda r: (r[0], r[1])).sum(2)


def out_of_parquet_with_clocks(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    path = folder / "clocks.parquet"
    times = [time.min, time.max, None, *(r[2].time() for r in PLAIN)]
    milliseconds = [None if value is None else value.replace(microsecond=0) for value in times]
    columns = {"fine": pa.array(times, pa.time64("us")), "coarse": pa.array(milliseconds, pa.time32("ms"))}
    pq.write_table(pa.table(columns), path, row_group_size=1_700)
    named = Types.ROW_NAMED(["fine", "coarse"], [CLOCK, CLOCK])
    source = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(named, batch_size=700), str(path)).build()
    rows = env.from_source(source, WatermarkStrategy.no_watermarks(), "records")
    return rows.map(lambda row: (row.fine, row.coarse))


PROGRAMS: list[Program] = [
    fields,
    computed,
    overflowing,
    compared_with_zones,
    made_of_texts,
    some_with_zones,
    none_among_them,
    shown,
    untouched,
    by_day,
    by_time,
    by_undeclared,
    by_what_is_no_day,
    by_what_is_no_time,
    latest,
    earliest_of_mixed,
    greatest,
    windows,
    windows_of_lists,
    windows_of_sets,
    process,
    process_mixed,
    looked_up,
    days_in_dicts,
    rows,
    out_of_parquet,
    out_of_parquet_in_milliseconds,
    out_of_parquet_in_nanoseconds,
    out_of_parquet_beyond_all_years,
    batches,
    clock_fields,
    odd_clocks,
    clocks_of_times,
    latest_clocks,
    clocks_by_undeclared,
    out_of_parquet_with_clocks,
]


def exact(results: Any) -> Any:
    """Results with what equality does not tell apart: the fold of a time, and classes."""
    return repr(results)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_dates_are_the_same_with_native_off(program: Program, tmp_path: Path) -> None:
    compiled = exact(outcome(program, tmp_path, penstock_native="auto"))
    assert compiled == exact(outcome(program, tmp_path, penstock_native="off"))
    assert compiled != "[]"


def calls_of(program: Program, folder: Path) -> Counter[str]:
    """How often Python called each function of this file, with native code."""
    calls = Counter[str]()

    def look(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename == __file__:
            calls[frame.f_code.co_name] += 1

    before = sys.getprofile()
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        outcome(program, folder, penstock_native="auto")
    finally:
        sys.setprofile(before)
        threading.setprofile(before)
    return calls


NATIVE: list[Program] = [
    fields,
    made_of_texts,
    latest,
    greatest,
    windows,
    process,
    days_in_dicts,
    out_of_parquet,
    out_of_parquet_in_milliseconds,
    clock_fields,
    latest_clocks,
    clocks_by_undeclared,
    out_of_parquet_with_clocks,
]


@pytest.mark.parametrize("program", NATIVE, ids=lambda program: program.__name__)
def test_dates_are_columns_all_the_way(program: Program, tmp_path: Path) -> None:
    calls = calls_of(program, tmp_path)
    assert not {name: calls[name] for name in ("<lambda>", "process_element") if calls[name]}


@pytest.mark.parametrize(("program", "most"), [(some_with_zones, 60), (by_what_is_no_day, 6_000)])
def test_what_columns_do_not_have_goes_through_python(program: Program, most: int, tmp_path: Path) -> None:
    assert 0 < calls_of(program, tmp_path)["<lambda>"] < most
