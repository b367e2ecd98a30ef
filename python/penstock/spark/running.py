"""Running a lowered job on Spark, to its rows for the driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.common.job_control import JobControl
from penstock.job.deployment import Deployment
from penstock.job.steps.progress import Progress
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import Rows, Store
from penstock.spark.cancelling import cancellable
from penstock.spark.naming import described, description
from penstock.spark.progress import followed


def driver_rows(
    session: Any,
    frame: Any,
    deployment: Deployment,
    control: JobControl,
    seen: Progress,
    *,
    step: int | None = None,
    tag: str | None = None,
    line: bool | None = None,
) -> Rows:
    """Run the job; the rows that arrive at the driver.

    Args:
        session: the job's.
        frame: of the rows; computed anew by each call.
        deployment: the job.
        control: by which it can be cancelled.
        seen: is told what its tasks do.
        step: number of the step, in a job of several.
        tag: that the caller has given this run alone, in a job of several.
        line: as for :func:`~penstock.spark.progress.followed`.

    Raises:
        JobExecutionError: a task has failed, or Spark has.
        JobCancelledError: it was cancelled.
    """
    frame = frame.select(*Row._fields)
    with (
        _failures_told(control),
        cancellable(session, control),
        described(session, description(deployment, step)),
        followed(session, deployment, control, seen, tag=tag, line=line),
    ):
        batches = frame.toArrow().to_batches()
    return _rows_of(batches)


@contextmanager
def _failures_told(control: JobControl) -> Iterator[None]:
    """Make of what Spark raises the error of the user's."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from penstock.spark.failures import local_failure

    try:
        yield
    except Exception as error:
        control.check()  # what a cancelled job ends with is nobody's business
        if not isinstance(error, PySparkException | Py4JJavaError):
            raise
        failure = local_failure(error)
        raise failure from (failure.__cause__ or error)


def _rows_of(batches: list[Any]) -> Rows:
    """The rows of Arrow batches, which go as they are read."""
    rows = Rows(Store())
    while batches:  # rows are sorted by whoever reads them
        for row in map(Row, *(column.to_pylist() for column in batches.pop().columns)):
            rows.append(row)
    return rows
