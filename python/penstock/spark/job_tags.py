"""Cancelling a job of Spark: everything it runs has a tag, by which it is interrupted."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from penstock.common.jobs.job_control import JobControl

_AGAIN = 0.1
"""Seconds between two interruptions: a stage that was just about to start has not seen the first."""


def tag_of(control: JobControl) -> str:
    """What every job of Spark has as a tag that belongs to this run."""
    return f"penstock-{control.job_id}"


@contextlib.contextmanager
def cancellable(session: Any, control: JobControl) -> Iterator[None]:
    """Within the block, what this thread starts in a session is interrupted when the job should be cancelled.

    A tag, unlike Spark's job group, leaves alone what the user has set."""
    tag, ended = tag_of(control), threading.Event()
    add, remove, cancel = _tagging(session)

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


def _tagging(session: Any) -> tuple[Callable[[str], None], Callable[[str], None], Callable[[str], object]]:
    """What adds a tag to this thread, removes it, and interrupts all that has it. The tags of a classic session are
    each thread's own, so that no other can interrupt by them; those of its Spark are everybody's."""
    try:
        spark = session.sparkContext
    except Exception:  # Spark Connect has no SparkContext; its tags are everybody's
        return session.addTag, session.removeTag, session.interruptTag
    return spark.addJobTag, spark.removeJobTag, spark.cancelJobsWithTag
