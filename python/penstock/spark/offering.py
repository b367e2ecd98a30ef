"""How many subtasks there is room for on Spark, for programs that take what there is."""

from __future__ import annotations

from typing import Any

from penstock.errors import UnsupportedError
from penstock.spark.shipping import context_of


def offered(session: Any) -> int:
    """Tasks that can run at the same time now: the cores of all executors that have come, by those of a task; or what
    ``spark.default.parallelism`` says. One call of Spark, about a millisecond.

    Args:
        session: the job's.

    Raises:
        UnsupportedError: the session is one of Spark Connect.
    """
    spark = context_of(session)
    if spark is None:
        raise UnsupportedError(
            "scheduler-mode is reactive (--reactive), and over Spark Connect nobody tells how many cores there are. "
            "Say the parallelism, by parallelism.default or --parallelism, or run the program in a session of its own."
        )
    return max(1, spark.defaultParallelism // int(spark.getConf().get("spark.task.cpus", "1")))
