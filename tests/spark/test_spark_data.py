"""Doors to Spark's data: DataFrames as sources, streams as DataFrames, Spark's writers as sinks."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import uuid
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from penstock.common import Configuration, Duration, Row, Time, Types, WatermarkStrategy
from penstock.datastream import MapFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from penstock.datastream.connectors import SparkSink
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.errors import ConfigurationError, InvalidProgramError, JobExecutionError, UnsupportedError
from penstock.spark import inside_pyspark
from tests.running import collected


def jar(artifact: str, folder: Path) -> Path:
    """A jar, or the test is skipped."""
    mvn = shutil.which("mvn")
    if mvn is None:
        pytest.skip(f"needs {artifact}, and there is no Maven to fetch it with")
    command = [mvn, "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    try:
        subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, cwd=folder)
    except subprocess.SubprocessError as error:
        pytest.skip(f"needs {artifact}, and Maven could not fetch it: {error}")
    _, name, version = artifact.split(":")
    return folder / f"{name}-{version}.jar"


NUMBERED = Types.ROW_NAMED(["word", "n"], [Types.STRING(), Types.LONG()])


def environment(spark, parallelism=2, mode=RuntimeExecutionMode.STREAMING, **settings):
    configuration = Configuration.from_dict({key.replace("_", "."): value for key, value in settings.items()})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, spark=spark)
    return env.set_parallelism(parallelism).set_runtime_mode(mode)


def words(spark, rows=12, partitions=3):
    """Rows of a word and a number."""
    return spark.range(0, rows, 1, partitions).selectExpr("concat('w', id % 3) as word", "id as n")


def tuples(frame):
    return sorted(map(tuple, frame.collect()))


def test_rows_of_a_file_stay_in_its_order(spark, tmp_path):
    """Spark splits the file, and reads the large pieces of all files first."""
    for number in range(3):
        rows = spark.range(number * 3000, (number + 1) * 3000 - 400 * number, 1, 1).selectExpr("cast(id as string)")
        rows.write.text(str(tmp_path / f"in/{number}"))
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4000")
    try:
        frame = spark.read.text([str(tmp_path / f"in/{number}") for number in range(3)])
        assert frame.rdd.getNumPartitions() > 6
        timed = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: int(value))
        rows = environment(spark, 1).from_spark(frame, Types.STRING(), watermark_strategy=timed)
        numbers = [int(value) for value in collected(rows)]
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert len(numbers) == 3000 + 2600 + 2200
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_files_of_several_hours_are_read_in_order_of_time(spark, tmp_path, caplog, capfd, parallelism):
    """Spark reads large files first, and these grow."""
    hours, hour = 6, 3_600_000
    for number in range(hours):
        rows = spark.range(0, 1000 * (number + 1), 1, 1).selectExpr(
            f"timestamp_millis({number * hour} + id * {hour // 1000 // (number + 1)}) as `a time`"
        )
        rows.write.parquet(str(tmp_path / f"in/hour={number}"))
    frame, minute = spark.read.parquet(str(tmp_path / "in")), Duration.of_minutes(1)

    def counted(order_by, frame=frame, here=True):
        env = environment(spark, parallelism)
        timed = WatermarkStrategy.for_bounded_out_of_orderness(minute).with_timestamp_assigner(
            lambda row, _: round(row["a time"].timestamp() * 1000)
        )
        rows = env.from_spark(frame, watermark_strategy=timed if here else None, order_by=order_by)
        rows = rows if here else rows.assign_timestamps_and_watermarks(timed)
        ones = rows.map(lambda row: ("all", 1), Types.TUPLE([Types.STRING(), Types.LONG()])).key_by(
            lambda pair: pair[0]
        )
        return collected(ones.window(TumblingEventTimeWindows.of(Time.hours(1))).sum(1))

    caplog.clear()
    expected, total = [("all", 1000 * (number + 1)) for number in range(hours)], 1000 * sum(range(hours + 1))
    assert sorted(counted("a time")) == expected
    assert sorted(counted(None)) == expected, "the order of the files"
    assert sorted(counted(None, frame.where("hour >= 0").select("a time"))) == expected
    assert "numLateRecordsDropped" not in caplog.text
    capfd.readouterr()
    joined = frame.join(frame.select("hour").distinct(), "hour")  # whose rows have no file
    assert 0 < sum(count for _, count in counted(None, joined)) <= total
    assert "ERROR" not in capfd.readouterr().err
    caplog.clear()
    kept = sum(count for _, count in counted(None, here=False))
    if parallelism == 1:  # with more, each may get one file
        assert kept < total
        assert f"has dropped {total - kept:,} of its {total:,} records as late (numLate" in caplog.text


def test_a_column_that_is_not_there_gives_no_order(spark):
    with pytest.raises(
        InvalidProgramError, match=r"order_by='time'\): the DataFrame has no such column. It has word, n"
    ):
        environment(spark).from_spark(words(spark), order_by="time")


def test_what_cannot_be_read_is_refused(spark):
    env = environment(spark)
    with pytest.raises(UnsupportedError, match="column 'span' has Spark's type interval day"):
        env.from_spark(spark.sql("select interval 1 day as span"))


def test_a_dataframe_that_fails_says_why(spark, tmp_path):
    env = environment(spark, 2)
    env.from_spark(spark.sql("select if(id = 3, raise_error('boom'), id) as id from range(4)")).print()
    with pytest.raises(JobExecutionError, match="boom"):
        env.execute()
    spark.range(3).write.parquet(str(tmp_path / "gone"))
    frame = spark.read.parquet(str(tmp_path / "gone"))
    for path in (tmp_path / "gone").iterdir():
        path.unlink()
    env.from_spark(frame).print()
    with pytest.raises(JobExecutionError, match=r"gone|does not exist"):
        env.execute()


# --- partitions ---------------------------------------------------------------------------------------------------


class Subtask(MapFunction):
    """Which subtask has a record."""

    def open(self, runtime_context):
        self._subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return self._subtask, value


@pytest.mark.parametrize(("partitions", "parallelism"), [(1, 3), (3, 3), (5, 2), (0, 2)])
def test_partitions_become_subtasks(spark, partitions, parallelism):
    frame = spark.range(0, 10, 1, max(partitions, 1)).selectExpr("id", "spark_partition_id() as partition")
    if not partitions:
        frame = frame.where("false")
    env = environment(spark, parallelism)
    both = env.from_spark(frame).union(env.from_spark(frame)).map(Subtask()).set_parallelism(parallelism)
    numbers = env.generate_sequence(1, 4).map(lambda n: (None, Row(id=n, partition=None)))
    records = collected(both.union(numbers))
    rows = Counter(row.id for subtask, row in records if subtask is not None)
    assert rows == (dict.fromkeys(range(10), 2) if partitions else {})
    assert sorted(row.id for subtask, row in records if subtask is None) == [1, 2, 3, 4]
    owners = {(row.partition, subtask) for subtask, row in records if subtask is not None}
    assert len(owners) == partitions
    if 0 < partitions <= parallelism:
        assert owners == {(index, index) for index in range(partitions)}


def test_the_whole_program_is_one_job(spark):
    env = environment(spark, 2)
    summed = words(spark).groupBy("word").sum("n").withColumnRenamed("sum(n)", "n")
    stream = env.from_spark(summed).union(env.from_spark(words(spark)))
    totals = stream.key_by(lambda row: row.word).sum("n")
    context = spark.sparkContext
    context.setJobGroup("doors", "one program")
    try:
        assert len(collected(totals)) == 15
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    assert len(context.statusTracker().getJobIdsForGroup("doors")) == 1


def test_settings_of_the_dataframes_session_hold(spark):
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "2")
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    frame = (
        session.range(4).groupBy("id").count().selectExpr("spark_partition_id() as part", "current_timezone() as zone")
    )
    rows = collected(environment(spark, 3).from_spark(frame))
    assert {row.zone for row in rows} == {"Asia/Tokyo"}
    assert {row.part for row in rows} <= {0, 1}
    assert session.conf.get("spark.sql.adaptive.enabled") == spark.conf.get("spark.sql.adaptive.enabled")


def test_the_active_session_stays(spark):
    from pyspark.sql import SparkSession

    frame = spark.createDataFrame([(1,), (2,)], "n long")  # which makes it the active one, here and in the JVM
    sql = spark._jvm.org.apache.spark.sql
    in_the_jvm = sql.SparkSession if inside_pyspark.version() < (4, 0) else sql.classic.SparkSession
    stream = environment(spark, 2).from_spark(frame)
    assert sorted(collected(stream.map(lambda row: row.n))) == [1, 2]
    assert tuples(stream.to_spark()) == [(1,), (2,)]
    assert SparkSession.getActiveSession() is spark
    assert in_the_jvm.getActiveSession().get().equals(spark._jsparkSession)


# --- programs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
@pytest.mark.parametrize("native", ["auto", "off"])
def test_a_table_joined_with_a_collection(spark, mode, native):
    env = environment(spark, 2, mode, penstock_runtime_native=native)
    table = env.from_spark(words(spark))
    prices = env.from_collection([("w0", 10), ("w1", 20)], Types.TUPLE([Types.STRING(), Types.INT()]))

    def at_zero(stream):
        return stream.assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, before: 0)
        )

    joined = (
        at_zero(table)
        .join(at_zero(prices))
        .where(lambda row: row.word)
        .equal_to(lambda pair: pair[0])
        .window(TumblingEventTimeWindows.of(Time.seconds(1)))
        .apply(lambda row, pair: (row.word, row.n * pair[1]), Types.TUPLE([Types.STRING(), Types.LONG()]))
    )
    totals = joined.key_by(0).sum(1)
    best: dict = {}
    for word, total in collected(totals):
        best[word] = max(total, best.get(word, 0))
    assert best == {"w0": 180, "w1": 440}


def test_time_comes_from_a_column(spark):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(
        lambda row, before: round(row.at.timestamp() * 1000)
    )
    frame = spark.range(0, 6, 1, 1).selectExpr("timestamp_seconds(id) as at", "id as n")
    env = environment(spark, 1)
    stream = env.from_spark(frame, source_name="clock", watermark_strategy=strategy)
    sums = stream.map(lambda row: ("all", row.n)).key_by(0).window(TumblingEventTimeWindows.of(Time.seconds(2))).sum(1)
    assert sorted(collected(sums)) == [("all", 1), ("all", 5), ("all", 9)]


def test_cached_and_in_the_background(spark):
    env = environment(spark, 2, RuntimeExecutionMode.BATCH)
    cached = env.from_spark(words(spark)).map(lambda row: (row.word, row.n)).cache()
    first = cached.execute_and_collect()
    cached.map(lambda pair: pair[1]).add_sink(lambda n: None)
    assert env.execute_async("later").get_job_execution_result().result().get_job_id() is not None
    assert sorted(first)[0] == ("w0", 0)
    frame = cached.map(lambda pair: pair[1], Types.LONG()).to_spark()
    assert frame.count() == 12


# --- sinks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_formats_there_and_back(spark, tmp_path, parallelism):
    table = f"doors_{uuid.uuid4().hex}"
    env = environment(spark, parallelism)
    stream = env.from_spark(words(spark)).map(lambda row: row, NUMBERED)
    for kind in ("parquet", "orc"):
        stream.sink_to(SparkSink(format=kind, path=str(tmp_path / kind), partition_by="word"))
    stream.sink_to(SparkSink(format="csv", path=str(tmp_path / "csv"), options={"header": True}, mode="overwrite"))
    stream.sink_to(SparkSink(table=table, options={"path": str(tmp_path / "table")}))
    stream.sink_to(SparkSink(lambda df: df.coalesce(1).write.json(str(tmp_path / "json")))).name("to json")
    stream.write_as_text(str(tmp_path / "text"))
    env.execute()
    try:
        read = spark.read.schema("word string, n long")
        frames = [read.format(kind).load(str(tmp_path / kind)) for kind in ("parquet", "orc", "json")]
        frames += [read.option("header", True).csv(str(tmp_path / "csv")), spark.table(table)]
        env = environment(spark, parallelism)
        sources = [env.from_spark(frame.select("word", "n")) for frame in frames]
        counted = Counter((row.word, row.n) for row in collected(sources[0].union(*sources[1:])))
    finally:
        spark.sql(f"drop table {table}")
    assert counted == {(f"w{n % 3}", n): 5 for n in range(12)}
    assert (tmp_path / "text").exists()


def test_jdbc_there_and_back(spark, tmp_path):
    spark.sql(f"add jar '{jar('org.xerial:sqlite-jdbc:3.46.1.3', tmp_path)}'")
    base = tmp_path / "data.db"
    options = {"url": f"jdbc:sqlite:{base}", "driver": "org.sqlite.JDBC", "dbtable": "words"}
    with sqlite3.connect(base) as connection:
        connection.execute("create table words (word text, n bigint)")
    env = environment(spark, 1)
    stream = env.from_spark(words(spark)).map(lambda row: row, NUMBERED)
    stream.sink_to(SparkSink(format="jdbc", mode="append", options=options))
    env.execute()
    assert sqlite3.connect(base).execute("select count(*), sum(n) from words").fetchall() == [(12, 66)]
    parts = {**options, "partitionColumn": "n", "lowerBound": "0", "upperBound": "12", "numPartitions": "3"}
    for parallelism, choice in [(1, options), (3, parts), (2, parts)]:
        stream = environment(spark, parallelism).from_spark(spark.read.format("jdbc").options(**choice).load())
        assert sorted((row.word, row.n) for row in collected(stream)) == sorted((f"w{n % 3}", n) for n in range(12))


def test_user_code_runs_once(spark, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()

    def marked(row):
        (marks / f"{row.n}-{uuid.uuid4().hex}").touch()
        return row

    env = environment(spark, 2)
    stream = env.from_spark(words(spark)).map(marked, NUMBERED).key_by(lambda row: row.word).sum("n")
    for name in ("a", "b"):
        stream.sink_to(SparkSink(format="parquet", path=str(tmp_path / name)))
    env.execute()
    assert len(list(marks.iterdir())) == 12
    assert tuples(spark.read.parquet(str(tmp_path / "a"))) == tuples(spark.read.parquet(str(tmp_path / "b")))


def test_a_failed_job_writes_nothing(spark, tmp_path):
    env = environment(spark, 2)
    stream = env.from_spark(words(spark)).map(lambda row: Row(word=row.word, n=1 // (row.n - 7)), NUMBERED)
    stream.sink_to(SparkSink(format="parquet", path=str(tmp_path / "out")))
    stream.write_as_text(str(tmp_path / "text"))
    with pytest.raises(JobExecutionError) as failure:
        env.execute()
    assert isinstance(failure.value.__cause__, ZeroDivisionError)
    assert list(tmp_path.iterdir()) == []


def test_a_value_of_another_type_names_sink_and_field(spark, tmp_path):
    env = environment(spark, 1)
    wrong = env.from_spark(words(spark)).map(lambda row: Row(word=row.n, n=row.n), NUMBERED)
    wrong.sink_to(SparkSink(format="parquet", path=str(tmp_path / "out"))).name("to files").uid("files")
    with pytest.raises(
        JobExecutionError, match=r"(?s)Sink: to files.*The field 'word' of a record is 0, which is not of the type str"
    ):
        env.execute()
    assert list(tmp_path.iterdir()) == []


def test_a_writer_that_fails_is_named_and_no_file_appears(spark, tmp_path):
    (tmp_path / "there").mkdir()
    env = environment(spark, 2)
    stream = env.from_spark(words(spark)).map(lambda row: row, NUMBERED)
    stream.sink_to(SparkSink(format="orc", path=str(tmp_path / "first"))).name("one")
    stream.sink_to(SparkSink(format="orc", path=str(tmp_path / "there"))).name("two")
    stream.sink_to(SparkSink(format="orc", path=str(tmp_path / "third")))
    stream.write_as_text(str(tmp_path / "text"))
    with pytest.raises(
        JobExecutionError, match=r"'Sink: two' could not write to '.*there' \(orc\).*'Sink: one' \("
    ) as e:
        env.execute()
    assert "AnalysisException" in str(e.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "there"]
    assert not spark.sparkContext._jsc.getPersistentRDDs()


def test_a_function_that_does_not_write_to_the_end(spark):
    env = environment(spark, 1)
    stream = env.from_spark(words(spark)).map(lambda row: row, NUMBERED)
    stream.sink_to(SparkSink(lambda df: df.write.format("orc")))
    with pytest.raises(JobExecutionError, match="DataFrameWriter, which has written nothing"):
        env.execute()


# --- streams as DataFrames ----------------------------------------------------------------------------------------


def test_a_stream_in_sql(spark, tmp_path):
    user = spark.newSession()
    user.conf.set("spark.sql.adaptive.enabled", "true")
    env = environment(user, 3)
    stream = env.from_spark(words(user)).map(lambda row: (row.word, row.n), Types.TUPLE([Types.STRING(), Types.LONG()]))
    stream.write_as_text(str(tmp_path / "text"))
    latest = stream.key_by(0).sum(1)
    before = env.get_execution_plan()
    frame = latest.to_spark()
    assert env.get_execution_plan() == before
    assert frame.sparkSession is user
    frame.createOrReplaceTempView("latest")
    result = user.sql("select f0, max(f1) from latest group by f0")
    assert tuples(result) == [("w0", 18), ("w1", 22), ("w2", 26)]
    assert tuples(result) == tuples(result)
    assert frame.rdd.getNumPartitions() == 3
    assert list(tmp_path.iterdir()) == []
    env.execute()
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_a_dataframe_has_the_schema_that_is_given(spark):
    stream = environment(spark, 2).from_spark(words(spark)).map(lambda row: {"n": row.n, "price": Decimal("1.50")})
    frame = stream.to_spark("n int, price decimal(10,2)")
    assert frame.schema.simpleString() == "struct<n:int,price:decimal(10,2)>"
    assert frame.agg({"price": "sum"}).first()[0] == Decimal("18.00")
    values = environment(spark, 2).from_spark(words(spark)).map(lambda row: row.n).to_spark(Types.LONG())
    assert values.columns == ["value"]
    assert values.agg({"value": "sum"}).first()[0] == 66


def test_batch_programs_as_dataframes(spark):
    env = environment(spark, 2, RuntimeExecutionMode.BATCH)
    totals = env.from_spark(words(spark)).key_by(lambda row: row.word).sum("n")
    assert tuples(totals.to_spark()) == [("w0", 18), ("w1", 22), ("w2", 26)]


def test_a_function_that_fails_says_so_where_the_dataframe_is_used(spark):
    frame = environment(spark, 1).from_spark(words(spark)).map(lambda row: 1 // row.n, Types.LONG()).to_spark()
    with pytest.raises(Exception, match=r"(?s)Operator 'Map'.*ZeroDivisionError") as failure:
        frame.collect()
    assert "penstock.errors.JobExecutionError: Operator 'Map'" in str(failure.value)
    assert "Details for the driver" not in str(failure.value)


def test_sparks_plan_of_a_dataframe_names_program_and_operators(spark, capsys):
    env = environment(spark, 1, **{"pipeline.name": "orders"})
    env.from_spark(words(spark)).map(lambda row: row.n, Types.LONG()).name("number").to_spark().explain()
    assert "MapInArrow orders: Source: Spark Source -> number" in capsys.readouterr().out


def test_dataframes_of_a_stopped_or_another_spark_are_refused(spark):
    class Elsewhere:
        """A session of Spark Connect, as far as is asked."""

        session_id = "5"

    Elsewhere.__module__ = "pyspark.sql.connect.session"

    from penstock.spark.session import session_of

    class Frame:
        sparkSession = Elsewhere()

    with pytest.raises(ConfigurationError, match="of several Sparks"):
        session_of([Frame()], spark)
    assert session_of([]) is None
