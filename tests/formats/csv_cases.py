"""CSV files and what is to be written as CSV."""

from __future__ import annotations

from decimal import Decimal
from math import inf, nan
from pathlib import Path


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


def kinds(b, d):
    b.add_boolean_column("a").add_number_column("b").add_number_column("c", d.DOUBLE())
    return b.add_number_column("d", d.FLOAT()).add_array_column("l").add_array_column("m", ",", d.INT())


def cases(kind):
    """What makes a schema, and a file to read or records to write, by name; see csv_cases.tsv."""
    with Path(__file__).with_suffix(".tsv").open(encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {name: (eval(f"lambda b, d: {schema}"), eval(value)) for of, name, schema, value in rows if of == kind}


READ, WRITE = cases("read"), cases("write")
NAMES = Decimal, inf, nan
"""What the table names."""
