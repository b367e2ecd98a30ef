"""Formats of files on Spark: what it writes we read, what we write it reads, though a worker is killed."""

from __future__ import annotations

import json
import os
import signal
from datetime import date
from decimal import Decimal

import fastavro
import pytest

from penstock.common import Configuration, Instant, Row, Types, WatermarkStrategy
from penstock.common.data_types import DataTypes as D
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSource
from penstock.datastream.formats import (
    AvroBulkWriters,
    AvroReaderFormat,
    AvroSchema,
    CsvBulkWriters,
    CsvReaderFormat,
    CsvSchema,
    JsonReaderFormat,
    OrcBulkWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from tests.formats.programs import files, read, sink

KIND = Types.ROW_NAMED(["n", "word"], [Types.LONG(), Types.STRING()])
SCHEMA = CsvSchema.builder().add_number_column("n").add_string_column("word").build()
AVRO = AvroSchema.parse_string(
    '{"type": "record", "name": "R", "fields": [{"name": "n", "type": "long"}, {"name": "word", "type": "string"}]}'
)
RECORDS = [Row(n=number, word=f"a, {number}") for number in range(500)]
PAIRS = [(row.n, row.word) for row in RECORDS]


def environment(spark, parallelism=2):
    return StreamExecutionEnvironment.get_execution_environment(spark=spark).set_parallelism(parallelism)


def test_spark_reads_what_was_written_though_a_worker_was_killed(spark, tmp_path):
    marker = tmp_path / "killed"

    def mortal(row):
        if row.n == 499 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return row

    factories = {
        "parquet": ParquetBulkWriters.for_row_type(KIND),
        "orc": OrcBulkWriters.for_row_type(KIND),
        "csv": CsvBulkWriters.for_schema(SCHEMA),
        "avro": AvroBulkWriters.for_generic_record(AVRO),
    }
    env = environment(spark)
    stream = env.from_collection(RECORDS, KIND).rebalance().map(mortal, KIND)
    for name, factory in factories.items():
        stream.sink_to(sink(tmp_path / name, factory))
    env.execute()
    assert marker.exists()
    assert {name: len(files(tmp_path / name)) for name in factories} == dict.fromkeys(factories, 2)
    frames = {name: spark.read.format(name).load(str(tmp_path / name)) for name in ("parquet", "orc")}
    frames["csv"] = spark.read.csv(str(tmp_path / "csv"), schema="n long, word string")
    for frame in frames.values():
        assert sorted(map(tuple, frame.collect())) == PAIRS
    records = read(AvroReaderFormat.for_generic_record(AVRO), tmp_path / "avro", env=environment(spark))
    assert sorted(tuple(record.values()) for record in records) == PAIRS


@pytest.mark.parametrize("parallelism", [1, 3])
def test_what_spark_writes_is_read(spark, tmp_path, parallelism):
    frame = spark.createDataFrame(PAIRS, "n long, word string").repartition(3)
    frame.write.parquet(str(tmp_path / "parquet"))
    frame.write.json(str(tmp_path / "json"), compression="gzip")
    frame.write.csv(str(tmp_path / "csv"))
    formats = {
        "parquet": ParquetColumnarRowInputFormat(KIND),
        "json": JsonReaderFormat.for_row_type(KIND),
        "csv": CsvReaderFormat.for_schema(SCHEMA),
    }
    for name, file_format in formats.items():
        records = read(file_format, tmp_path / name, env=environment(spark, parallelism))
        assert sorted(records, key=lambda row: row.n) == RECORDS


@pytest.mark.parametrize("name", ["csv", "json", "avro"])
def test_files_become_columns_on_spark(spark, tmp_path, name):
    lines = [f'{row.n},"{row.word}"' if row.n % 90 else f'"{row.n}" ,"{row.word}"' for row in RECORDS]
    objects = [json.dumps({"n": row.n, "word": row.word, "more": None}) for row in RECORDS]
    (tmp_path / "csv").write_text("\n".join(lines))
    (tmp_path / "json").write_text("\n".join(objects))
    with (tmp_path / "avro").open("wb") as file:
        fastavro.writer(file, json.loads(str(AVRO)), [row.as_dict() for row in RECORDS], sync_interval=500)
    formats = {
        "csv": CsvReaderFormat.for_schema(SCHEMA),
        "json": JsonReaderFormat.for_row_type(KIND),
        "avro": AvroReaderFormat.for_generic_record(AVRO),
    }
    source = FileSource.for_record_stream_format(formats[name], str(tmp_path / name)).build()
    for way in ("auto", "off"):
        env = StreamExecutionEnvironment.get_execution_environment(
            Configuration().set_string("penstock.native", way), spark=spark
        ).set_parallelism(2)
        rows = env.from_source(source, WatermarkStrategy.no_watermarks(), "files").rebalance()
        pairs = rows.filter(lambda row: row["n"] % 3 == 0).map(lambda row: (row["n"], row["word"].upper()))
        with pairs.execute_and_collect() as records:
            assert sorted(records) == [(n, word.upper()) for n, word in PAIRS if n % 3 == 0], way


def test_types_that_spark_has_too(spark, tmp_path):
    kinds = {"day": D.DATE(), "at": D.TIMESTAMP_LTZ(), "money": D.DECIMAL(10, 2), "list": D.ARRAY(D.INT())}
    kinds["map"] = D.MAP(D.STRING(), D.ROW([D.FIELD("x", D.DOUBLE())]))
    row_type = D.ROW([D.FIELD(*field) for field in kinds.items()])
    names = tuple(kinds)
    values = [date(2020, 1, 1), Instant(1_600_000_000, 5_000), Decimal("1.50"), [1, None], {"a": Row(x=0.5)}]
    records = [Row.of_values(values, names), Row.of_values([None] * 5, names)]
    env = environment(spark, 1)
    env.from_collection(records).sink_to(sink(tmp_path / "ours", ParquetBulkWriters.for_row_type(row_type)))
    env.execute()
    frame = spark.read.parquet(str(tmp_path / "ours"))
    first = frame.where("day is not null").selectExpr("unix_micros(at)", "money", "list", "map['a'].x").first()
    assert tuple(first) == (1_600_000_000_000_005, Decimal("1.50"), [1, None], 0.5)
    frame.write.parquet(str(tmp_path / "theirs"))
    result = read(ParquetColumnarRowInputFormat(row_type), tmp_path / "theirs", env=environment(spark, 1))
    assert sorted(result, key=str) == sorted(records, key=str)
