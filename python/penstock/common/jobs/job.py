"""A job as its program sees it: its ID, its status, its result."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from penstock.common.checks import refuse
from penstock.display import drawn_by
from penstock.metrics.results import JobMetrics, draw_job

if TYPE_CHECKING:
    from rich.console import Group

    from penstock.display.tables import Shown


@dataclass(frozen=True)
class JobID:
    """Names one run of a program. InvalidProgramError for other texts than 32 hex digits."""

    text: str = field(default_factory=lambda: uuid.uuid4().hex)  # 32 hex digits, by chance unless given

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or re.fullmatch("[0-9a-f]{32}", self.text) is None:  # pyright: ignore[reportUnnecessaryIsInstance]
            refuse(f"JobID({self.text!r}): it is a text of 32 hex digits in small letters. Take it from str(job_id).")

    def __str__(self) -> str:
        return self.text


class JobStatus(Enum):
    """The status of a job: CREATED, RUNNING, and in the end FINISHED, FAILED or CANCELED; RESTARTING while it waits to
    be run again, CANCELLING from the call of ``cancel`` to its end. The others are Flink's, and no job here has them.
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


def _draw(result: JobExecutionResult, shown: Shown) -> Group:
    from rich.console import Group

    from penstock.display.tables import heading

    return Group(heading(f'Job "{result.job_name}": {result.summary()}'), draw_job(result.metrics, shown))


@drawn_by(_draw)
@dataclass(frozen=True, repr=False)
class JobExecutionResult:
    """A finished job."""

    job_name: str  # the name given to ``execute()``
    net_runtime_ms: int = 0  # wall-clock time of the job in milliseconds
    collected: Mapping[str, list[Any]] = field(default_factory=dict[str, list[Any]])  # records by collect sink id
    metrics: JobMetrics = field(default_factory=JobMetrics)  # every subtask counts once, however often it was tried
    job_id: JobID = field(default_factory=JobID, compare=False)  # which run it was

    def __repr__(self) -> str:
        return f"JobExecutionResult({self.job_name!r}, {self.summary()})"

    def summary(self) -> str:
        """The job in a few words, such as ``4 operators, 15 ms``."""
        collected = sum(map(len, self.collected.values()))
        records = f", {collected:,} records collected" if self.collected else ""
        return f"{len(self.metrics)} operators, {self.net_runtime_ms:,} ms{records}"

    def get_job_id(self) -> JobID:
        """Which run it was (PyFlink)."""
        return self.job_id

    def get_net_runtime(self) -> int:
        """Wall-clock time of the job in milliseconds (PyFlink)."""
        return self.net_runtime_ms

    def is_job_execution_result(self) -> bool:
        """True: the job is over (PyFlink)."""
        return True

    def get_all_accumulator_results(self) -> dict[str, int]:
        """The user's counters by identifier (``group.name``), summed over all subtasks of all operators (PyFlink)."""
        return self.metrics.counters()

    def get_accumulator_result(self, accumulator_name: str) -> int | None:
        """One of :meth:`get_all_accumulator_results`; None if there is none of that name (PyFlink)."""
        return self.get_all_accumulator_results().get(accumulator_name)
