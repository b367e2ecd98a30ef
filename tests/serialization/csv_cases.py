"""What was asked of the schemas for CSV."""

# ruff: noqa: E501

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.serialization.cases import SCALARS, Case, one

FIELDS = (
    *("", " ", "1", " 1 ", "+5", "1.5", "1e3", "x", "true", "TRUE", " true ", "null", "NULL", "NaN", "300", "40000"),
    *(
        "3000000000",
        "9223372036854775808",
        '"quoted"',
        '"1"',
        ' "a" ',
        '"a""b"',
        '"a',
        'a"b',
        "a;b",
        "1;2",
        "1;;2",
        ";",
    ),
    *("2026-11-22", "2026-1-2", "2026-02-30", "12:34:56", "1:2:3", "12:34", "12:34:56.5", "24:00:00", "26:70:80"),
    *("2026-11-22 12:34:56", "2026-11-22 12:34:56.5", "2026-11-22 1:2:3", "2026-11-22T12:34:56", "2026-11-22 12:34"),
    *(
        "2026-11-22 12:34:56.123456789",
        "aGk=",
        "aGk",
        "\u20ac",
        "a\\nb",
        "#a",
        "0x10",
        "0.1",
        "1f",
        "  padded  ",
        "\t1",
    ),
    *(
        "2026-11-22 24:00:00",
        "1500-01-01",
        "9999-12-31",
        "2026-13-01",
        "a\r",
        "[1]",
        "-0.0",
        "1e400",
        "12345678901234567890",
    ),
)
CSV_NESTED = (
    "Types.PRIMITIVE_ARRAY(Types.BYTE())",
    "Types.BASIC_ARRAY(Types.INT())",
    "Types.BASIC_ARRAY(Types.STRING())",
    "Types.OBJECT_ARRAY(Types.SQL_DATE())",
    "Types.ROW([Types.INT(), Types.STRING()])",
)
CSV_ROW = "Types.ROW_NAMED(['a', 'b', 'c'], [Types.INT(), Types.STRING(), Types.DOUBLE()])"
LINES = (
    *("1,x,1.5", "1,x,1.5\n", "1,x,1.5\r\n", "1,x", "1", "1,x,1.5,7", "", "\n", "\n1,x,1.5", "1,x,1.5\n2,y,2.5", ",,"),
    *(" 1 , x , 1.5 ", '1,"x,y",1.5', '1,"x\ny",1.5', '1,"x""y",1.5', '1,"x"y,1.5', '1, "x" ,1.5', '1,"x', "1,'x',1.5"),
    *("#1,x,1.5", "1,#x,1.5", "x,y,z", "1|x|1.5", "1\tx\t1.5", "1;x;1.5", "1,null,1.5", "null,null,null", "1,NULL,1.5"),
    *(
        '1,"null",1.5',
        "1,a\\,b,1.5",
        "1,a\\nb,1.5",
        '1,"a\\"b",1.5',
        "1,x,",
        "1,,1.5",
        '1,"",1.5',
        "1,\u20ac,1.5",
        "1,x,1.5,",
    ),
    *("\ufeff1,x,1.5", "1,a;b,1.5", "1,x\\", "# c\n1,x,1.5", "1,x,1.5\r", "1,\\N,1.5", " # c", "1,n/a,2"),
)
READERS = (
    (),
    (("set_ignore_parse_errors", True),),
    (("set_field_delimiter", "|"),),
    (("set_field_delimiter", "\t"),),
    (("set_field_delimiter", ";"), ("set_ignore_parse_errors", True)),
    (("set_allow_comments", True),),
    (("set_quote_character", "'"),),
    (("set_escape_character", "\\"),),
    (("set_null_literal", "null"),),
    (("set_null_literal", ""),),
    (("set_null_literal", "\\N"), ("set_escape_character", "\\")),
)
TEXTS = (
    *("", " ", "x", "a,b", 'say "hi"', "it's", "a\nb", "a\rb", "a;b", "#a", "null", "a\\b", "\t", "\u20ac", " padded "),
    *(
        "a|b",
        "long enough to be looked at by the optimiser of quotes, or not",
        "n\0l",
        "a.b",
        "-",
        "+1",
        "=1+1",
        "~",
        "\x7f",
    ),
)
WRITERS = (
    (),
    (("set_field_delimiter", "|"),),
    (("set_field_delimiter", "\t"), ("set_line_delimiter", "\n")),
    (("set_line_delimiter", "\r\n"),),
    (("set_line_delimiter", ""),),
    (("set_quote_character", "'"),),
    (("disable_quote_character",),),
    (("set_escape_character", "\\"),),
    (("disable_quote_character",), ("set_escape_character", "\\")),
    (("set_null_literal", "null"),),
    (("set_null_literal", "n/a"), ("set_field_delimiter", ";"), ("set_array_element_delimiter", ":")),
)
WRITTEN = "Types.ROW_NAMED(['a', 'n', 'r', 's'], [Types.STRING(), Types.INT(), Types.ROW([Types.STRING(), Types.INT()]), Types.BASIC_ARRAY(Types.STRING())])"


def csv_cases() -> Iterator[Case]:
    """Every type with every field, and whole lines with every set of options."""
    for type_ in (*(f"Types.{name}()" for name in SCALARS), *CSV_NESTED):
        yield from (Case("csv", one(type_), field) for field in FIELDS)
        yield from (Case("csv", one(type_), field, (("set_ignore_parse_errors", True),)) for field in FIELDS)
    for options in READERS:
        yield from (Case("csv", CSV_ROW, line, options) for line in LINES)
    for type_ in CSV_NESTED:
        for delimiter in (":", "ab"):  # Flink never ends with an empty one
            options = (("set_array_element_delimiter", delimiter),)
            yield from (
                Case("csv", one(type_), field, options) for field in ("1:x", "1ab2", "1:2", "2026-11-22:2026-11-23")
            )


def written_cases() -> Iterator[Case]:
    """Records, as JSON, that the CSV schema writes with every set of options."""
    for writer in WRITERS:
        for text in TEXTS:
            inner = {"f0": text, "f1": None}
            value = {"a": text, "n": 1, "r": inner, "s": [text, None]}
            yield Case("json", WRITTEN, json.dumps(value), (), writer)
        yield Case("json", WRITTEN, "{}", (), writer)
        yield Case("json", WRITTEN, '{"r": {}, "s": []}', (), writer)
