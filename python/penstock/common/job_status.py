"""JobStatus: how far a job is. Source of names and meanings: Flink's ``JobStatus``, spelt as PyFlink does."""

from __future__ import annotations

from enum import Enum


class JobStatus(Enum):
    """The status of a job.

    A job here is CREATED, then RUNNING, and in the end FINISHED, FAILED or CANCELED. While it waits to be run again by
    its restart strategy it is RESTARTING, and from the call of ``cancel`` until it has stopped CANCELLING. The other
    states are Flink's, and no job here has them.
    """

    CREATED = 0
    RUNNING = 1
    FAILING = 2
    FAILED = 3
    CANCELLING = 4
    CANCELED = 5
    FINISHED = 6
    RESTARTING = 7
    SUSPENDED = 8
    RECONCILING = 9

    def is_globally_terminal_state(self) -> bool:
        """Whether the job has ended for good: FAILED, CANCELED or FINISHED."""
        return self in (JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED)

    def is_terminal_state(self) -> bool:
        """Whether nobody works on the job any more: it has ended for good, or is SUSPENDED."""
        return self is JobStatus.SUSPENDED or self.is_globally_terminal_state()
