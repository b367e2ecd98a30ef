"""JobExecutionResult: what ``execute()`` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.common.job_id import JobID
from penstock.display import drawn_by
from penstock.metrics.results import JobMetrics


@drawn_by("penstock.common.drawing:job_result")
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
