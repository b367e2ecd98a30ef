"""CSV files and what is to be written as CSV: data for the real PyFlink and for ours, so nothing of either is imported.

A schema is a function of a builder and of the factory of types.
"""

from __future__ import annotations

from decimal import Decimal


def base(b, d=None):
    return b.add_string_column("a").add_number_column("n").add_boolean_column("b")


def two(b, d=None):
    return b.add_string_column("a").add_string_column("c")


def array(b, d=None):
    return b.add_string_column("a").add_array_column("l")


def one(kind):
    return lambda b, d: b.add_number_column("a", kind(d))


def elements(kind):
    return lambda b, d: b.add_array_column("l", ",", kind(d)).set_column_separator("|")


def of_another(b, d):
    return b.add_columns_from(two(type(b)()).build()).add_string_column("z")


def numbers(b, d):
    for name, kind in (("a", d.TINYINT), ("b", d.SMALLINT), ("c", d.INT), ("d", d.FLOAT), ("e", d.DOUBLE)):
        b.add_number_column(name, kind())
    return b


READ = {
    "plain": (base, "x,1,true\ny,2,false\n"),
    "no end": (base, "x,1,true"),
    "empty cells": (base, ",,\n"),
    "missing columns": (base, "x\nx,1\n"),
    "too many columns": (base, "x,1,true,4\n"),
    "blank line": (base, "x,1,true\n\ny,2,false\n"),
    "blank line at the end": (base, "x,1,true\n\n"),
    "blank line of one column": (lambda b, d: b.add_string_column("a"), "x\n\ny\n"),
    "odd booleans": (base, "x,1,TRUE\nx,1,yes\nx,1,1\nx,1, true\n"),
    "blank boolean": (lambda b, d: b.add_boolean_column("a"), '"true "\n\nTrue\n'),
    "number in spaces": (base, "x, 1 ,true\n"),
    "no number": (base, "x,abc,true\n"),
    "fraction": (base, "x,1.5,true\n"),
    "number in quotes": (base, 'x,"1",true\n'),
    "number with plus": (base, "x,+1,true\n"),
    "number too large": (base, "x,9223372036854775808,true\n"),
    "quoted": (two, '"a,b","c""d"\n"x\ny",z\n'),
    "line end of two characters in quotes": (two, '"a\r\nb",c\r\n'),
    "nothing in quotes": (two, '"",x\n'),
    "quote in the middle": (two, 'a"b"c,x\n'),
    "space behind a quote": (two, '"a" ,x\n'),
    "spaces behind quotes": (two, '"a"  ,"b"  \n'),
    "text behind a quote": (two, '"a"b,x\n'),
    "space before a quote": (two, ' "a",x\n'),
    "spaces": (two, " a , b \n"),
    "quote not closed": (two, '"a,x\n'),
    "all line ends": (two, "a,b\rc,d\r\ne,f\n"),
    "no comments": (two, "#a,b\nc,d\n"),
    "comments": (lambda b, d: two(b).set_allow_comments(), '#a,b\nc,d\n  #x,y\ne,#f\n"#g",h\n'),
    "comments around a header": (
        lambda b, d: two(b).set_allow_comments().set_use_header(),
        "#z\na,c\n#y\n1,2\n",
    ),
    "header": (lambda b, d: two(b).set_use_header(), "c,a\n1,2\n"),
    "strict header of other names": (lambda b, d: two(b).set_use_header().set_strict_headers(), "c,a\n1,2\n"),
    "strict header": (lambda b, d: two(b).set_use_header().set_strict_headers(), "a,c\n1,2\n"),
    "strict header in spaces": (lambda b, d: two(b).set_use_header().set_strict_headers(), " a , c \n1,2\n"),
    "strict header with less": (lambda b, d: two(b).set_use_header().set_strict_headers(), "a\n1\n"),
    "strict header with more": (lambda b, d: two(b).set_use_header().set_strict_headers(), "a,c,d\n1,2\n"),
    "header with less": (lambda b, d: two(b).set_use_header(), "a\n1\n"),
    "header with more": (lambda b, d: two(b).set_use_header(), "a,c,z\n1,2,3\n"),
    "header alone": (lambda b, d: two(b).set_use_header(), "a,c\n"),
    "no header": (lambda b, d: two(b).set_use_header(), ""),
    "header in spaces": (lambda b, d: two(b).set_use_header(), " a , c \n1,2\n"),
    "strict without header": (lambda b, d: two(b).set_strict_headers(), "a,c\n1,2\n"),
    "first line": (lambda b, d: two(b).set_skip_first_data_row(), "a,b\nc,d\n"),
    "header and first line": (lambda b, d: two(b).set_use_header().set_skip_first_data_row(), "a,c\n1,2\n3,4\n"),
    "empty file": (two, ""),
    "null": (lambda b, d: base(b).set_null_value("NULL"), 'NULL,NULL,NULL\n,1,true\n"NULL",1,true\n'),
    "empty number beside null": (lambda b, d: base(b).set_null_value("NULL"), "x,,true\n"),
    "empty boolean beside null": (lambda b, d: base(b).set_null_value("NULL"), "x,1,\n"),
    "null without a word for it": (base, "x,null,null\n"),
    "escapes": (
        lambda b, d: two(b).set_escape_char("\\"),
        'a\\,b,c\\"d\n"q\\"r",s\\nt\\tu\\\\v\\0\\x\n',
    ),
    "escapes without quotes": (lambda b, d: two(b).disable_quote_char().set_escape_char("\\"), "a\\,b,c\n"),
    "line end behind an escape": (lambda b, d: two(b).set_escape_char("\\"), "a\\\nb,c\n"),
    "no quotes": (lambda b, d: two(b).disable_quote_char(), '"a",b"c\n'),
    "other quotes": (lambda b, d: two(b).set_quote_char("'"), "'a,''b',\"c\"\n"),
    "other separator": (lambda b, d: two(b).set_column_separator("|"), "a|b\n"),
    "arrays": (array, "x,a;b;c\ny,\nz,a\nw,;\nv, a ; b \nu,a;;b\n"),
    "array in quotes": (array, 'x,"a;b"\n'),
    "array of numbers": (elements(lambda d: d.INT()), "1,2\n 3 , 4\n"),
    "array of doubles": (elements(lambda d: d.DOUBLE()), "1.5,2\n"),
    "array of booleans": (elements(lambda d: d.BOOLEAN()), "true,x\n"),
    "array with an empty number": (elements(lambda d: d.INT()), "1,,2\n"),
    "null in an array": (lambda b, d: array(b).set_null_value("N"), "x,N;a\ny,N\n"),
    "separator of all arrays": (lambda b, d: array(b).set_array_element_separator("+"), "x,a+b;c\n"),
    "separator taken away": (lambda b, d: array(b).remove_array_element_separator(1), "x,a;b\n"),
    "separator disabled": (lambda b, d: array(b).disable_array_element_separator(), "x,a;b\n"),
    "separator taken away for that of all": (
        lambda b, d: array(b).remove_array_element_separator(1).set_array_element_separator("+"),
        "x,a+b;c\n",
    ),
    "numbers": (numbers, "1,2,3,1.1,2.5\n1,2,3,NaN,1e3\n"),
    "odd doubles": (one(lambda d: d.DOUBLE()), "1.5d\n+Infinity\n1e3f\n"),
    "no double": (one(lambda d: d.DOUBLE()), "nan\n"),
    "byte too large": (one(lambda d: d.TINYINT()), "128\n"),
    "decimals": (one(lambda d: d.DECIMAL(38, 18)), "1.5\n1.1234567890123456789\n1e2\n"),
    "decimals of two digits": (one(lambda d: d.DECIMAL(5, 2)), "1.555\n1.5\n"),
    "decimal too large": (one(lambda d: d.DECIMAL(5, 2)), "12345.5\n"),
    "more columns": (lambda b, d: two(b).set_any_property_name("z"), "1,2,3\n"),
    "byte order mark": (two, "\ufeffa,b\n"),
    "columns of another schema": (of_another, "1,2,3\n"),
}
"""A schema and a file, by name."""

TEXTS = [
    ("x", "y"),
    ("a b", "c-d"),
    ("a,b", 'c"d'),
    ("l\nm", "r\rs"),
    ("", None),
    (" x ", "#y"),
    ("a+b", "a*b"),
    ("a.b", "a/b"),
    ("a;b", "a!b"),
    ("abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwxy"),
    ("é€", "\t"),
    ("a'b", "a(b"),
    ("a\\b", "a$b"),
    ("a:b", "a|b"),
    ("-1", "+1"),
    ("'", "%&"),
]


def kinds(b, d):
    b.add_boolean_column("a").add_number_column("b").add_number_column("c", d.DOUBLE())
    return b.add_number_column("d", d.FLOAT()).add_array_column("l").add_array_column("m", ",", d.INT())


KINDS = [
    (True, 1, 1.5, 0.1, ["a", "b"], [1, 2]),
    (False, -1, 1e10, 1e-5, [], []),
    (None, None, None, None, None, None),
    (True, 1, float("nan"), float("inf"), ["c d"], [None, 1]),
    (True, 1, 100.0, 100.0, ["x,y", '"'], [1]),
]
DECIMALS = [(Decimal("1.5"),), (Decimal("1E+3"),), (Decimal("0.000000001"),)]
WRITE = {
    "plain": (two, TEXTS),
    "other separator": (lambda b, d: two(b).set_column_separator("|"), TEXTS),
    "escapes": (lambda b, d: two(b).set_escape_char("\\"), TEXTS),
    "other quotes": (lambda b, d: two(b).set_quote_char("'"), TEXTS),
    "null": (lambda b, d: two(b).set_null_value("NULL"), [*TEXTS[:5], ("NULL", "n")]),
    "line end of two characters": (lambda b, d: two(b).set_line_separator("\r\n"), TEXTS[:3]),
    "header": (lambda b, d: two(b).set_use_header(), TEXTS[:2]),
    "comments": (lambda b, d: two(b).set_allow_comments(), [("#a", "b"), ("c", "#d")]),
    "kinds": (kinds, KINDS),
    "decimals": (lambda b, d: b.add_number_column("a", d.DECIMAL(38, 18)), DECIMALS),
}
"""A schema and records, by name."""
