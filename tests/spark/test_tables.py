"""Spark reads every table as pyarrow does."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.plan_tables import TABLES, empty_execution_graph, execution_graph


@pytest.mark.parametrize("name", TABLES)
def test_spark_reads_a_table(spark, name: str) -> None:
    table = pa.table(TABLES[name](execution_graph()))
    frame = spark.createDataFrame(table)
    assert frame.columns == table.column_names
    rows = [tuple(map(plain, row)) for row in frame.collect()]
    assert sorted(rows, key=str) == sorted((tuple(row.values()) for row in table.to_pylist()), key=str)


def plain(value):
    return bytes(value) if isinstance(value, bytearray) else value


def test_spark_reads_an_empty_table(spark) -> None:
    for name, table in TABLES.items():
        assert spark.createDataFrame(pa.table(table(empty_execution_graph()))).collect() == [], name
