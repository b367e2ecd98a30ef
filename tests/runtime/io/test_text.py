from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal

import pytest

from penstock.common import Row, RowKind, Types
from penstock.errors import TypeInfoError
from penstock.runtime.io.sinks import PrintSink
from penstock.runtime.io.text import file_text, java_double, java_float, print_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (0.001, "0.001"),
        (0.00012, "1.2E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1e10, "1.0E10"),
        (1e-5, "1.0E-5"),
        (123456.789, "123456.789"),
        (-1.5e300, "-1.5E300"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_doubles(value, text):
    assert java_double(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (110.1, "110.1"),
        (0.1, "0.1"),
        (1e7, "1.0E7"),
        (16777216, "1.6777216E7"),
        (1e300, "Infinity"),
        (0.0, "0.0"),
        (3.4e38, "3.4E38"),
    ],
)
def test_floats_are_32_bits_wide(value, text):
    assert java_float(value) == text


PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


@pytest.mark.parametrize(
    ("type_info", "value", "printed", "written"),
    [
        (PAIR, ("a", 1), "(a,1)", "(a,1)"),
        (PAIR, ("a", None), "(a,null)", "(a,null)"),
        (Types.TUPLE([PAIR, Types.BOOLEAN()]), (("a", 1), True), "((a,1),true)", "((a,1),true)"),
        (Types.BOOLEAN(), False, "false", "false"),
        (Types.STRING(), None, "null", "null"),
        (Types.DOUBLE(), 1e10, "1.0E10", "1.0E10"),
        (Types.BIG_DEC(), Decimal("1.50"), "1.50", "1.50"),
        (Types.LIST(Types.DOUBLE()), [1.0, 2.5], "[1.0, 2.5]", "[1.0, 2.5]"),
        (Types.MAP(Types.STRING(), Types.INT()), {"a": 1, "b": 2}, "{a=1, b=2}", "{a=1, b=2}"),
        (
            Types.SQL_TIMESTAMP(),
            datetime(2020, 1, 2, 3, 4, 5, 678000),
            "2020-01-02 03:04:05.678",
            "2020-01-02 03:04:05.678",
        ),
        (Types.SQL_TIMESTAMP(), datetime(2020, 1, 2), "2020-01-02 00:00:00.0", "2020-01-02 00:00:00.0"),
        (Types.SQL_DATE(), date(2020, 1, 2), "2020-01-02", "2020-01-02"),
        (Types.SQL_TIME(), time(3, 4, 5), "03:04:05", "03:04:05"),
        (Types.ROW([Types.INT(), Types.STRING(), Types.STRING()]), Row(1, "a", None), "+I[1,a,None]", "+I[1, a, null]"),
        (Types.ROW([Types.INT()]), Row.of_kind(RowKind.DELETE, 1), "-D[1]", "-D[1]"),
        (None, (1, "a", None, True), "(1, 'a', None, True)", "(1, 'a', None, True)"),
        (None, Row(1, "a"), "<Row(1, 'a')>", "<Row(1, 'a')>"),
        (None, Row(x=1), "Row(x=1)", "Row(x=1)"),
        (None, "text", "text", "text"),
        (None, None, "None", "None"),
        (Types.PICKLED_BYTE_ARRAY(), {"a": 1}, "{'a': 1}", "{'a': 1}"),
    ],
)
def test_records(type_info, value, printed, written):
    assert print_text(type_info)(value) == printed
    assert file_text(type_info)(value) == written


def test_prefixes():
    assert PrintSink().prefix(0, 1) == ""
    assert PrintSink().prefix(1, 3) == "2> "
    assert PrintSink("id").prefix(0, 1) == "id> "
    assert PrintSink("id").prefix(1, 3) == "id:2> "


@pytest.mark.parametrize("value", [("a",), ("a", 1, 2), 5])
def test_a_record_that_does_not_fit_its_type(value):
    with pytest.raises(TypeInfoError, match="2 fields"):
        print_text(PAIR)(value)
