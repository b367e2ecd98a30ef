"""Executors read a savepoint of Flink, and its DataFrames are what is read here."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from penstock.savepoints import read
from penstock.spark.inside_pyspark import batches_of
from tests.flink_savepoints.golden import place

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("name", ["parallel_b", "windows_a", "broadcast_b", "union_a"])
def test_a_data_frame_has_the_rows_of_the_table(spark: Any, name: str) -> None:
    savepoint = read(place("2.3.0", name))
    count = 0
    for operator in savepoint.operators():
        for state in savepoint.states(operator.operator_id):
            here = savepoint.read(operator.operator_id, state).to_arrow()
            frame = savepoint.to_spark(spark, operator.operator_id, state)
            assert frame.rdd.getNumPartitions() == operator.parallelism
            computed = pa.Table.from_batches(batches_of(frame))
            assert computed.column_names == here.column_names
            assert sorted(map(repr, computed.to_pylist())) == sorted(map(repr, here.to_pylist()))
            count += computed.num_rows
    assert count > 9
