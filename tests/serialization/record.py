"""Records what Flink's own schemas make of the cases: ``python -m tests.serialization.record PYTHON AVRO_JAR``."""

from __future__ import annotations

import ast
import gzip
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

GOLDEN = Path(__file__).parent / "golden.json.gz"


class Case(NamedTuple):
    format: str
    type: str
    message: str
    options: tuple[tuple[object, ...], ...] = ()
    writer: tuple[tuple[object, ...], ...] = ()

    @property
    def key(self) -> str:
        return repr(tuple(self))


def all_cases() -> list[Case]:
    return [Case(*ast.literal_eval(key)) for key in read()]


def read() -> dict[str, list[Any]]:
    """What was recorded, by the key of the case."""
    return json.loads(gzip.decompress(GOLDEN.read_bytes()))


def attempt(call: Any, *arguments: Any) -> Any:
    """What a call gives, or the exceptions."""
    from py4j.protocol import Py4JError

    try:
        return call(*arguments)
    except (Py4JError, TypeError) as error:
        java = getattr(error, "java_exception", None)
        return {"error": str(error) if java is None else java.toString()}


@cache
def row_type(text: str) -> Any:
    from pyflink.common import Types

    return eval(text, {"Types": Types})


def opened(schema: Any) -> Any:
    """A schema as a task has it."""
    schema.open(None)
    return schema


def configured(builder: Any, calls: Any) -> Any:
    for name, *arguments in calls:
        builder = getattr(builder, name)(*arguments)
    return builder


@cache
def json_reader(type_: str, options: Any) -> Any:
    from pyflink.datastream.formats.json import JsonRowDeserializationSchema

    builder = JsonRowDeserializationSchema.builder().type_info(row_type(type_))
    return opened(configured(builder, options).build()._j_deserialization_schema)


@cache
def csv_reader(type_: str, options: Any) -> Any:
    from pyflink.datastream.formats.csv import CsvRowDeserializationSchema

    builder = CsvRowDeserializationSchema.Builder(row_type(type_))
    return opened(configured(builder, options).build()._j_deserialization_schema)


def written(writer: Any, row: Any, *arguments: Any) -> Any:
    answer = writer(*arguments)
    return answer if isinstance(answer, dict) else bytes(answer.serialize(row)).decode()


@cache
def json_writer(type_: str) -> Any:
    from pyflink.datastream.formats.json import JsonRowSerializationSchema

    builder = JsonRowSerializationSchema.builder().with_type_info(row_type(type_))
    return opened(builder.build()._j_serialization_schema)


@cache
def csv_writer(type_: str, options: Any) -> Any:
    from pyflink.datastream.formats.csv import CsvRowSerializationSchema

    builder = attempt(CsvRowSerializationSchema.Builder, row_type(type_))
    if isinstance(builder, dict):
        return builder
    schema = attempt(lambda: configured(builder, options).build()._j_serialization_schema)
    return schema if isinstance(schema, dict) else opened(schema)


def rows(case: Any) -> list[Any]:
    """What JSON and CSV make of a case: the record, then its texts."""
    reader = attempt({"json": json_reader, "csv": csv_reader}[case.format], case.type, case.options)
    if isinstance(reader, dict):
        return [reader]
    row = attempt(reader.deserialize, case.message.encode())
    if isinstance(row, dict) or row is None:
        return [row]
    in_json = attempt(written, json_writer, row, case.type)
    return [row.toString(), in_json, attempt(written, csv_writer, row, case.type, case.writer)]


def schema(case: Any) -> list[Any]:
    """The type that a JSON schema gives."""
    from pyflink.java_gateway import get_gateway

    convert = get_gateway().jvm.org.apache.flink.formats.json.JsonRowSchemaConverter.convert
    answer = attempt(convert, case.message)
    return [answer if isinstance(answer, dict) else answer.toString()]


def avro(case: Any) -> list[Any]:
    """A record in Avro, in hexadecimal digits, what is read back, and the type."""
    from pyflink.java_gateway import get_gateway

    package = get_gateway().jvm.org.apache.flink.formats.avro
    row = attempt(json_reader(case.options[0][0], ()).deserialize, case.message.encode())
    writer = attempt(package.AvroRowSerializationSchema, case.type)
    written = writer if isinstance(writer, dict) else attempt(writer.serialize, row)
    reader = attempt(package.AvroRowDeserializationSchema, case.type)
    produced = reader if isinstance(reader, dict) else reader.getProducedType().toString()
    if isinstance(written, dict) or isinstance(reader, dict):
        return [written if isinstance(written, dict) else bytes(written).hex(), None, produced]
    back = attempt(reader.deserialize, written)
    return [bytes(written).hex(), back if isinstance(back, dict) else back.toString(), produced]


def width(case: Any) -> list[Any]:
    """What a schema of another width writes: its text, of Avro in hexadecimal digits."""
    from pyflink.java_gateway import get_gateway

    row = json_reader(case.type, ()).deserialize(case.message.encode())
    ((format_, type_),) = case.options
    if format_ == "avro":
        writer = get_gateway().jvm.org.apache.flink.formats.avro.AvroRowSerializationSchema(type_)
        answer = attempt(writer.serialize, row)
        return [answer if isinstance(answer, dict) else bytes(answer).hex()]
    if format_ == "csv":
        return [attempt(written, csv_writer, row, type_, ())]
    return [attempt(written, json_writer, row, type_)]


def record(new: str) -> None:
    """Ask the real schemas, in an interpreter that has PyFlink. ``new``: a JSON list of the keys of new cases."""
    ask = {"json": rows, "csv": rows, "schema": schema, "avro": avro, "width": width}
    cases = [*all_cases(), *(Case(*ast.literal_eval(key)) for key in json.loads(new))]
    answers = {case.key: ask[case.format](case) for case in cases}
    packed = gzip.compress(json.dumps(answers, indent=0, ensure_ascii=False, sort_keys=True).encode(), mtime=0)
    GOLDEN.write_bytes(packed)


def main(python: str, jar: str, *new: str) -> None:
    """Run this file by the other interpreter."""
    command = [python, "-m", "tests.serialization.record", "--inside", json.dumps(new)]
    java = {"JAVA_TOOL_OPTIONS": "-Duser.timezone=UTC", "HADOOP_CLASSPATH": str(Path(jar).resolve())}
    subprocess.run(command, check=True, env={**os.environ, "TZ": "UTC", **java})
    print(f"{GOLDEN}: {len(read())} cases")


if __name__ == "__main__":
    record(sys.argv[2]) if sys.argv[1] == "--inside" else main(*sys.argv[1:])
