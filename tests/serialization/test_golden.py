"""What the schemas make of the cases is what Flink's own made of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from penstock.common import Types
from penstock.common.typeinfo import RowTypeInfo
from penstock.connectors.schemas.json_types import type_of_schema
from penstock.datastream.schemas import (
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from penstock.errors import InvalidProgramError, SerializationError
from penstock.runtime.io.text import file_text
from tests.serialization.record import Case, all_cases, configured, read

WRITTEN = "Types.ROW_NAMED(['a', 'n', 'r', 's'],"
"""The type of the records that CSV schemas of all options write."""
FAILED = {"error": ""}
"""Instead of what a schema gives."""


OTHERWISE = (
    ("[Types.INSTANT()]", "refused: nobody reads it back in the other schemas"),
    ("Types.TUPLE(", "refused: Jackson writes a tuple's arity, and cannot read that"),
    ("Types.PICKLED_BYTE_ARRAY()", "refused: what is pickled is no JSON"),
    ("Types.LIST(", "elements are of the declared type; Flink's are what Jackson likes, and fail when they travel"),
    ("\\ud83d", "the text of half a character is Python's"),
    ("+12026", "Python's years end with 9999"),
    ('"a": 3}', "a map of Java's has an order of its own"),
    ("56.123456789", "Python has microseconds"),
    ("56.1234567Z", "Python has microseconds"),
    ("123456789.123", "Java 17 writes a digit more of a float than it needs"),
)
"""What is otherwise in a case, and why."""
NO_TEXT = ("Types.PRIMITIVE_ARRAY(Types.BYTE())", "Types.MAP(")
"""Types without a text in the order of Java's."""


def cases_of(format_: str, *, written: bool = False) -> list[Case]:
    return [case for case in all_cases() if case.format == format_ and case.type.startswith(WRITTEN) == written]


@cache
def recorded() -> dict[str, list[Any]]:
    """What Flink's schemas gave."""
    return read()


@cache
def row_type(text: str) -> RowTypeInfo:
    """The type that an expression gives."""
    return eval(text, {"Types": Types})


def attempt(call: Callable[..., Any], *arguments: object) -> Any:
    """What a call gives, or that it has failed."""
    try:
        return call(*arguments)
    except (SerializationError, InvalidProgramError):
        return FAILED


@cache
def json_reader(type_: str, options: tuple[Any, ...]) -> Any:
    return attempt(
        lambda: configured(JsonRowDeserializationSchema.builder().type_info(row_type(type_)), options).build()
    )


@cache
def json_writer(type_: str) -> Any:
    return attempt(lambda: JsonRowSerializationSchema.builder().with_type_info(row_type(type_)).build())


@cache
def csv_reader(type_: str, options: tuple[Any, ...]) -> Any:
    return attempt(lambda: configured(CsvRowDeserializationSchema.Builder(row_type(type_)), options).build())


@cache
def csv_writer(type_: str, options: tuple[Any, ...]) -> Any:
    return attempt(lambda: configured(CsvRowSerializationSchema.Builder(row_type(type_)), options).build())


def results_of(case: Case, reader: Any) -> list[Any]:
    """What our schemas make of a case: the record's text, then its JSON and its CSV."""
    row = FAILED if reader is FAILED else attempt(reader.deserialize, case.message.encode())
    if row is FAILED or row is None:
        return [row]
    writers = (json_writer(case.type), csv_writer(case.type, case.writer))
    texts = [FAILED if writer is FAILED else attempt(writer.serialize, row) for writer in writers]
    return [file_text(row_type(case.type))(row), *texts]


def compared(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether what was made is what was recorded, as far as both wrote something."""
    for our, their in zip(ours, theirs, strict=True):
        failed = isinstance(their, dict)
        if failed != (our is FAILED) or (not failed and our != (their.encode() if isinstance(our, bytes) else their)):
            return False
    return True


def differing(cases: list[Case], reader: Callable[[Case], Any]) -> list[str]:
    """The cases where we are not Flink."""
    texts = []
    for case in cases:
        ours, theirs = results_of(case, reader(case)), recorded()[case.key]
        if any(part in f"{case.type} {case.message}" for part, _ in OTHERWISE):
            continue
        if any(part in case.type for part in NO_TEXT):
            ours, theirs = ours[1:], theirs[1:]
        if len(ours) != len(theirs) or not compared(ours, theirs):
            texts.append(f"{case.type} {case.options} {case.message!r}: {ours} instead of {theirs}")
    return texts


def test_json_is_read_and_written_as_flink_does() -> None:
    cases = cases_of("json")
    assert len(cases) > 3_000
    assert differing(cases, lambda case: json_reader(case.type, case.options)) == []


def test_csv_is_read_and_written_as_flink_does() -> None:
    cases = cases_of("csv")
    assert len(cases) > 2_000
    assert differing(cases, lambda case: csv_reader(case.type, case.options)) == []


def test_csv_has_the_quotation_marks_that_flink_writes() -> None:
    cases = cases_of("json", written=True)
    assert len(cases) > 200
    assert differing(cases, lambda case: json_reader(case.type, case.options)) == []


def test_json_schemas_mean_the_types_that_flink_says() -> None:
    cases = cases_of("schema")
    assert len(cases) > 30
    for case in cases:
        theirs = recorded()[case.key][0]
        answer = attempt(type_of_schema, case.message, "json_schema")
        if any(part in case.message for part in ('"n": {"type": "null"}', "// loose", "/* comment")):
            assert answer is FAILED, "null alone, and what is not quite JSON"
        else:
            ours = "" if answer is FAILED else answer.java_name.replace("Row()", "Row")
            assert ours == ("" if isinstance(theirs, dict) else theirs.replace("BasicArray", "ObjectArray"))


def test_rows_of_another_width_are_written_as_flink_does() -> None:
    cases = cases_of("width")
    assert len(cases) >= 40
    wrong = []
    for case in cases:
        record = json_reader(case.type, ()).deserialize(case.message.encode())
        ((format_, type_),) = case.options
        if format_ == "avro":
            writer = AvroRowSerializationSchema(avro_schema_string=str(type_))
        else:
            writer = json_writer(type_) if format_ == "json" else csv_writer(type_, ())
        (theirs,), ours = recorded()[case.key], attempt(writer.serialize, record)
        if ours is not FAILED:
            ours = ours.hex() if format_ == "avro" else ours.decode()
        if ours != (FAILED if isinstance(theirs, dict) else theirs):
            wrong.append((case.message, case.options, ours, theirs))
    assert wrong == []


def test_avro_is_read_and_written_as_flink_does() -> None:
    """But for decimals with fewer digits than the schema's, of which Flink writes another number; for what is longer
    than its fixed size, which Flink cuts; and for days before 1582, which are Julian in Java."""
    cases, otherwise = cases_of("avro"), []
    assert len(cases) > 50
    for case in cases:
        record = json_reader(case.options[0][0], ()).deserialize(case.message.encode())
        writer = AvroRowSerializationSchema(avro_schema_string=case.type)
        reader = AvroRowDeserializationSchema(avro_schema_string=case.type)
        written = attempt(writer.serialize, record)
        theirs = recorded()[case.key]
        if written is FAILED or isinstance(theirs[0], dict):
            if (written is FAILED) != isinstance(theirs[0], dict):
                otherwise.append(case.message)
        elif written.hex() != theirs[0]:
            otherwise.append(case.message)
        else:
            read_back, text = reader.deserialize(written), file_text(reader.get_produced_type())
            assert "Map" in theirs[2] or text(read_back).replace("None", "null") == theirs[1]
            assert reader.deserialize(writer.serialize(read_back)) == read_back or "NaN" in case.message
        ours = reader.get_produced_type().java_name
        assert ours.replace("PythonPickled", "") == _as_ours(theirs[2])
    longer, early = ('{"v": "aGkh"}',), ('{"v": "1500-01-01"}',)
    assert sorted(otherwise) == sorted([*longer, *early, *(f'{{"v": {n}}}' for n in ("-1.5", "12", "12.34", "128.00"))])


def _as_ours(type_text: str) -> str:
    """The text of a type as ours: one array, and no class of Java."""
    text = type_text.replace("BasicArray", "ObjectArray").replace("GenericType<java.lang.Object>", "")
    return text.replace("Void", "")
