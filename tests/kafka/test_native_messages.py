"""Messages that native code reads and writes are those of their schemas."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Configuration, Row, Types
from penstock.common.serialization import ByteArraySchema, SimpleStringSchema
from penstock.connectors.kafka import messages
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import KafkaRecordSerializationSchema
from penstock.datastream.schemas import (
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from penstock.runtime import native
from penstock.runtime.operators.sink import _BuiltinSink
from tests.kafka.topics import NONE, Topics

INNER = Types.ROW_NAMED(["x", "y"], [Types.DOUBLE(), Types.BOOLEAN()])
NAMES = ["id", "a name", "small", "inner"]
TYPE = Types.ROW_NAMED(NAMES, [Types.LONG(), Types.STRING(), Types.INT(), INNER])
AVRO = json.dumps(
    {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "name", "type": ["null", "string"]},
            {"name": "small", "type": ["int", "null"]},
            {
                "name": "inner",
                "type": {
                    "type": "record",
                    "name": "I",
                    "fields": [{"name": "x", "type": "double"}, {"name": "y", "type": ["null", "boolean"]}],
                },
            },
        ],
    }
)


def json_in(**flags: bool) -> JsonRowDeserializationSchema:
    builder = JsonRowDeserializationSchema.builder().type_info(TYPE)
    for flag in flags:
        getattr(builder, flag)()
    return builder.build()


JSON_OUT = JsonRowSerializationSchema.builder().with_type_info(TYPE).build()
AVRO_IN = AvroRowDeserializationSchema(avro_schema_string=AVRO)
AVRO_OUT = AvroRowSerializationSchema(avro_schema_string=AVRO)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ['"\\/\x00\x1f\x7f', "\U0001f600 é", "\n\r\t\x08\x0c"]
)
FLOAT = st.floats() | st.sampled_from([-0.0, 1e7, 1e-3, 9.99e-4, 5e-324])
ROW = st.builds(
    lambda number, name, small, x, y: Row(number, name, small, Row(x, y)),
    st.integers(-(2**63), 2**63 - 1),
    st.none() | TEXT,
    st.none() | st.integers(-(2**33), 2**33),
    FLOAT,
    st.none() | st.booleans(),
)


def functions() -> Any:
    functions = native.functions()
    if functions is None:
        pytest.skip("the native module is missing")
    return functions


@given(st.lists(ROW, min_size=1, max_size=6))
@pytest.mark.parametrize("schema", [JSON_OUT, AVRO_OUT], ids=["json", "avro"])
def test_rows_have_the_bytes_of_the_schema(schema: Any, rows: list[Row]) -> None:
    layout = messages.layout_of(functions(), schema)
    written = 0
    for row in rows:
        batch = functions().Batch.of([row])
        values, _, doubtful = layout.messages(batch, 0, 1)
        if not doubtful:
            assert values == [schema.serialize(row)]
            written += 1
    fits = [row for row in rows if -(2**31) <= (row[2] or 0) < 2**31]
    assert written >= len(fits)


NODE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*NAMES, "x", "y", "z"]), inner),
    max_leaves=8,
)
OBJECT = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(-(2**64), 2**64) | st.none() | NODE,
        "a name": TEXT | NODE,
        "small": st.integers(-(2**32), 2**32) | NODE,
        "inner": st.fixed_dictionaries({}, optional={"x": FLOAT | st.integers(), "y": st.booleans()}) | NODE,
        "other": NODE,
    },
)
MESSAGE = (
    st.builds(lambda node, plain: json.dumps(node, ensure_ascii=plain).encode(), OBJECT, st.booleans())
    | st.builds(lambda node: json.dumps(node).encode(), NODE)
    | st.binary(max_size=12)
    | st.sampled_from(
        [b"", b"{} x", b'\xef\xbb\xbf{"id": 1}', '{"id": 1}'.encode("utf-16"), b'{"id": 1, "id": 2}', b'{"id": 1.0}']
    )
    | st.sampled_from([b'{"a name": "\\ud800"}', b'{"id": 1e2}', b'{"inner": {"x": 1e999}}', b'{"inner": {"x": -0}}'])
)


def agrees(schema: Any, message: bytes) -> bool:
    """Whether native code reads the message; then it gives what the schema gives."""
    batch, end = messages.reading_of(functions(), schema, True).read([message], 0)
    if not end:
        return False
    (row,) = batch.objects()
    assert repr(row) == repr(schema.deserialize(message))
    return True


@given(MESSAGE)
@pytest.mark.parametrize("flags", [(), ("fail_on_missing_field",), ("ignore_parse_errors",)])
def test_objects_of_json_are_the_rows_of_the_schema(flags: tuple[str, ...], message: bytes) -> None:
    agrees(json_in(**dict.fromkeys(flags, True)), message)


@given(ROW.filter(lambda row: -(2**31) <= (row[2] or 0) < 2**31), st.binary(max_size=3))
def test_records_of_avro_are_the_rows_of_the_schema(row: Row, behind: bytes) -> None:
    message = AVRO_OUT.serialize(row)
    assert agrees(AVRO_IN, message + behind)
    for end in range(len(message)):
        assert not agrees(AVRO_IN, message[:end])


@given(st.binary(max_size=24))
def test_bytes_that_are_no_records_of_avro_are_in_doubt(message: bytes) -> None:
    agrees(AVRO_IN, message)


SINGLES = Types.ROW_NAMED(["s"], [Types.FLOAT()])
SINGLE_AVRO = {
    "type": "record",
    "name": "S",
    "fields": [{"name": "s", "type": ["null", "float"]}, {"name": "b", "type": "bytes"}],
}


@given(st.floats() | st.integers(-(2**63), 2**63 - 1) | st.sampled_from([3.4028235677973366e38, 1e39, 1e-46]))
def test_single_floats_of_json(number: float) -> None:
    schema = JsonRowDeserializationSchema.builder().type_info(SINGLES).build()
    assert agrees(schema, json.dumps({"s": number}).encode()) == math.isfinite(number)
    for text in (b'{"s": 1e999}', b'{"s": "1.5"}', b'{"s": null}'):
        agrees(schema, text)


@given(st.none() | st.floats(width=32), st.binary(max_size=5))
def test_single_floats_and_bytes_of_avro(number: float | None, data: bytes) -> None:
    message = io.BytesIO()
    fastavro.schemaless_writer(message, SINGLE_AVRO, {"s": number, "b": data})
    assert agrees(AvroRowDeserializationSchema(avro_schema_string=json.dumps(SINGLE_AVRO)), message.getvalue())
    written = AvroRowSerializationSchema(avro_schema_string=json.dumps(SINGLE_AVRO))
    assert messages.layout_of(functions(), written) is None


def test_usual_messages_are_read_natively() -> None:
    assert agrees(json_in(), JSON_OUT.serialize(Row(1, "é", 2, Row(0.5, True))))
    assert agrees(json_in(), b'{"small": 3, "more": [1, {"a": null}]}')
    assert not agrees(json_in(), b'{"more": NaN}')


@pytest.mark.parametrize("message", [b"text", "é".encode(), b"\xff", b""])
def test_texts_and_bytes(message: bytes) -> None:
    assert agrees(SimpleStringSchema(), message) == (message != b"\xff")
    assert agrees(ByteArraySchema(), message)
    assert messages.reading_of(functions(), SimpleStringSchema("latin-1"), True) is None
    assert messages.reading_of(functions(), SimpleStringSchema(), False) is None


class Own(SimpleStringSchema):
    def serialize(self, element: str, /) -> bytes:
        return b"own"

    def deserialize(self, message: bytes, /) -> str:
        return "own"


def test_schemas_of_the_user_stay_in_python() -> None:
    assert messages.reading_of(functions(), Own(), True) is None
    assert messages.layout_of(functions(), Own()) is None


INPUT = [
    *(b'{"id": %d, "a name": "n%d", "small": %d}' % (n, n % 7, n % 100) for n in range(300)),
    b'{"id": 1.5, "a name": [1, 2], "small": "7"}',  # Python reads this one
    *(b'{"id": %d, "inner": {"x": %d.5}}' % (n, n) for n in range(50)),
]


def through(mock_cluster: Topics, mode: str) -> list[tuple[Any, ...]]:
    """What a program writes: timestamp, value and headers."""
    source, target = mock_cluster.name(), mock_cluster.name()
    mock_cluster.fill(source, ({"value": value, "partition": 0, "timestamp": 5 + n} for n, value in enumerate(INPUT)))
    mock_cluster.fill(target, [])
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration().set_string("penstock.native", mode), executor="local"
    ).set_parallelism(1)
    rows: Any = env.from_source(mock_cluster.source(source).set_value_only_deserializer(json_in()).build(), NONE, "in")
    out = KafkaRecordSerializationSchema.builder().set_topic(target).set_value_serialization_schema(JSON_OUT)
    kept = rows.filter(lambda row: row.small is None or row.small != 5)
    changed = kept.map(lambda row: Row(row.id, row[1], row.small, row.inner), output_type=TYPE)
    sink: Any = mock_cluster.sink_of(out).build()
    changed.sink_to(sink)
    env.execute()
    return sorted((m.timestamp(), m.value(), m.headers()) for m in mock_cluster.messages(target))


def test_a_program_writes_the_same_messages(mock_cluster: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, columns = list[Any](), _BuiltinSink.columns

    def watched(self: Any, number: int) -> Any:
        taken.append(columns(self, number))
        return taken[-1]

    monkeypatch.setattr(_BuiltinSink, "columns", watched)
    native_ones = through(mock_cluster, "auto")
    assert any(taken)
    assert native_ones == through(mock_cluster, "off")
    assert len(native_ones) == 348
