"""The Spark session of the peers on Spark, and what Spark knows about its shuffles."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

Facts = dict[str, Any]
Job = Callable[[Any, str], "Facts | None"]


def session(parallelism: int) -> Any:
    """A session with the settings of Penstock's jobs, so that a difference is the program's alone; but its workers come
    from Spark's own daemon (where a session runs already, as in smoke mode, from whichever it has)."""
    from pyspark import SparkContext

    from penstock.spark.session import job_session, open_session

    settings = {} if SparkContext._active_spark_context else {"spark.python.daemon.module": "pyspark.daemon"}
    return job_session(open_session(f"local[{parallelism}]", settings))


def plain_session(parallelism: int) -> Any:
    """A session without settings; but workers need the Python that started it."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return SparkSession.builder.master(f"local[{parallelism}]").getOrCreate()


def measured(job: Callable[[Any, str], None]) -> Job:
    """A job that also tells the bytes its stages wrote for the next ones, compressed as Spark compresses them."""

    def run(data: Any, folder: str) -> Facts:
        before = _last_stage()
        job(data, folder)
        return {"shuffle_bytes": sum(size for stage, size in _stages() if stage > before)}

    return run


def _last_stage() -> int:
    return max((stage for stage, _ in _stages()), default=-1)


def _stages() -> list[tuple[int, int]]:
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    if context is None:
        return []
    gateway = context._gateway
    stages = context._jsc.sc().statusStore().stageList(
        None, False, False, gateway.new_array(gateway.jvm.double, 0), None
    )  # fmt: skip
    return [(stage.stageId(), stage.shuffleWriteBytes()) for stage in map(stages.apply, range(stages.size()))]
