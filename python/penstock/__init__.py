"""Penstock: Flink-style DataStream programs in Python, planned exactly as Apache Flink does, run on Apache Spark.

Importing this package is cheap on purpose: neither pyspark nor pyarrow nor the native planner is loaded before it is
used.
"""

from __future__ import annotations

from penstock.errors import PenstockError

__version__ = "0.1.0"

__all__ = ["PenstockError", "__version__"]
