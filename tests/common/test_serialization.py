"""Encoders and schemas: the bytes of records."""

from __future__ import annotations

from io import BytesIO

import pytest

from penstock.common import Row, Types
from penstock.common.serialization import (
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    RowFieldExtractorSchema,
    SerializationSchema,
    SimpleStringEncoder,
    SimpleStringSchema,
)
from penstock.errors import InvalidProgramError, SerializationError, UnsupportedError


@pytest.mark.parametrize(
    ("charset", "line"), [("UTF-8", "é€\n".encode()), ("ISO-8859-1", b"\xe9?\n"), ("ascii", b"??\n")]
)
def test_a_line_for_each_record(charset, line):
    stream = BytesIO()
    encoder = Encoder.simple_string_encoder(charset)
    encoder.encode("é€", stream)
    encoder.encode(5, stream)
    assert stream.getvalue() == line + b"5\n"
    assert encoder == SimpleStringEncoder(charset)


def test_half_a_surrogate_pair_is_a_question_mark():
    stream = BytesIO()
    SimpleStringEncoder().encode("a\ud800b", stream)
    assert stream.getvalue() == b"a?b\n"


def test_charsets():
    with pytest.raises(InvalidProgramError, match="'UTF-9'"):
        Encoder.simple_string_encoder("UTF-9")
    with pytest.raises(InvalidProgramError, match="'base64'"):
        Encoder.simple_string_encoder("base64")
    with pytest.raises(UnsupportedError, match="byte 10"):
        Encoder.simple_string_encoder("UTF-16")
    with pytest.raises(InvalidProgramError, match=r"SimpleStringSchema.*'UTF-9'"):
        SimpleStringSchema("UTF-9")


def test_texts_as_messages():
    schema = SimpleStringSchema()
    assert isinstance(schema, SerializationSchema)
    assert isinstance(schema, DeserializationSchema)
    assert schema.deserialize(schema.serialize("é€")) == "é€"
    assert schema.deserialize(b"a\xff") == "a\ufffd"
    assert SimpleStringSchema("ISO-8859-1").serialize("é€") == b"\xe9?"
    assert schema.get_produced_type() == Types.STRING()
    assert repr(schema) == "SimpleStringSchema('UTF-8')"


def test_an_encoder_of_ones_own_has_to_encode():
    with pytest.raises(TypeError, match="encode"):
        type("Nothing", (Encoder,), {})()


def test_bytes_as_messages():
    schema = ByteArraySchema()
    assert schema.deserialize(schema.serialize(b"a")) == b"a"
    assert schema.get_produced_type() == Types.PRIMITIVE_ARRAY(Types.BYTE())
    with pytest.raises(SerializationError, match=r"the record is 'a', and bytes are needed.*encode\(\)"):
        schema.serialize("a")


def test_a_field_of_a_row_as_message():
    assert RowFieldExtractorSchema(1).serialize(Row(1, b"key")) == b"key"
    assert RowFieldExtractorSchema(0).serialize(Row(None)) == b""
    with pytest.raises(SerializationError, match="the field 0 is 5, and bytes are needed"):
        RowFieldExtractorSchema(0).serialize(Row(5))
    with pytest.raises(SerializationError, match="has no field 2"):
        RowFieldExtractorSchema(2).serialize(Row(5))
    with pytest.raises(InvalidProgramError, match="Give 0 or more"):
        RowFieldExtractorSchema(-1)
