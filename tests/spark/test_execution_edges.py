"""Connections expanded on the executors are those that the planner materialises."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from penstock.plan import ExecutionGraph, StreamGraphBuilder
from penstock.spark import execution_edges
from tests.plan_tables import empty_execution_graph, execution_graph


def exchange(producers: int, consumers: int, partitioner: str) -> ExecutionGraph:
    builder = StreamGraphBuilder()
    builder.add_node(1, "Source: s", "source", parallelism=producers)
    builder.add_node(2, "Sink: s", "sink", parallelism=consumers)
    builder.add_edge(1, 2, partitioner=partitioner)
    return builder.build().job_graph().execution_graph()


GRAPHS = {
    "all tables": execution_graph,
    "hash": lambda: exchange(30, 20, "HASH"),
    "fan-in in floats": lambda: exchange(200, 192, "RESCALE"),
    "fan-out in floats": lambda: exchange(16, 14, "RESCALE"),
    "empty": empty_execution_graph,
}


@pytest.mark.parametrize("edges_per_task", [1, 37, 1 << 22])
@pytest.mark.parametrize("name", GRAPHS)
def test_edges_equal_the_planners(spark, name: str, edges_per_task: int) -> None:
    graph = GRAPHS[name]()
    if graph.total_edges > 50 * edges_per_task:
        edges_per_task = graph.total_edges // 20
    frame = execution_edges(graph, spark, edges_per_task=edges_per_task)
    table = pa.table(graph.execution_edges())
    assert frame.columns == table.column_names
    assert {field.dataType.simpleString() for field in frame.schema} == {"int"}
    assert Counter(map(tuple, frame.collect())) == Counter(tuple(row.values()) for row in table.to_pylist())
    assert frame.rdd.getNumPartitions() == -(-graph.total_edges // edges_per_task)


def test_a_wide_exchange_is_spread_over_tasks_and_counted_there(spark) -> None:
    from pyspark.sql import functions as F

    graph = exchange(2000, 1000, "HASH")
    assert graph.consumed_partition_groups().num_rows == 1, "all that the driver sends"
    frame = execution_edges(graph, spark, edges_per_task=250_000)
    sizes = [row["count"] for row in frame.groupBy(F.spark_partition_id()).count().collect()]
    assert sum(sizes) == graph.total_edges == 2_000_000
    assert len(sizes) == 8
    assert max(sizes) <= 1.3 * 250_000


def test_a_task_of_no_edges_is_refused(spark) -> None:
    with pytest.raises(ValueError, match="edges_per_task is 0"):
        execution_edges(execution_graph(), spark, edges_per_task=0)
