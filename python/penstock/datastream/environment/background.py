"""Jobs that run while their program goes on: a thread each."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context

from penstock.common import JobClient, JobExecutionResult, JobStatus
from penstock.common.job_control import JobControl
from penstock.errors import JobCancelledError

_LOG = logging.getLogger("penstock")


def start(
    run: Callable[[], JobExecutionResult], control: JobControl, job_name: str
) -> tuple[JobClient, Future[JobExecutionResult]]:
    """Run a job in a thread of its own. The process does not end before the job has.

    Args:
        run: runs it to its end.
        control: of this run.
        job_name: for the log.

    Returns:
        Its client, and its result.
    """
    result: Future[JobExecutionResult] = Future()
    client = JobClient(control, result)

    def body() -> None:
        try:
            value = run()
        except JobCancelledError as error:
            control.enter(JobStatus.CANCELED)
            result.set_exception(error)
        except BaseException as error:
            control.enter(JobStatus.FAILED)
            _LOG.error("The job %r, which runs in the background, has failed: %s", job_name, error)
            result.set_exception(error)
        else:
            control.enter(JobStatus.FINISHED)
            result.set_result(value)

    threading.Thread(target=copy_context().run, args=(body,), name=f"penstock-job-{control.job_id}").start()
    return client, result
