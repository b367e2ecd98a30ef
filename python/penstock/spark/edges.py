"""The connections between subtasks as a Spark DataFrame, for plans whose connections outgrow one machine.

The driver sends groups; the executors expand them with Spark's ``sequence`` and ``explode``, without Penstock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.common.extras import pyspark
from penstock.spark.inside_pyspark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.plan import ExecutionGraph

EDGES_PER_TASK = 1 << 22  # a task of this size takes about a second

PIECES_PER_TASK = 4  # a task gets several smaller pieces, so that tasks are of similar size whatever the groups are


def execution_edges(
    execution_graph: ExecutionGraph, spark: SparkSession, *, edges_per_task: int = EDGES_PER_TASK
) -> DataFrame:
    """The columns and rows of ``execution_graph.execution_edges()``, in no order, as a DataFrame that the executors
    expand. O(P + Q) on the driver for P producers and Q consumers."""
    import pyarrow

    pyspark("execution_edges() makes a DataFrame of Spark")
    from pyspark.sql import functions as F

    if edges_per_task < 1:
        raise ValueError(f"edges_per_task is {edges_per_task}, expected a number of rows of 1 or more")
    groups = frame_of(spark, pyarrow.table(execution_graph.consumed_partition_groups()))
    width = F.expr("last_partition - first_partition + 1")
    step = F.greatest(F.lit(1), F.floor(F.lit(max(1, edges_per_task // PIECES_PER_TASK)) / width)).cast("int")
    starts = F.explode(F.sequence("first_subtask", "last_subtask", "step")).alias("piece")
    pieces = groups.withColumn("step", step).select("*", starts)
    tasks = -(-execution_graph.total_edges // edges_per_task)
    subtasks = F.sequence("piece", F.least(F.col("piece") + F.col("step") - 1, F.col("last_subtask")))
    edges = pieces.repartition(max(1, tasks)).select("*", F.explode(subtasks).alias("subtask"))
    partitions = F.explode(F.sequence("first_partition", "last_partition")).alias("partition")
    return edges.select("consumer", "subtask", "input", "producer", "result", partitions)
