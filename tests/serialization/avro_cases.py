"""JSON schemas, and what was asked of the schemas for Avro."""

# ruff: noqa: E501, ISC004

from __future__ import annotations

from collections.abc import Iterator

from tests.serialization.cases import ROW, Case, one

SCHEMAS = (
    '{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}',
    '{"type": "object", "properties": {"d": {"type": "string", "format": "date"}, "t": {"type": "string", "format": "time"},'
    ' "s": {"type": "string", "format": "date-time"}, "e": {"type": "string", "format": "email"}}}',
    '{"type": "object", "properties": {"b": {"type": "string", "contentEncoding": "base64"}}}',
    '{"type": "object", "properties": {"b": {"type": "string", "contentEncoding": "hex"}}}',
    '{"type": "object", "properties": {"a": {"type": ["number", "null"]}, "b": {"type": "boolean"}, "n": {"type": "null"}}}',
    '{"type": "object", "properties": {"a": {"type": ["number", "string"]}}}',
    '{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}',
    '{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}}}',
    '{"type": "object", "properties": {"a": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}}}',
    '{"type": "object", "properties": {"a": {"type": "array"}}}',
    '{"type": "object", "properties": {"a": {"type": "array", "items": 1}}}',
    '{"type": "object"}',
    '{"type": "object", "properties": {"o": {"type": "object", "properties": {"x": {"type": "number"}}}}}',
    '{"type": "object", "properties": {"o": {"type": "object"}}}',
    '{"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": true}',
    '{"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false}',
    '{"type": "object", "properties": {"a": {"oneOf": [{"type": "null"}, {"type": "boolean"}]}}}',
    '{"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "boolean"}]}}}',
    '{"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, {"type": "boolean"}]}}}',
    '{"definitions": {"p": {"type": "object", "properties": {"x": {"type": "number"}}}}, "type": "object",'
    ' "properties": {"from": {"$ref": "#/definitions/p"}, "to": {"$ref": "#/definitions/p"}}}',
    '{"type": "object", "properties": {"a": {"$ref": "#/definitions/none"}}}',
    '{"type": "object", "properties": {"a": {"$ref": "other.json#/x"}}}',
    '{"type": "object", "properties": {"a": {"type": "date"}}}',
    '{"type": "object", "properties": {"a": {}}}',
    '{"type": "string"}',
    '{"type": "array", "items": {"type": "string"}}',
    '{"type": "array", "items": [{"type": "string"}]}',
    "{'type': 'object', properties: {a: {type: 'integer'}}} // loose",
    '/* comment */ {"type": "object", "properties": {"a": {"type": "number"}}}',
    "not json",
    "",
    '{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"$ref": "#/properties/a/properties/c"},'
    ' "c": {"type": "number"}}}}}',
)


def schema_cases() -> Iterator[Case]:
    """JSON schemas."""
    yield from (Case("schema", "", schema) for schema in SCHEMAS)


def avro(*fields: str) -> str:
    """The schema of a record."""
    listed = ", ".join(f'{{"name": "f{index}", "type": {field}}}' for index, field in enumerate(fields))
    return f'{{"type": "record", "name": "Recorded", "fields": [{listed}]}}'


PAIR = '{"type": "record", "name": "Pair", "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": ["null", "string"]}]}'
AVROS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ('"string"', "Types.STRING()", ('"x"', '"\u20ac"', '""', "null")),
    ('"int"', "Types.INT()", ("1", "-2147483648", "null")),
    ('"long"', "Types.LONG()", ("1", "-9223372036854775808")),
    ('"float"', "Types.FLOAT()", ("1.5", "0.1", '"NaN"')),
    ('"double"', "Types.DOUBLE()", ("1.5", "0.1", '"-Infinity"')),
    ('"boolean"', "Types.BOOLEAN()", ("true", "false")),
    ('"bytes"', "Types.PRIMITIVE_ARRAY(Types.BYTE())", ('"aGk="', '""')),
    ('{"type": "fixed", "name": "F", "size": 2}', "Types.PRIMITIVE_ARRAY(Types.BYTE())", ('"aGk="', '"aGkh"')),
    ('{"type": "enum", "name": "E", "symbols": ["A", "B"]}', "Types.STRING()", ('"A"', '"C"')),
    ('["null", "string"]', "Types.STRING()", ('"x"', "null")),
    ('["int", "null"]', "Types.INT()", ("5", "null")),
    ('["int"]', "Types.INT()", ("5",)),
    ('{"type": "array", "items": "int"}', "Types.BASIC_ARRAY(Types.INT())", ("[1, 2]", "[]", "[null]")),
    ('{"type": "array", "items": ["null", "string"]}', "Types.BASIC_ARRAY(Types.STRING())", ('["x", null]',)),
    (
        f'{{"type": "array", "items": {PAIR}}}',
        f"Types.OBJECT_ARRAY({ROW})",
        ('[{"a": 1, "b": null}, {"a": 2, "b": "x"}]',),
    ),
    ('{"type": "map", "values": "long"}', "Types.MAP(Types.STRING(), Types.LONG())", ('{"a": 1}', "{}")),
    (PAIR, ROW, ('{"a": 1, "b": "x"}', '{"a": 1}', '{"b": "x"}', "null")),
    ('{"type": "int", "logicalType": "date"}', "Types.SQL_DATE()", ('"2026-11-22"', '"1969-12-31"', '"1500-01-01"')),
    ('{"type": "int", "logicalType": "time-millis"}', "Types.SQL_TIME()", ('"12:34:56Z"', '"00:00:00Z"')),
    ('{"type": "long", "logicalType": "time-micros"}', "Types.SQL_TIME()", ('"12:34:56Z"',)),
    (
        '{"type": "long", "logicalType": "timestamp-millis"}',
        "Types.SQL_TIMESTAMP()",
        ('"2026-11-22T12:34:56.789Z"', '"2026-11-22T12:34:56.123456Z"', '"1969-12-31T23:59:59.5Z"'),
    ),
    (
        '{"type": "long", "logicalType": "timestamp-micros"}',
        "Types.SQL_TIMESTAMP()",
        ('"2026-11-22T12:34:56.123456Z"', '"1969-12-31T23:59:59.5Z"', '"2026-11-22T12:34:56.1234567Z"'),
    ),
    (
        '{"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}',
        "Types.BIG_DEC()",
        ("12.34", "-1.5", "12", "0.001", "128.00"),
    ),
    (
        '{"type": "fixed", "name": "D", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}',
        "Types.BIG_DEC()",
        ("12.34", "1234567.89"),
    ),
    ('{"type": "long", "logicalType": "local-timestamp-millis"}', "Types.LONG()", ("5",)),
    ('["int", "string"]', "Types.INT()", ("5",)),
    ('{"type": "string", "logicalType": "uuid"}', "Types.STRING()", ('"x"',)),
    ('"null"', "Types.STRING()", ("null",)),
)


def avro_cases() -> Iterator[Case]:
    """Records, as JSON, that Avro's schema writes and reads back."""
    for field, type_, values in AVROS:
        yield from (Case("avro", avro(field), f'{{"v": {value}}}', ((one(type_),),)) for value in values)
