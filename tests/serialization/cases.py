"""What the real schemas of Flink were asked: types, options and messages, as texts that both PyFlink and Penstock read.

``record`` reads the cases where Penstock is not installed.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Case(NamedTuple):
    """A message and who reads it.

    Attributes:
        format: json, csv or avro; or schema: a JSON schema becomes a type.
        type: an expression over ``Types`` that gives the type of the rows; of Avro and of JSON schemas the schema.
        message: what is read.
        options: calls of the builder, with their argument; () if there is none.
        writer: calls of the builder of the CSV schema that writes what was read.
    """

    format: str
    type: str
    message: str
    options: tuple[tuple[object, ...], ...] = ()
    writer: tuple[tuple[object, ...], ...] = ()

    @property
    def key(self) -> str:
        """What tells it from the others."""
        return repr(tuple(self))


SCALARS = (
    *("STRING", "BOOLEAN", "BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "CHAR", "BIG_INT", "BIG_DEC", "INSTANT"),
    *("SQL_DATE", "SQL_TIME", "SQL_TIMESTAMP"),
)
NESTED = (
    "Types.PRIMITIVE_ARRAY(Types.BYTE())",
    "Types.PRIMITIVE_ARRAY(Types.INT())",
    "Types.BASIC_ARRAY(Types.INT())",
    "Types.BASIC_ARRAY(Types.STRING())",
    "Types.OBJECT_ARRAY(Types.SQL_DATE())",
    "Types.OBJECT_ARRAY(Types.ROW([Types.INT()]))",
    "Types.OBJECT_ARRAY(Types.BASIC_ARRAY(Types.INT()))",
    "Types.LIST(Types.INT())",
    "Types.MAP(Types.STRING(), Types.INT())",
    "Types.MAP(Types.INT(), Types.BOOLEAN())",
    "Types.ROW_NAMED(['a', 'b'], [Types.INT(), Types.STRING()])",
    "Types.TUPLE([Types.INT(), Types.STRING()])",
    "Types.PICKLED_BYTE_ARRAY()",
)
VALUES = (
    *("null", "true", "false", "0", "1", "-1", "7.0", "1.5", "-2.5", "1e2", "1E7", "0.001", "12345.678901234567890123"),
    *("127", "128", "-128", "40000", "3000000000", "9223372036854775808", "12345678901234567890123", "1e400", "1e-400"),
    *("0.1", "16777217", "123456789.123", "100000000000000000000.5", "-0.0", "-0", "1e300", "3.4e39"),
    *(
        '""',
        '" "',
        '"1"',
        '" 1 "',
        '"+5"',
        '"1.5"',
        '"1e3"',
        '"1E+3"',
        '"-7"',
        '"0x10"',
        '"1_000"',
        '"\u0663"',
        '"1,5"',
    ),
    *('"NaN"', '"nan"', '"Infinity"', '"-Infinity"', '"inf"', '".5"', '"5."', '"1f"', '"1.5d"', '"0x1p3"', '"\xa01"'),
    *('"TRUE"', '" true "', '"yes"', '"a"', '"ab"', '"\\u00e9\\n\\"\\\\/"', '"\u20ac \U0001f600"', '"caf\xe9"'),
    *('"2026-11-22"', '"2026-1-2"', '"2026-02-30"', '"2026-02-29"', '"+12026-01-01"', '"20261122"', '"2026-11-22Z"'),
    *('"12:34:56"', '"12:34"', '"24:00:00"', '"12:34:56.5"', '"12:34:56.000"', '"12:34:56Z"', '"1:2:3"', '"12:34:60"'),
    *('"2026-11-22T12:34:56"', '"2026-11-22T12:34"', '"2026-11-22T12:34:56.123456789"', '"2026-11-22T12:34:56Z"'),
    *('"2026-11-22 12:34:56"', '"2026-11-22T24:00:00"', '"2026-11-22t12:34:56.5"', '"0001-01-01T00:00:00"'),
    *('"2026-11-22T12:34:56.1234567"', '"2026-11-22T12:34:56."', '"2026-11-22T12:34:56+00:00"', '"1500-01-01"'),
    *('"2026-11-22 12:34:56.25"', '"2026-11-22 12:34"', '"9999-12-31T23:59:59.999999"', '"2026-11-22T00:00:00.000001"'),
    *(
        '"12:34:56.000Z"',
        '"12:34:56+00"',
        '"12:34:56+0000"',
        '"12:34:56+00:00"',
        '"12:34:56.5Z"',
        '"24:00:00Z"',
        '"12:34Z"',
    ),
    *('"12:34:56-00"', '"12:34:56+01"', '"12:34:56z"', '"2026-11-22T12:34:56.789Z"', '"2026-11-22T12:34:56.1234567Z"'),
    *('"2026-11-22t12:34:56Z"', '"2026-11-22T24:00:00Z"', '"2026-11-22T12:34Z"', '"2026-11-22T12:34:56+01"'),
    *('"2026-11-22T12:34:56.Z"', '"9999-12-31T23:59:59.999999Z"', '"0001-01-01T00:00:00Z"', '"1500-01-01T00:00:00Z"'),
    *("[]", "[1]", "[1, 2.5]", '["1", null]', '[[1], null, ["2"]]', '["2026-11-22"]', '[{"f0": 1}, {"f0": "2"}, {}]'),
    *(
        "{}",
        '{"a": 1}',
        '{"a": 1, "b": [1.0, true]}',
        '{"1": true, "2": "x"}',
        '{"f0": 1, "f1": "x"}',
        '"aGk="',
        '"aGk"',
    ),
    *('"a-_/"', '"AQID\\nBA=="', "[1, 2, 3]", "[null]", '{"a": null, "b": "x"}', '{"b": 2, "a": 1, "a": 3}'),
    *('{"k": {"n": [1, "x", null, 1e10, 1.10]}}',),
)
ROW = "Types.ROW_NAMED(['a', 'b'], [Types.INT(), Types.STRING()])"
DOCUMENTS = (
    *('{"a": 1, "b": "x"}', '{"b": "x", "a": 1, "c": 3}', '{"a": 1}', '{"A": 1}', "{}", "", " ", "null", "[]", "1"),
    *('"x"', '{"a": 1} rest', '{"a": 1}{"a": 2}', '{"a": 1', '{"a": 01}', "{a: 1}", "{'a': 1}", '{"a": NaN}', "x"),
    *('{"a": 1,}', '{"a": 1, "a": 2}', '/* c */ {"a": 1}', '{"b": "tab\there"}', '\ufeff{"a": 1}', '{"a": "x"}'),
    *('{"a": "x", "b": "y"}', '{"a": null, "b": null}', '{"b": "\\ud83d\\ude00"}', '{"b": "\\ud83d"}', '{"a": +1}'),
    *('{"a": .5}', '{"a": 1.}', '{"a": 2147483648, "b": 1}', '\n\t{"a": 1}\n', '{"": 1}', '{"a": Infinity}'),
)
STRICT, LENIENT = (("fail_on_missing_field",),), (("ignore_parse_errors",),)
NAMES = (
    "Types.ROW_NAMED(['\xe9', 'b c'], [Types.STRING(), Types.ROW_NAMED(['d'], [Types.BASIC_ARRAY(Types.DOUBLE())])])"
)
DEEP = "Types.ROW_NAMED(['v'], [Types.OBJECT_ARRAY(Types.ROW_NAMED(['n', 's'], [Types.LONG(), Types.BASIC_ARRAY(Types.STRING())]))])"


MIXED = """Types.ROW_NAMED(['d', 'f', 's', 'i', 'l'], [Types.BIG_DEC(), Types.DOUBLE(), Types.STRING(), Types.INT(), Types.LONG()])"""
NUMBERS = (
    "1",
    "1.50",
    "1e2",
    "1E-7",
    "0.1e1",
    "100.0",
    "-0.0",
    "12345678901234567890.123456789",
    "[1.0, 1e5]",
    "1e10",
    '"1.50"',
)


def one(type_: str) -> str:
    """The type of a row with one field, v."""
    return f"Types.ROW_NAMED(['v'], [{type_}])"


def json_cases() -> Iterator[Case]:
    """Every type with every value, and whole documents."""
    for type_ in (*(f"Types.{name}()" for name in SCALARS), *NESTED):
        yield from (Case("json", one(type_), f'{{"v": {value}}}') for value in VALUES)
    for options in ((), STRICT, LENIENT):
        yield from (Case("json", ROW, document, options) for document in DOCUMENTS)
    for message in ('{"\xe9": "\xdf", "b c": {"d": [1, null, "2.5"]}}', '{"b c": null}', '{"b c": {"d": null}}'):
        yield Case("json", NAMES, message)
        yield Case("json", NAMES, message, STRICT)
    for number in NUMBERS:
        for field in ("d", "f", "s", "i", "l"):
            yield Case("json", MIXED, f'{{"{field}": {number}}}')
        yield Case("json", one("Types.OBJECT_ARRAY(Types.BIG_DEC())"), f'{{"v": [{number}]}}')
    for message in ('{"v": [{"n": "5", "s": ["x", 1]}, null, {}]}', '{"v": [{"n": "y"}, 7]}', '{"v": 7}'):
        yield Case("json", DEEP, message)
        yield Case("json", DEEP, message, LENIENT)


def all_cases() -> list[Case]:
    """Every case."""
    from tests.serialization.avro_cases import avro_cases, schema_cases
    from tests.serialization.csv_cases import csv_cases, written_cases

    return [*json_cases(), *csv_cases(), *written_cases(), *schema_cases(), *avro_cases()]
