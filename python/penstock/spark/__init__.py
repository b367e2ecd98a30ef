"""Running programs on Spark: a thin layer that translates a deployment and decides nothing the plan already decided.

pyspark is imported when an executor runs its first program, not before.
"""

from __future__ import annotations

from penstock.spark.edges import execution_edges
from penstock.spark.executor import SparkExecutor

__all__ = ["SparkExecutor", "execution_edges"]
