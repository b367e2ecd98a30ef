"""Encoders and schemas: the bytes of records."""

from __future__ import annotations

from io import BytesIO

import pytest

from penstock.common import Types
from penstock.common.serialization import (
    DeserializationSchema,
    Encoder,
    SerializationSchema,
    SimpleStringEncoder,
    SimpleStringSchema,
)
from penstock.errors import InvalidProgramError, UnsupportedError


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
