"""Types of Spark's columns: each has its type of records, and leads back to a column that holds the same."""

from __future__ import annotations

import pytest
from pyspark.sql import types as spark

from penstock.common import Types
from penstock.connectors.spark.spark_types import (
    check_declared,
    check_fields,
    nullable,
    schema_of,
    shown,
    type_of,
    undeclared,
)
from penstock.errors import TypeInfoError, UnsupportedError

PAIRS = [
    (spark.ByteType(), Types.BYTE()),
    (spark.ShortType(), Types.SHORT()),
    (spark.IntegerType(), Types.INT()),
    (spark.LongType(), Types.LONG()),
    (spark.FloatType(), Types.FLOAT()),
    (spark.DoubleType(), Types.DOUBLE()),
    (spark.DecimalType(38, 18), Types.BIG_DEC()),
    (spark.StringType(), Types.STRING()),
    (spark.BinaryType(), Types.PRIMITIVE_ARRAY(Types.BYTE())),
    (spark.BooleanType(), Types.BOOLEAN()),
    (spark.DateType(), Types.SQL_DATE()),
    (spark.TimeType(6), Types.SQL_TIME()),
    (spark.TimestampType(), Types.INSTANT()),
    (spark.TimestampNTZType(), Types.SQL_TIMESTAMP()),
    (spark.ArrayType(spark.StringType()), Types.LIST(Types.STRING())),
    (spark.MapType(spark.StringType(), spark.LongType()), Types.MAP(Types.STRING(), Types.LONG())),
    (
        spark.StructType().add("a", spark.ArrayType(spark.DateType())).add("b", "short"),
        Types.ROW_NAMED(["a", "b"], [Types.LIST(Types.SQL_DATE()), Types.SHORT()]),
    ),
]


@pytest.mark.parametrize(("column", "declared"), PAIRS, ids=lambda value: str(value))
def test_there_and_back(column, declared):
    rows = Types.ROW_NAMED(["x"], [declared])
    schema = spark.StructType().add("x", column).jsonValue()
    assert type_of(schema) == rows
    assert schema_of(rows) == schema
    assert shown(column.jsonValue()) == column.simpleString()
    check_declared(column.jsonValue(), declared, "x")
    check_declared(column.jsonValue(), Types.PICKLED_BYTE_ARRAY(), "x")


def test_other_types_of_records_have_a_column_too():
    declared = [Types.CHAR(), Types.BIG_INT(), Types.TUPLE([Types.INT()]), Types.OBJECT_ARRAY(Types.ROW([Types.INT()]))]
    schema = spark.StructType.fromJson(schema_of(Types.TUPLE(declared)))
    assert schema.simpleString() == ("struct<f0:string,f1:decimal(38,0),f2:struct<f0:int>,f3:array<struct<f0:int>>>")
    assert spark.StructType.fromJson(schema_of(Types.LONG())).simpleString() == "struct<value:bigint>"


def test_what_has_no_type_of_records_is_named():
    inside = spark.ArrayType(spark.StructType().add("how long", spark.DayTimeIntervalType()))
    with pytest.raises(UnsupportedError, match=r"'spans\[\]\.how long' has Spark's type interval day to second"):
        type_of(spark.StructType().add("spans", inside).jsonValue())
    for kind in (spark.VariantType(), spark.YearMonthIntervalType(), spark.CalendarIntervalType()):
        with pytest.raises(UnsupportedError, match="column 'x' has"):
            type_of(spark.StructType().add("x", kind).jsonValue())
    assert type_of("void") == Types.PICKLED_BYTE_ARRAY()


def test_names_differ():
    with pytest.raises(TypeInfoError, match=r"several fields named \['a'\]"):
        type_of(spark.StructType().add("a", "integer").add("a", "long").jsonValue())


@pytest.mark.parametrize(
    ("column", "declared"),
    [
        ("string", Types.INT()),
        ("long", Types.INT()),
        ("double", Types.FLOAT()),
        ("timestamp", Types.SQL_TIMESTAMP()),
        ("decimal(10,2)", Types.LONG()),
        ("string", Types.CHAR()),
        ({"type": "array", "elementType": "string", "containsNull": True}, Types.LIST(Types.INT())),
        ({"type": "struct", "fields": [{"name": "a", "type": "long"}]}, Types.ROW_NAMED(["a"], [Types.STRING()])),
    ],
    ids=lambda value: shown(value) if isinstance(value, (str, dict)) else str(value),
)
def test_a_declared_type_that_the_values_are_not(column, declared):
    with pytest.raises(TypeInfoError, match="for the column 'x"):
        check_declared(column, declared, "x")


@pytest.mark.parametrize(
    ("column", "declared"),
    [
        ("integer", Types.LONG()),
        ("float", Types.DOUBLE()),
        ("decimal(10,2)", Types.BIG_DEC()),
        ("long", Types.BIG_INT()),
    ],
)
def test_a_wider_type_may_be_declared(column, declared):
    check_declared(column, declared, "x")


def test_as_many_types_as_columns():
    with pytest.raises(TypeInfoError, match=r"of 2 fields for a DataFrame of 1: \['a'\]"):
        check_fields([{"name": "a", "type": "long"}], Types.TUPLE([Types.LONG(), Types.LONG()]))


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        (None, "records is not declared"),
        (Types.PICKLED_BYTE_ARRAY(), "records is not declared"),
        (Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.LIST(Types.PICKLED_BYTE_ARRAY())]), r"fields \['b'\] of"),
        (Types.ROW([]), "no fields"),
    ],
)
def test_which_declaration_is_missing(declared, says):
    import re

    assert schema_of(declared) is None
    assert re.search(says, undeclared(declared))


def test_what_tasks_make_may_be_null():
    kind = spark.MapType(spark.StringType(), spark.ArrayType(spark.LongType(), False), False)
    schema = nullable(spark.StructType().add("a", kind, False).jsonValue())
    struct = spark.StructType.fromJson(schema)
    assert struct == spark.StructType().add("a", spark.MapType(spark.StringType(), spark.ArrayType(spark.LongType())))
