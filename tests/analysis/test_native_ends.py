"""Whether records come out of sources, and go into sinks, as columns: the verdicts, and what the runtime does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fastavro
import pytest

from penstock.analysis.native_code import FunctionVerdict, verdicts_of
from penstock.common import Configuration, Row, Types, WatermarkStrategy
from penstock.common.data_types import DataTypes as D
from penstock.common.serialization import Encoder, SimpleStringSchema
from penstock.connectors.formats.native_avro import NativeBlocks
from penstock.connectors.schemas.json_rows import JsonRowDeserializationSchema, JsonRowSerializationSchema
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import BucketAssigner, FileSink, FileSource, HybridSource, StreamFormat
from penstock.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink, KafkaSource
from penstock.datastream.formats import (
    AvroInputFormat,
    AvroSchema,
    CsvBulkWriters,
    CsvReaderFormat,
    CsvSchema,
    JsonLinesEncoder,
    JsonReaderFormat,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from penstock.runtime.operators.sink import _BuiltinSink
from tests.running import collected

ROW = Types.ROW_NAMED(["name", "number"], [Types.STRING(), Types.LONG()])
FIELDS = D.ROW([D.FIELD("name", D.STRING()), D.FIELD("number", D.BIGINT())])
TIMED = D.ROW([D.FIELD("name", D.STRING()), D.FIELD("at", D.TIMESTAMP(3))])
MOMENTS = D.ROW([D.FIELD("name", D.STRING()), D.FIELD("at", D.TIMESTAMP_LTZ(3))])
DECIMAL = D.ROW([D.FIELD("price", D.DECIMAL(10, 2))])


def environment(**settings: str) -> StreamExecutionEnvironment:
    configuration = Configuration.from_dict({key.replace("__", "."): value for key, value in settings.items()})
    return StreamExecutionEnvironment.get_execution_environment(configuration, executor="local").set_parallelism(1)


def verdict(env: StreamExecutionEnvironment, role: str) -> FunctionVerdict:
    """The verdict of a role, of which the program has one."""
    parts = [part for operator in verdicts_of(env.to_pipeline("job")) for part in operator.functions]
    [result] = [part for part in parts if part.role == role]
    return result


class ByName(BucketAssigner[Any]):
    def get_bucket_id(self, element: Any, context: Any, /) -> str:
        return str(element)


class Upper(Encoder[Any]):
    def encode(self, element: Any, stream: Any) -> None:
        stream.write(str(element).upper().encode())


class Derived(FileSource[Any]):
    pass


def schema(row: Any) -> CsvSchema:
    builder = CsvSchema.builder()
    for field in row.fields:
        builder = (
            builder.add_number_column(field.name, field.data_type)
            if field.name != "name"
            else builder.add_string_column("name")
        )
    return builder.build()


def files(kind: Any, path: str = "/data") -> Any:
    return FileSource.for_record_stream_format(kind, path).build()


def kafka(**options: Any) -> Any:
    builder = KafkaSource.builder().set_bootstrap_servers("b:9092").set_topics("a")
    return builder.set_value_only_deserializer(options["schema"]).build()


SOURCES: dict[str, tuple[Any, str]] = {
    "texts": (files(StreamFormat.text_line_format()), ""),
    "texts in Latin 1": (files(StreamFormat.text_line_format("latin-1")), "its charset is latin-1"),
    "derived": (
        Derived(("/data",), StreamFormat.text_line_format(), splittable=False, bounded=True),
        "Derived may read otherwise",
    ),
    "JSON": (files(JsonReaderFormat.for_row_type(FIELDS)), ""),
    "decimals in JSON": (files(JsonReaderFormat.for_row_type(DECIMAL)), "in JSON"),
    "CSV": (files(CsvReaderFormat.for_schema(schema(FIELDS))), ""),
    "Kafka, texts": (kafka(schema=SimpleStringSchema()), ""),
    "Kafka, Latin 1": (kafka(schema=SimpleStringSchema("latin-1")), "what its SimpleStringSchema does"),
    "Kafka, JSON": (kafka(schema=JsonRowDeserializationSchema.builder().type_info(ROW).build()), ""),
}


@pytest.mark.parametrize("source", SOURCES)
def test_sources(source: str) -> None:
    end, reason = SOURCES[source]
    env = environment()
    env.from_source(end, WatermarkStrategy.no_watermarks(), "source").print()
    result = verdict(env, "source")
    assert result.verdict == ("Python" if reason else "native"), result
    assert reason in result.reason


@pytest.mark.parametrize(
    ("row", "reason"), [(FIELDS, ""), (TIMED, ""), (MOMENTS, "values of 'at', which are TIMESTAMP_LTZ")]
)
def test_parquet(row: Any, reason: str) -> None:
    env = environment()
    source = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(row_type=row), "/data").build()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "source").print()
    result = verdict(env, "source")
    assert (result.verdict == "native") == (not reason)
    assert reason in result.reason


def test_several_sources_in_a_row_have_the_reason_of_one() -> None:
    env = environment()
    both = HybridSource.builder(SOURCES["texts"][0]).add_source(SOURCES["texts in Latin 1"][0]).build()
    env.from_source(both, WatermarkStrategy.no_watermarks(), "both").print()
    assert verdict(env, "source").reason == "its charset is latin-1, and native code reads UTF-8"


RECORD = """{"type": "record", "name": "Number", "fields": [{"name": "n", "type": "long"}]}"""


@pytest.mark.parametrize("native", ["auto", "off"])
def test_files_that_are_found_by_another_operator(native: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(tmp_path / "numbers.avro", "wb") as file:
        fastavro.writer(file, json.loads(RECORD), [{"n": n} for n in range(100)])
    runs: list[Any] = []
    records = NativeBlocks.records

    def noted(blocks: Any, some: Any) -> Any:
        runs.append(records(blocks, some))
        return runs[-1]

    monkeypatch.setattr(NativeBlocks, "records", noted)
    env = environment(penstock__native=native)
    numbers = env.create_input(AvroInputFormat(str(tmp_path), AvroSchema.parse_string(RECORD)))
    texts = env.read_text_file(str(tmp_path), "latin-1")
    texts.filter(lambda _: False).print()
    parts = [part for operator in verdicts_of(env.to_pipeline("job")) for part in operator.functions]
    reasons = [part.reason for part in parts if part.role == "source"]
    assert reasons == ["", "its charset is latin-1, and native code reads UTF-8"]
    assert sorted(collected(numbers.map(lambda record: record["n"] + 1, Types.LONG()))) == [*range(1, 101)]
    assert [run is not None for run in runs] == [True] * (native == "auto")


def rows_into(encoder: Any, assigner: Any = None) -> Any:
    builder = FileSink.for_row_format("/data", encoder)
    return (builder if assigner is None else builder.with_bucket_assigner(assigner)).build()


def messages(**options: Any) -> Any:
    builder = KafkaRecordSerializationSchema.builder()
    builder = builder.set_topic_selector(options["selector"]) if "selector" in options else builder.set_topic("t")
    builder = builder.set_value_serialization_schema(options.get("value", SimpleStringSchema()))
    if "key" in options:
        builder = builder.set_key_serialization_schema(options["key"])
    return KafkaSink.builder().set_bootstrap_servers("b:9092").set_record_serializer(builder.build()).build()


TEXTS, JSON = Encoder.simple_string_encoder(), JsonLinesEncoder(FIELDS)
COUNTS = Types.MAP(Types.STRING(), Types.LONG())

SINKS: dict[str, tuple[Any, Any, str]] = {
    "texts": (rows_into(TEXTS), Types.STRING(), ""),
    "a folder for each": (rows_into(TEXTS, ByName()), Types.STRING(), "its bucket depends on the record"),
    "by the clock": (rows_into(TEXTS, BucketAssigner.date_time_bucket_assigner()), Types.STRING(), ""),
    "lists as texts": (rows_into(TEXTS), Types.LIST(Types.LONG()), ""),
    "maps as texts": (rows_into(TEXTS), COUNTS, "as text"),
    "in Latin 1": (rows_into(Encoder.simple_string_encoder("latin-1")), Types.STRING(), "its charset is latin-1"),
    "JSON": (rows_into(JSON), ROW, ""),
    "another encoder": (rows_into(Upper()), Types.STRING(), "its encoder Upper is called for each record"),
    "Parquet": (FileSink.for_bulk_format("/data", ParquetBulkWriters.for_row_type(FIELDS)).build(), ROW, ""),
    "CSV": (FileSink.for_bulk_format("/data", CsvBulkWriters.for_schema(schema(FIELDS))).build(), ROW, ""),
    "Kafka": (messages(), Types.STRING(), ""),
    "Kafka, JSON": (messages(value=JsonRowSerializationSchema.builder().with_type_info(ROW).build()), ROW, ""),
    "Kafka, keys": (messages(key=SimpleStringSchema()), Types.STRING(), "its records have keys"),
    "Kafka, topics": (messages(selector=lambda text: text), Types.STRING(), "its topic depends on the record"),
    "Kafka, Latin 1": (messages(value=SimpleStringSchema("latin-1")), Types.STRING(), "what its SimpleStringSchema"),
}


@pytest.mark.parametrize("sink", SINKS)
def test_sinks(sink: str) -> None:
    end, record_type, reason = SINKS[sink]
    env = environment()
    env.from_collection([], record_type).sink_to(end)
    result = verdict(env, "sink")
    assert result.verdict == ("Python" if reason else "native"), result
    assert reason in result.reason


ENDS: dict[str, tuple[Any, Any, dict[str, str], str]] = {
    "print": (lambda stream, _: stream.print(), Types.STRING(), {}, ""),
    "print lists": (lambda stream, _: stream.print(), Types.LIST(Types.LONG()), {}, ""),
    "print maps": (lambda stream, _: stream.print(), COUNTS, {}, "does not show"),
    "print checked": (lambda s, _: s.print(), Types.STRING(), {"penstock__types__check": "true"}, "is checked"),
    "print floats": (lambda stream, _: stream.print(), Types.FLOAT(), {"penstock__pyflink": "true"}, "is converted"),
    "a text file": (lambda stream, path: stream.write_as_text(path), Types.LONG(), {}, ""),
    "a text file of lists": (lambda s, path: s.write_as_text(path), Types.LIST(Types.LONG()), {}, ""),
    "a text file of maps": (lambda s, path: s.write_as_text(path), COUNTS, {}, "as text"),
    "files": (lambda s, path: s.sink_to(FileSink.for_row_format(path, TEXTS).build()), Types.LONG(), {}, ""),
    "folders": (
        lambda s, path: s.sink_to(FileSink.for_row_format(path, TEXTS).with_bucket_assigner(ByName()).build()),
        *(Types.STRING(), {}, "its bucket"),
    ),
    "collected": (lambda stream, _: stream.execute_and_collect(), Types.LONG(), {}, "this sink takes objects"),
}
VALUES: list[tuple[Any, Any]] = [
    (Types.STRING(), "a"),
    (Types.LONG(), 5),
    (Types.FLOAT(), 0.5),
    (Types.LIST(Types.LONG()), [1]),
    (COUNTS, {"a": 1}),
]


@pytest.mark.parametrize("end", ENDS)
def test_the_runtime_does_so(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add, record_type, settings, reason = ENDS[end]
    takers: list[Any] = []
    columns = _BuiltinSink.columns

    def noted(sink: Any, number: int) -> Any:
        takers.append(columns(sink, number))
        return takers[-1]

    monkeypatch.setattr(_BuiltinSink, "columns", noted)
    env = environment(**settings)
    value = next(value for of_type, value in VALUES if of_type == record_type)
    stream = env.from_collection([value], record_type).map(lambda value: value, record_type)
    result = add(stream, str(tmp_path / "out"))
    if end == "collected":
        with result as records:
            assert list(records) == [value]
    else:
        result = verdict(env, "sink")
        assert result.verdict == ("Python" if reason else "native")
        assert reason in result.reason
        env.execute()
    assert takers
    assert [taker is None for taker in takers] == [bool(reason)] * len(takers)


def test_functions_of_the_program_are_named_as_before() -> None:
    env = environment()
    env.from_collection([Row("a", 1)], ROW).add_sink(print)
    assert verdict(env, "sink").function == "print"
