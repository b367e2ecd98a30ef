"""Lists and arrays in messages and files that native code reads and writes are those of their schemas."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Configuration, Row, Types, WatermarkStrategy
from penstock.connectors.kafka import messages
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSink, FileSource
from penstock.datastream.formats import AvroReaderFormat, AvroSchema, JsonLinesEncoder, JsonReaderFormat
from penstock.datastream.schemas import (
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from penstock.runtime.columns.layouts import text_layout
from penstock.runtime.io.text import file_text
from tests.formats.test_native_files import compare
from tests.kafka.test_native_messages import FLOAT, TEXT, agrees, functions

ITEM = Types.ROW_NAMED(["x", "y"], [Types.DOUBLE(), Types.STRING()])
NAMES = ["ints", "texts", "doubles", "items", "nested", "flags"]
TYPE = Types.ROW_NAMED(
    NAMES,
    [
        Types.PRIMITIVE_ARRAY(Types.INT()),
        Types.BASIC_ARRAY(Types.STRING()),
        Types.LIST(Types.DOUBLE()),
        Types.OBJECT_ARRAY(ITEM),
        Types.LIST(Types.LIST(Types.LONG())),
        Types.PRIMITIVE_ARRAY(Types.BOOLEAN()),
    ],
)
UNION = ["null", "string"]
AVRO = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "ints", "type": {"type": "array", "items": "int"}},
        {"name": "texts", "type": {"type": "array", "items": UNION}},
        {"name": "doubles", "type": ["null", {"type": "array", "items": "double"}]},
        {
            "name": "items",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "I",
                    "fields": [{"name": "x", "type": "double"}, {"name": "y", "type": UNION}],
                },
            },
        },
        {"name": "nested", "type": {"type": "array", "items": {"type": "array", "items": "long"}}},
        {"name": "flags", "type": {"type": "array", "items": "boolean"}},
    ],
}
AVRO_IN = AvroRowDeserializationSchema(avro_schema_string=json.dumps(AVRO))
AVRO_OUT = AvroRowSerializationSchema(avro_schema_string=json.dumps(AVRO))
JSON_OUT = JsonRowSerializationSchema.builder().with_type_info(TYPE).build()
LINES = JsonLinesEncoder.for_row_type(TYPE)

LONG = st.integers(-(2**63), 2**63 - 1)
ROWS = st.builds(
    lambda *fields: Row(*fields),
    st.lists(st.integers(-(2**31), 2**31 - 1), max_size=4),
    st.lists(st.none() | TEXT, max_size=3),
    st.none() | st.lists(FLOAT, max_size=3),
    st.lists(st.builds(Row, FLOAT, st.none() | TEXT), max_size=2),
    st.lists(st.lists(LONG, max_size=2), max_size=3),
    st.lists(st.booleans(), max_size=3),
)


def json_in(*flags: str) -> JsonRowDeserializationSchema:
    builder = JsonRowDeserializationSchema.builder().type_info(TYPE)
    for flag in flags:
        getattr(builder, flag)()
    return builder.build()


@given(st.lists(ROWS, min_size=1, max_size=4))
@pytest.mark.parametrize("schema", [JSON_OUT, AVRO_OUT], ids=["json", "avro"])
def test_rows_with_lists_have_the_bytes_of_the_schema(schema: Any, rows: list[Row]) -> None:
    layout = messages.layout_of(functions(), schema)
    batch = functions().Batch.of(rows)
    if batch is None:  # lists of one record are of several types
        return
    values, _, doubtful = layout.messages(batch, 0, len(rows))
    assert not doubtful
    assert values == list(map(schema.serialize, rows))


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_rows_with_lists_have_the_lines_of_the_encoder(rows: list[Row]) -> None:
    layout = functions().Layout(json.dumps(LINES.layout))
    for row in rows:
        batch, expected = functions().Batch.of([row]), io.BytesIO()
        LINES.encode(row, expected)
        if batch is not None:
            values, _, doubtful = layout.messages(batch, 0, 1)
            assert not doubtful
            assert values == [expected.getvalue()]


LISTS = Types.TUPLE([Types.LIST(Types.DOUBLE()), Types.BASIC_ARRAY(Types.STRING()), Types.LIST(ITEM)])


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_lists_have_the_texts_of_python(rows: list[Row]) -> None:
    for kind, records in ((TYPE, rows), (LISTS, [(row[2], row[1], row[3]) for row in rows])):
        layout = functions().Layout(json.dumps(text_layout(kind)))
        for record in records:
            batch = functions().Batch.of([record])
            if batch is not None:
                values, _, doubtful = layout.messages(batch, 0, 1)
                assert not doubtful
                assert values == [file_text(kind)(record).encode()]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Types.LIST(Types.DOUBLE()), [1, 2]),
        (Types.LIST(Types.DOUBLE()), (1.5, 2.0)),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"ab"),
        (Types.PRIMITIVE_ARRAY(Types.FLOAT()), [1.5]),
        (Types.LIST(Types.SQL_DATE()), []),
        (Types.LIST(Types.STRING()), "ab"),
        (Types.LIST(Types.PICKLED_BYTE_ARRAY()), [(1, "a"), None]),
    ],
)
def test_texts_of_other_lists_are_the_same_or_in_doubt(kind: Any, value: Any) -> None:
    layout, batch = text_layout(kind), functions().Batch.of([value])
    if layout is not None and batch is not None:
        values, _, doubtful = functions().Layout(json.dumps(layout)).messages(batch, 0, 1)
        assert doubtful or values == [file_text(kind)(value).encode()]


@pytest.mark.parametrize(
    "row",
    [
        Row([2**31], [], [], [], [], []),
        Row([None], [], [], [], [], []),
        Row([], [5], [], [], [], []),
        Row([], [], [], [], [[True]], []),
        Row((1, 2), ("a",), [], (), [], []),
        Row([], [], [], [{"x": 1.0, "y": "a"}], [], []),
        Row([], [], [1], [], [], []),
        Row([], [], [], [], [None, [1, None]], [None]),
    ],
)
@pytest.mark.parametrize("schema", [JSON_OUT, AVRO_OUT], ids=["json", "avro"])
def test_what_is_not_as_the_type_says_is_in_doubt_or_the_same(schema: Any, row: Row) -> None:
    batch = functions().Batch.of([row])
    if batch is None:
        return
    values, _, doubtful = messages.layout_of(functions(), schema).messages(batch, 0, 1)
    if not doubtful:
        assert values == [schema.serialize(row)]


NODE = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOAT | TEXT | st.sampled_from(["5", "true", "1.5", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y", *NAMES]), inner),
    max_leaves=8,
)
FIELDS = {
    "ints": st.lists(st.integers(-5, 5) | NODE, max_size=3) | NODE,
    "texts": st.lists(TEXT | st.none() | NODE, max_size=3) | NODE,
    "doubles": st.lists(FLOAT | st.integers() | NODE, max_size=3) | NODE,
    "items": st.lists(st.fixed_dictionaries({}, optional={"x": FLOAT, "y": TEXT, "z": NODE}) | NODE, max_size=3) | NODE,
    "nested": st.lists(st.lists(LONG | NODE, max_size=2) | NODE, max_size=3) | NODE,
    "flags": st.lists(st.booleans() | st.none() | NODE, max_size=3),
}
OBJECTS = st.fixed_dictionaries({}, optional=FIELDS)


@given(OBJECTS)
@pytest.mark.parametrize("flags", [(), ("fail_on_missing_field",), ("ignore_parse_errors",)])
def test_lists_of_json_are_those_of_the_schema(flags: tuple[str, ...], node: Any) -> None:
    agrees(json_in(*flags), json.dumps(node).encode())


@given(ROWS)
def test_lists_of_avro_are_those_of_the_schema(row: Row) -> None:
    message = AVRO_OUT.serialize(row)
    assert agrees(AVRO_IN, message)
    for end in range(len(message)):
        assert not agrees(AVRO_IN, message[:end])


@given(st.binary(max_size=24))
def test_bytes_that_are_no_lists_are_in_doubt(message: bytes) -> None:
    agrees(AVRO_IN, message)


LONGS = AvroRowDeserializationSchema(
    avro_schema_string=json.dumps(
        {"type": "record", "name": "L", "fields": [{"name": "n", "type": {"type": "array", "items": "long"}}]}
    )
)


@pytest.mark.parametrize(
    ("message", "is_read"),
    [
        (b"\x00", True),
        (b"\x02\x04\x00", True),
        (b"\x02\x04\x04\x06\x08\x00", True),  # two blocks
        (b"\x03\x04\x06\x08\x00", True),  # one that says how many bytes it has
        (b"\x02\x04", False),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00", False),
        (b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00", False),
    ],
)
def test_blocks_of_an_array_of_avro(message: bytes, is_read: bool) -> None:
    assert agrees(LONGS, message) == is_read


def test_usual_lists_are_read_natively() -> None:
    row = Row([1, 2], ["a", None], [0.5], [Row(1.5, "é"), Row(2.0, None)], [[1], []], [True])
    assert agrees(json_in("fail_on_missing_field"), JSON_OUT.serialize(row))
    assert agrees(json_in(), b'{"texts": [], "doubles": [1, 2.5], "items": [null, {"x": 1}], "nested": [null]}')
    assert not agrees(json_in(), b'{"ints": [null]}')  # of which Python makes 0


def test_bytes_stay_in_python() -> None:
    kind = Types.ROW_NAMED(["b"], [Types.PRIMITIVE_ARRAY(Types.BYTE())])
    written = JsonRowSerializationSchema.builder().with_type_info(kind).build()
    read = JsonRowDeserializationSchema.builder().type_info(kind).build()
    assert messages.layout_of(functions(), written) is None
    assert messages.reading_of(functions(), read, True) is None


@given(nodes=st.lists(OBJECTS, max_size=4), plain=st.booleans())
def test_lists_in_lines_are_those_of_python(nodes: list[Any], plain: bool, tmp_path_factory: Any) -> None:
    functions()
    path = tmp_path_factory.mktemp("lines") / "file"
    path.write_text("\n".join(json.dumps(node, ensure_ascii=plain) for node in nodes), encoding="utf-8")
    compare(JsonReaderFormat.for_row_type(TYPE), path)


@given(rows=st.lists(ROWS, max_size=4))
def test_arrays_in_files_of_avro_are_those_of_python(rows: list[Row], tmp_path_factory: Any) -> None:
    functions()
    path = tmp_path_factory.mktemp("avro") / "file"
    records = [
        {**dict(zip(NAMES, row, strict=True)), "items": [{"x": item[0], "y": item[1]} for item in row[3]]}
        for row in rows
    ]
    with path.open("wb") as file:
        fastavro.writer(file, AVRO, records)
    assert compare(AvroReaderFormat.for_generic_record(AvroSchema.parse_string(json.dumps(AVRO))), path) == len(rows)


def through(native: str, source: Path, target: Path) -> list[str]:
    """The lines that a program writes."""
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration().set_string("penstock.native", native), executor="local"
    )
    env.set_parallelism(1)
    reader = FileSource.for_record_stream_format(JsonReaderFormat.for_row_type(TYPE), str(source)).build()
    rows = env.from_source(reader, WatermarkStrategy.no_watermarks(), "rows")
    kept = rows.filter(lambda row: len(row.ints) > 1)
    changed = kept.map(
        lambda row: Row(
            [n + 1 for n in row.ints], row.texts, [sum(row.doubles)], row.items, row.nested, [len(row.items) > 0]
        ),
        output_type=TYPE,
    )
    changed.sink_to(FileSink.for_row_format(str(target), LINES).build())
    env.execute()
    return sorted(line for path in target.rglob("*part*") for line in path.read_text(encoding="utf-8").splitlines())


def test_a_program_writes_the_same_lists(tmp_path: Path) -> None:
    lines = [
        {
            "ints": [n, n + 1, n % 3][: n % 4],
            "texts": [f"t{n}", None],
            "doubles": [n / 2],
            "items": [{"x": float(n), "y": "é"}] * (n % 2),
            "nested": [[n], []],
            "flags": [True],
        }
        for n in range(500)
    ]
    (tmp_path / "rows").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    native = through("auto", tmp_path / "rows", tmp_path / "auto")
    assert len(native) == 250
    assert native == through("off", tmp_path / "rows", tmp_path / "off")
