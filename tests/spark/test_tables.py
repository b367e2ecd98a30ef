"""Spark reads every table as pyarrow does."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.spark.inside_pyspark import frame_of, version
from tests.plan_tables import TABLES, empty_execution_graph, execution_graph

READ = [name for name in TABLES if "binary" not in name or version() >= (4, 0)]
"""Bytes of a fixed length are a type that Spark reads from 4.0 on."""


@pytest.mark.parametrize("name", READ)
def test_spark_reads_a_table(spark, name: str) -> None:
    table = pa.table(TABLES[name](execution_graph()))
    frame = frame_of(spark, table)
    assert frame.columns == table.column_names
    rows = [tuple(map(plain, row)) for row in frame.collect()]
    assert sorted(rows, key=str) == sorted((tuple(row.values()) for row in table.to_pylist()), key=str)


def plain(value):
    return bytes(value) if isinstance(value, bytearray) else value


def test_spark_reads_an_empty_table(spark) -> None:
    for name in READ:
        assert frame_of(spark, pa.table(TABLES[name](empty_execution_graph()))).collect() == [], name
