"""The tag that everything which a job runs on Spark has, and by which it is interrupted."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from penstock.common.jobs.job_control import JobControl

_AGAIN = 0.1
"""Seconds between two interruptions: a stage that was just about to start has not seen the first."""


def tag_of(control: JobControl) -> str:
    """The tag of every job of Spark that belongs to this run."""
    return f"penstock-{control.job_id}"


def context_of(session: Any) -> Any:
    """The session's SparkContext; None over Spark Connect, which has none."""
    try:
        return session.sparkContext
    except Exception:
        return None


@contextlib.contextmanager
def cancellable(session: Any, control: JobControl) -> Iterator[None]:
    """Within the block, what this thread starts in a session is interrupted when the job should be cancelled. A tag,
    unlike Spark's job group, leaves alone what the user has set."""
    tag, ended = tag_of(control), threading.Event()
    spark = context_of(session)
    if spark is None:
        add, remove, cancel = session.addTag, session.removeTag, session.interruptTag
    else:  # a classic session's own tags are each thread's, so that no other could interrupt by them
        add, remove, cancel = spark.addJobTag, spark.removeJobTag, spark.cancelJobsWithTag

    def interrupt() -> None:
        while not ended.is_set():
            with contextlib.suppress(Exception):  # it has ended, or Spark has: both show where the job waits
                cancel(tag)
            ended.wait(_AGAIN)

    def act() -> None:
        threading.Thread(target=interrupt, daemon=True, name="penstock-cancel").start()

    with control.on_cancel(act):
        add(tag)
        try:
            yield
        finally:
            ended.set()
            remove(tag)
