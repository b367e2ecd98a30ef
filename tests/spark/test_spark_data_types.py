"""Values of Spark's columns as records and back, on Spark."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from penstock.common import Instant, Row, Types
from penstock.datastream.connectors import SparkSink
from tests.running import collected
from tests.spark.test_spark_data import environment, tuples, words

DAY, TIME = Types.SQL_DATE(), Types.SQL_TIMESTAMP()
TYPED = {
    "id": ("int", "1", "2"),
    "tiny": ("tinyint", "-128", "127"),
    "small": ("smallint", "-32768", "32767"),
    "big": ("bigint", "-9223372036854775808", "9223372036854775807"),
    "single": ("float", "float('-Infinity')", "1.5"),
    "wide": ("double", "double('NaN')", "4.9E-324D"),
    "price": ("decimal(20,4)", "-9999999999999999.9999", "0.0001"),
    "text": ("string", "''", "'a\\u00e9\\u6f22'"),
    "raw": ("binary", "X''", "X'00FF'"),
    "truth": ("boolean", "true", "false"),
    "day": ("date", "date'0001-01-01'", "date'9999-12-31'"),
    "local": ("timestamp_ntz", "timestamp_ntz'0001-01-01 00:00:00'", "timestamp_ntz'9999-12-31 23:59:59.999999'"),
    "moment": ("timestamp", "timestamp_seconds(-125282592000)", "timestamp'2020-02-02 20:20:20.000001Z'"),
    "names": ("array<string>", "array()", "array('x', null)"),
    "moments": ("array<timestamp>", "array(null)", "array(timestamp'1969-12-31 23:59:59.999999Z')"),
    "counts": ("map<string,int>", "map()", "map('a', 1, 'b', null)"),
    "inner": (
        "struct<at:timestamp,n:bigint,tags:array<string>>",
        "named_struct('at', null, 'n', null, 'tags', null)",
        "named_struct('at', timestamp'1970-01-01 00:00:01Z', 'n', 5L, 'tags', array('t'))",
    ),
    "nothing": ("void", "null", "null"),
}
"""Columns: their type, and two values at its ends."""


@pytest.fixture(scope="module")
def typed(spark):
    casts = [", ".join(f"cast({case[i]} as {case[0]}) as {name}" for name, case in TYPED.items()) for i in (1, 2)]
    casts.append(
        ", ".join(f"cast({3 if name == 'id' else 'null'} as {case[0]}) as {name}" for name, case in TYPED.items())
    )
    return spark.sql(" union all ".join(f"select {row}" for row in casts))


def test_types_arrive_as_rows_with_names(spark, typed):
    one, two, three = sorted(collected(environment(spark, 3).from_spark(typed)), key=lambda row: row.id)
    assert one.single == float("-inf")
    assert one.wide != one.wide
    assert (one.price, one.raw, one.day) == (Decimal("-9999999999999999.9999"), b"", datetime.date.min)
    assert one.moment == Instant(-125282592000, 0)  # no datetime has its year
    assert one.inner == Row(at=None, n=None, tags=None)
    assert two == Row(
        id=2,
        tiny=127,
        small=32767,
        big=2**63 - 1,
        single=1.5,
        wide=5e-324,
        price=Decimal("0.0001"),
        text="a\u00e9\u6f22",
        raw=b"\x00\xff",
        truth=False,
        day=datetime.date.max,
        local=datetime.datetime.max,
        moment=datetime.datetime(2020, 2, 2, 20, 20, 20, 1, datetime.timezone.utc),
        names=["x", None],
        moments=[datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999, datetime.timezone.utc)],
        counts={"a": 1, "b": None},
        inner=Row(at=datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc), n=5, tags=["t"]),
        nothing=None,
    )
    assert three.values[1:] == (None,) * 17


@pytest.mark.parametrize("native", ["auto", "off"])
def test_types_survive_exchange_and_sink(spark, typed, tmp_path, native):
    frame = typed.drop("nothing")
    env = environment(spark, 3, penstock_runtime_native=native)
    stream = env.from_spark(frame).key_by(lambda row: row.id, Types.INT())
    kept = stream.map(lambda row: row, output_type=env.from_spark(frame).transformation.output_type)
    kept.sink_to(SparkSink(format="parquet", path=str(tmp_path / "out"), schema=frame.schema))
    env.execute()
    written = spark.read.parquet(str(tmp_path / "out"))
    assert written.schema.simpleString() == frame.schema.simpleString()
    shown = [f"to_json(struct({name})) as {name}" for name in frame.columns]
    assert tuples(written.selectExpr(*shown)) == tuples(frame.selectExpr(*shown))


def test_a_timestamp_is_a_datetime_with_a_zone_and_may_be_a_key(spark):
    frame = spark.sql("select timestamp_seconds(id) as at, 1L as n from range(4) union all select null, 2L")
    env = environment(spark)
    rows = env.from_spark(frame.where("at is not null"))
    hours = rows.map(lambda row: (row.at.hour, row.at.utcoffset().total_seconds(), row.at.timestamp()))
    assert sorted(collected(hours)) == [(0, 0.0, float(second)) for second in range(4)]
    sums = environment(spark).from_spark(frame.where("at is not null")).key_by(lambda row: row.at, Types.INSTANT())
    kept = sums.reduce(lambda one, other: one).to_spark()
    assert kept.schema["at"].dataType.simpleString() == "timestamp"
    assert sorted(row[0] for row in kept.selectExpr("unix_micros(at)").collect()) == [n * 10**6 for n in range(4)]


def test_a_timestamp_is_an_instant_where_that_is_declared(spark):
    frame = spark.sql("select timestamp_millis(1500) as at")
    assert collected(environment(spark).from_spark(frame, Types.INSTANT())) == [Instant(1, 500_000_000)]
    declared = Types.ROW_NAMED(["at"], [Types.INSTANT()])
    assert collected(environment(spark).from_spark(frame, declared)) == [Row(at=Instant(1, 500_000_000))]


def test_a_declared_type_gives_tuples_or_values(spark):
    frame = words(spark, 3, 1)
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    assert sorted(collected(environment(spark).from_spark(frame, pair))) == [("w0", 0), ("w1", 1), ("w2", 2)]
    assert sorted(collected(environment(spark).from_spark(frame.select("n"), Types.LONG()))) == [0, 1, 2]


def test_dates_and_local_times_are_the_same_with_native_code_off(spark):
    query = (
        "select date_add(date'0001-01-01', cast(id * 365242 as int)) as day, "
        "timestampadd(MICROSECOND, id * 31556926000001, timestamp_ntz'1969-12-31 23:59:59.999999') as at, id "
        "from range(10)"
    )
    results = []
    for way in ("auto", "off"):
        env = environment(spark, 2, **{"penstock.native": way})
        stream = env.from_spark(spark.sql(query), Types.TUPLE([DAY, TIME, Types.LONG()]))
        pairs = stream.map(lambda r: (r[0], r[1] + datetime.timedelta(days=1), r[1].year, r[2]))
        results.append(sorted(collected(pairs.key_by(lambda r: r[0], DAY).max_by(1))))
    assert results[0] == results[1]
    assert len(results[0]) == 10
