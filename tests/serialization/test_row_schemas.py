"""The schemas for rows: what they refuse, what their errors say, and that they travel."""

from __future__ import annotations

import json
import pickle
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Row, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.kafka import KafkaRecordSerializationSchema
from penstock.datastream.schemas import (
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from penstock.errors import InvalidProgramError, SerializationError, UnsupportedError

PAIR = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
ORDER = Types.ROW_NAMED(["lines"], [Types.OBJECT_ARRAY(Types.ROW_NAMED(["price"], [Types.BIG_DEC()]))])


def json_in(type_info: Any = PAIR) -> JsonRowDeserializationSchema:
    return JsonRowDeserializationSchema.builder().type_info(type_info).build()


def json_out(type_info: Any = PAIR) -> JsonRowSerializationSchema:
    return JsonRowSerializationSchema.builder().with_type_info(type_info).build()


def test_rows_have_the_names_of_the_type() -> None:
    row = json_in(ORDER).deserialize(b'{"lines": [{"price": 9.90}, {"price": "1e2"}]}')
    assert row == Row(lines=[Row(price=Decimal("9.9")), Row(price=Decimal("1E+2"))])
    assert CsvRowDeserializationSchema.Builder(PAIR).build().deserialize(b"1,x").name == "x"


def test_records_are_taken_by_name_or_by_position() -> None:
    for record in (Row(1, "x"), Row(name="x", id=1), {"name": "x", "id": 1}, (1, "x"), [1, "x"]):
        assert json_out().serialize(record) == b'{"id":1,"name":"x"}'
        assert CsvRowSerializationSchema.Builder(PAIR).build().serialize(record) == b"1,x\n"


@pytest.mark.parametrize(
    ("schema", "message", "error"),
    [
        (json_in(), b'{"id": "x"}', "the field 'id' is 'x', which is not a whole number of 32 bits."),
        (json_in(ORDER), b'{"lines": [{}, {"price": "y"}]}', "'lines[1].price' is 'y', which is not a decimal"),
        (json_in(), b'{"id": 1', "Expecting ',' delimiter"),
        (json_in(), b"[]", r"the record is \[\], which is not a JSON object"),
        (
            CsvRowDeserializationSchema.Builder(PAIR).build(),
            b"x,y",
            "the field 'id' is 'x', which is not a whole number",
        ),
        (CsvRowDeserializationSchema.Builder(PAIR).build(), b"1", "has 1 fields, and the type has 2"),
        (CsvRowDeserializationSchema.Builder(PAIR).build(), b"\xff,1", "can't decode byte 0xff"),
    ],
)
def test_an_error_of_reading_names_field_value_and_message(schema: Any, message: bytes, error: str) -> None:
    with pytest.raises(SerializationError, match=error.replace("[1]", r"\[1\]")) as refused:
        schema.deserialize(message)
    assert f"The message is {message!r}." in str(refused.value)
    assert "ignore_parse_errors" in str(refused.value)
    assert refused.value.flink_class == "java.io.IOException"


@pytest.mark.parametrize(
    ("type_info", "record", "error"),
    [
        (PAIR, Row("x", "y"), "the field 'id' is 'x', which is not a whole number"),
        (PAIR, Row(2**31, "y"), "the field 'id' is 2147483648, which does not fit into 32 bits"),
        (PAIR, Row(1), "the record is .*, which has 1 fields, and its type has 2: id, name"),
        (PAIR, 5, "the record is 5, which is not a row"),
        (Types.ROW_NAMED(["v"], [Types.BASIC_ARRAY(Types.INT())]), Row([1, "x"]), r"the field 'v(\[1\])?' is 'x'"),
    ],
)
def test_an_error_of_writing_names_field_and_value(type_info: Any, record: Any, error: str) -> None:
    for schema in (json_out(type_info), CsvRowSerializationSchema.Builder(type_info).build()):
        with pytest.raises(SerializationError, match=error):
            schema.serialize(record)


def test_a_key_is_the_first_fields_of_the_record() -> None:
    key = json_out(Types.ROW_NAMED(["id"], [Types.INT()]))
    builder = KafkaRecordSerializationSchema.builder().set_topic("orders").set_key_serialization_schema(key)
    serialize = builder.set_value_serialization_schema(json_out()).build().runtime().opened(0, lambda topic: [0])
    assert serialize([Row(id=1, name="x"), (2, "y")], None) == [
        ("orders", -1, 0, b'{"id":1}', b'{"id":1,"name":"x"}', None),
        ("orders", -1, 0, b'{"id":2}', b'{"id":2,"name":"y"}', None),
    ]


def test_a_warning_tells_of_names_at_other_places(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        assert json_out(Types.ROW_NAMED(["tag"], [Types.INT()])).serialize(Row(id=1, tag="x")) == b'{"tag":1}'
        assert json_out(Types.ROW_NAMED(["renamed"], [Types.INT()])).serialize(Row(id=1, tag="x")) == b'{"renamed":1}'
    (record,) = caplog.records
    assert "by position, so 'tag' is the row's 'id'" in record.getMessage()


def test_parse_errors_can_be_ignored() -> None:
    lenient = JsonRowDeserializationSchema.builder().type_info(PAIR).ignore_parse_errors().build()
    assert lenient.deserialize(b'{"id": "x", "name": "y"}') == Row(id=None, name="y")
    assert lenient.deserialize(b"no JSON") is None
    csv = CsvRowDeserializationSchema.Builder(PAIR).set_ignore_parse_errors(True).build()
    assert csv.deserialize(b"x") == Row(id=None, name=None)


def test_wrong_settings_are_refused_when_they_are_made() -> None:
    builder = JsonRowDeserializationSchema.builder
    for call, error in (
        (lambda: builder().build(), "has no type yet"),
        (lambda: builder().type_info(Types.INT()), "a type of rows is expected"),
        (lambda: builder().type_info(PAIR).fail_on_missing_field().ignore_parse_errors().build(), "Leave one out"),
        (lambda: json_in(Types.ROW([Types.INSTANT()])), r"The field 'f0' has the type Types\.INSTANT\(\)"),
        (lambda: json_out(Types.ROW_NAMED(["t"], [Types.TUPLE([Types.INT()])])), "The field 't' has the type"),
        (lambda: builder().json_schema("{"), "is not JSON"),
        (lambda: builder().json_schema('{"type": "string"}'), "a type of rows is expected"),
        (lambda: JsonRowSerializationSchema.builder().build(), "has no type yet"),
        (lambda: CsvRowSerializationSchema.Builder(Types.ROW([Types.MAP(Types.INT(), Types.INT())])), "no form in CSV"),
        (lambda: CsvRowSerializationSchema.Builder(PAIR).set_field_delimiter("||"), "is one character"),
        (lambda: CsvRowSerializationSchema.Builder(PAIR).set_line_delimiter(";"), "it is one of"),
        (lambda: CsvRowDeserializationSchema.Builder(PAIR).set_array_element_delimiter(""), "it is empty"),
    ):
        with pytest.raises(InvalidProgramError, match=error):
            call()


def test_schemas_travel() -> None:
    lenient = JsonRowDeserializationSchema.builder().type_info(PAIR).ignore_parse_errors().build()
    lenient.deserialize(b"{}")
    assert pickle.loads(pickle.dumps(lenient)).deserialize(b"x") is None
    for schema in (json_out(), CsvRowSerializationSchema.Builder(PAIR).set_null_literal("-").build()):
        before = schema.serialize(Row(1, None))
        assert pickle.loads(pickle.dumps(schema)).serialize(Row(1, None)) == before
    assert json_in().get_produced_type() == PAIR
    assert repr(json_in()).startswith("JsonRowDeserializationSchema(Types.ROW_NAMED(['id', 'name']")


def test_schemas_work_in_a_program() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    reading, writing = json_in(), CsvRowSerializationSchema.Builder(PAIR).build()
    lines = env.from_collection([b'{"id": 1, "name": "a,b"}', b'{"id": 2}'])
    rows = lines.map(reading.deserialize, output_type=reading.get_produced_type())
    assert list(rows.map(writing.serialize).execute_and_collect()) == [b'1,"a,b"\n', b"2,\n"]


AVRO = """{"type": "record", "name": "Order", "fields": [
    {"name": "id", "type": "int"}, {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9,
    "scale": 2}}, {"name": "next", "type": ["null", "string"]}]}"""


def test_avro_by_a_schema() -> None:
    writing = AvroRowSerializationSchema(avro_schema_string=AVRO)
    reading = pickle.loads(pickle.dumps(AvroRowDeserializationSchema(avro_schema_string=AVRO)))
    row = Row(id=1, price=Decimal("9.90"), next=None)
    for record in (row, (1, Decimal("9.9"), None), {"id": 1, "price": Decimal("9.9")}):
        assert reading.deserialize(writing.serialize(record)) == row
    assert reading.get_produced_type().get_field_names() == ["id", "price", "next"]


def test_errors_of_avro() -> None:
    writing = AvroRowSerializationSchema(avro_schema_string=AVRO)
    with pytest.raises(SerializationError, match=r"the field 'price' is .*, which has more than 2 digits"):
        writing.serialize(Row(1, Decimal("0.001"), None))
    with pytest.raises(SerializationError, match=r"AvroRowSerializationSchema: .*The record is Row\("):
        writing.serialize(Row(id="x", price=Decimal(1), next=None))
    with pytest.raises(SerializationError, match=r"AvroRowDeserializationSchema: .*The message is b''"):
        AvroRowDeserializationSchema(avro_schema_string=AVRO).deserialize(b"")
    with pytest.raises(UnsupportedError, match=r"record_class='org\.x\.Order'.*avro_schema_string"):
        AvroRowDeserializationSchema("org.x.Order")
    recursive = '{"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}'
    for schema, error in (
        (None, "avro_schema_string"),
        ("{", "not an Avro schema"),
        ('"int"', "a record's is needed"),
        ('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "what"}]}', "not an Avro schema"),
        (recursive, "contains itself"),
    ):
        with pytest.raises(InvalidProgramError, match=error):
            AvroRowSerializationSchema(avro_schema_string=schema)


SCALARS = {
    Types.STRING(): st.text(st.characters(exclude_categories=["Cs"])),
    Types.INT(): st.integers(-(2**31), 2**31 - 1),
    Types.LONG(): st.integers(-(2**63), 2**63 - 1),
    Types.BIG_INT(): st.integers(),
    Types.DOUBLE(): st.floats(allow_nan=False),
    Types.BOOLEAN(): st.booleans(),
    Types.BIG_DEC(): st.decimals(allow_nan=False, allow_infinity=False),
    Types.SQL_DATE(): st.dates(),
    Types.SQL_TIME(): st.times().map(lambda value: value.replace(microsecond=0)),
    Types.SQL_TIMESTAMP(): st.datetimes(),
    Types.PRIMITIVE_ARRAY(Types.BYTE()): st.binary(),
}


@st.composite
def rows(draw: st.DrawFn) -> tuple[Any, Row]:
    """A type of rows and a row of it, some fields arrays."""
    types = draw(st.lists(st.sampled_from(list(SCALARS)), min_size=1, max_size=4))
    arrays = [draw(st.booleans()) for _ in types]
    values = [
        draw(st.none() | (st.lists(SCALARS[kind] | st.none()) if array else SCALARS[kind]))
        for kind, array in zip(types, arrays, strict=True)
    ]
    fields = [Types.OBJECT_ARRAY(kind) if array else kind for kind, array in zip(types, arrays, strict=True)]
    return Types.ROW(fields), Row(*values)


@given(rows())
def test_what_json_writes_it_reads(drawn: tuple[Any, Row]) -> None:
    type_info, row = drawn
    message = json_out(type_info).serialize(row)
    assert list(json_in(type_info).deserialize(message) or ()) == list(row)
    assert list(json.loads(message)) == list(type_info.field_names)


@given(st.sampled_from(list(SCALARS)).flatmap(lambda kind: st.tuples(st.just(kind), SCALARS[kind] | st.none())))
def test_what_csv_writes_it_reads(drawn: tuple[Any, Any]) -> None:
    type_, value = drawn
    type_info = Types.ROW([Types.INT(), type_])
    line = CsvRowSerializationSchema.Builder(type_info).set_null_literal("\x00").build().serialize(Row(1, value))
    read = CsvRowDeserializationSchema.Builder(type_info).set_null_literal("\x00").build().deserialize(line)
    assert read == Row(f0=1, f1=None if value == "\x00" else value)
