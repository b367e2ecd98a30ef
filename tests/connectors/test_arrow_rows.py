"""Records to Arrow and back: nothing is lost, nothing is taken for something else."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from penstock.common import Instant, Row, Types
from penstock.connectors.spark.arrow_rows import ArrowWriter, arrow_schema, records
from penstock.connectors.spark.frames import size
from penstock.connectors.spark.spark_types import schema_of, type_of
from penstock.errors import TypeInfoError

INNER = Types.ROW_NAMED(["at", "n"], [Types.INSTANT(), Types.LONG()])
VALUES = {
    "tiny": (Types.BYTE(), [-128, 127]),
    "small": (Types.SHORT(), [-32768, 32767]),
    "int": (Types.INT(), [-(2**31), 2**31 - 1]),
    "long": (Types.LONG(), [-(2**63), 2**63 - 1]),
    "float": (Types.FLOAT(), [-1.5, float("inf")]),
    "double": (Types.DOUBLE(), [5e-324, 1.7976931348623157e308]),
    "big": (Types.BIG_INT(), [-(10**38) + 1, 10**38 - 1]),
    "decimal": (Types.BIG_DEC(), [Decimal("-99999999999999999999.999999999999999999"), Decimal("0E-18")]),
    "text": (Types.STRING(), ["", "a\u0000é\U0001f600"]),
    "bytes": (Types.PRIMITIVE_ARRAY(Types.BYTE()), [b"", bytes(range(256))]),
    "truth": (Types.BOOLEAN(), [True, False]),
    "date": (Types.SQL_DATE(), [datetime.date.min, datetime.date.max]),
    "time": (Types.SQL_TIME(), [datetime.time.min, datetime.time.max]),
    "local": (Types.SQL_TIMESTAMP(), [datetime.datetime.min, datetime.datetime.max]),
    "instant": (Types.INSTANT(), [Instant(-(10**11), 0), Instant(-1, 999_999_000)]),
    "list": (Types.LIST(Types.INSTANT()), [[], [None, Instant(0, 1000)]]),
    "map": (Types.MAP(Types.STRING(), INNER), [{}, {"a": None, "b": Row(at=Instant(5, 0), n=None)}]),
    "row": (INNER, [Row(at=None, n=1), Row(at=Instant(2**33, 0), n=-1)]),
    "pair": (Types.TUPLE([Types.INT(), Types.LIST(Types.STRING())]), [(1, ["x"]), (None, None)]),
}
ROW = Types.ROW_NAMED(list(VALUES), [kind for kind, _ in VALUES.values()])


def crossed(rows, declared=ROW):
    schema = schema_of(declared)
    writer = ArrowWriter(schema)
    batch = writer.batch([writer.values(row) for row in rows])
    message = pa.py_buffer(b"x" + batch.serialize().to_pybytes()).slice(1)  # at any address
    read = pa.ipc.read_record_batch(message, arrow_schema(schema))
    return [record for batch in records([read.slice(0, 1), read.slice(1)], schema, declared) for record in batch]


def test_every_type_with_its_extremes_and_nulls():
    rows = [Row(**{name: values[i] for name, (_, values) in VALUES.items()}) for i in range(2)]
    rows.append(Row(**dict.fromkeys(VALUES)))
    actual = crossed(rows)
    assert actual == rows
    assert [type(value) for value in actual[0].values] == [type(value) for value in rows[0].values]


def test_records_of_other_forms():
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    assert crossed([("a", 1), Row("b", 2), ["c", 3], Row(f1=4, f0="d"), {"f0": "e", "f1": 5}], pair) == [
        ("a", 1),
        ("b", 2),
        ("c", 3),
        ("d", 4),
        ("e", 5),
    ]
    assert crossed([1, None], Types.LONG()) == [1, None]


def test_names_of_columns_are_those_of_the_schema_unless_declared():
    schema = {
        "type": "struct",
        "fields": [{"name": "s", "type": {"type": "struct", "fields": [{"name": "a", "type": "long"}]}}],
    }
    batch = pa.RecordBatch.from_pydict({"s": [{"a": 1}]})
    assert next(records([batch], schema, type_of(schema))) == [Row(s=Row(a=1))]
    inner = Types.TUPLE([Types.LONG()])
    assert next(records([batch], schema, Types.ROW_NAMED(["t"], [inner]))) == [Row(t=(1,))]


def test_what_changes_later_does_not_change_what_was_taken():
    writer = ArrowWriter(schema_of(Types.ROW_NAMED(["a", "b"], [Types.LIST(Types.INT()), Types.LONG()])))
    items = [1]
    record = Row(a=items, b=2)
    values = writer.values(record)
    items.append(3)
    record[1] = 4
    assert writer.batch([values]).to_pylist() == [{"a": [1], "b": 2}]
    assert size([values]) == 16
    assert size([("abc", [b"12", None])]) == 13


WRONG = [
    (Types.LONG(), "1", "takes int"),
    (Types.LONG(), True, "takes int"),
    (Types.INT(), 2**31, "too large"),
    (Types.LONG(), 1.5, "takes int"),
    (Types.DOUBLE(), True, "takes float or int"),
    (Types.STRING(), b"x", "takes str"),
    (Types.STRING(), "\ud800", "surrogates"),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), "x", "takes bytes"),
    (Types.BOOLEAN(), 1, "takes bool"),
    (Types.SQL_DATE(), datetime.datetime(2020, 1, 1), "is a datetime, and the column takes date"),
    (Types.SQL_TIMESTAMP(), datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc), "is timezone-aware"),
    (Types.SQL_TIMESTAMP(), datetime.date(2020, 1, 1), "takes datetime"),
    (Types.INSTANT(), datetime.datetime(2020, 1, 1), "a timezone-aware datetime"),
    (Types.SQL_TIME(), 5, "takes time"),
    (Types.BIG_DEC(), 1.5, "takes Decimal or int"),
    (Types.BIG_DEC(), Decimal("1e-30"), "data loss"),
    (Types.LIST(Types.STRING()), "abc", "takes list"),
    (Types.LIST(Types.LONG()), [1, "x"], "takes int"),
    (Types.MAP(Types.STRING(), Types.LONG()), [("a", 1)], "takes dict"),
    (INNER, (1,), "not have the 2 fields"),
    (INNER, 5, "takes Row or tuple"),
]


@pytest.mark.parametrize(("kind", "value", "why"), WRONG, ids=lambda value: str(value)[:20])
def test_a_value_of_another_type_is_named(kind, value, why):
    with pytest.raises(
        TypeInfoError, match=rf"(?s)^The field 'x' of a record is .*, which is not of the type .*({why})"
    ):
        crossed([(1, value)], Types.ROW_NAMED(["n", "x"], [Types.LONG(), kind]))


@pytest.mark.parametrize("record", [5, (1,), (1, 2, 3), {"a": 1}, Row(1), "ab"])
def test_a_record_without_the_columns_is_named(record):
    with pytest.raises(TypeInfoError, match=r"The record .* does not have the columns \['f0', 'f1'\]"):
        crossed([record], Types.TUPLE([Types.LONG(), Types.LONG()]))


def test_a_moment_may_be_a_datetime_of_any_zone():
    east = datetime.timezone(datetime.timedelta(hours=2))
    assert crossed([datetime.datetime(1970, 1, 1, 2, tzinfo=east)], Types.INSTANT()) == [Instant(0, 0)]


def test_a_date_that_python_does_not_know_is_named():
    schema = {"type": "struct", "fields": [{"name": "born", "type": "date"}]}
    batch = pa.RecordBatch.from_arrays([pa.array([-800_000], pa.int32()).view(pa.date32())], names=["born"])
    with pytest.raises(TypeInfoError, match=r"column 'born', date, cannot be represented in Python.*years 1 to 9999"):
        list(records([batch], schema, type_of(schema)))


def test_fields_may_be_called_as_what_a_row_has():
    kind = Types.ROW_NAMED(["values", "field_names"], [Types.LONG(), Types.STRING()])
    assert crossed([Row(field_names="x", values=1)] * 2, kind) == [Row(values=1, field_names="x")] * 2
