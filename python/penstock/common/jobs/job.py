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

_HEX = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class JobID:
    """Names one run of a program; every run has another.

    Attributes:
        text: 32 hex digits, by chance unless given.

    Raises:
        InvalidProgramError: another text.
    """

    text: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or _HEX.fullmatch(self.text) is None:  # pyright: ignore[reportUnnecessaryIsInstance]
            refuse(f"JobID({self.text!r}): it is a text of 32 hex digits in small letters. Take it from str(job_id).")

    def __str__(self) -> str:
        return self.text


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


def _draw(result: JobExecutionResult, shown: Shown) -> Group:
    """The job in a line, and its metrics."""
    from rich.console import Group

    from penstock.display.tables import heading

    return Group(heading(f'Job "{result.job_name}": {result.summary()}'), draw_job(result.metrics, shown))


@drawn_by(_draw)
@dataclass(frozen=True, repr=False)
class JobExecutionResult:
    """A finished job.

    Attributes:
        job_name: the name given to ``execute()``.
        net_runtime_ms: wall-clock time of the job in milliseconds.
        collected: records by collect sink id, for ``execute_and_collect``.
        metrics: of the operators. Every subtask counts once, however often it was tried.
        job_id: which run it was.
    """

    job_name: str
    net_runtime_ms: int = 0
    collected: Mapping[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    metrics: JobMetrics = field(default_factory=JobMetrics)
    job_id: JobID = field(default_factory=JobID, compare=False)

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
        """The user's counters by identifier (``group.name``), each summed over all subtasks of all operators that have
        one (PyFlink). Python functions have no other accumulators."""
        return self.metrics.counters()

    def get_accumulator_result(self, accumulator_name: str) -> int | None:
        """One of :meth:`get_all_accumulator_results`; None if there is none of that name (PyFlink)."""
        return self.get_all_accumulator_results().get(accumulator_name)
