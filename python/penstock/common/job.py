"""JobExecutionResult: what ``execute()`` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class JobExecutionResult:
    """A finished job.

    Attributes:
        job_name: the name given to ``execute()``.
        net_runtime_ms: wall-clock time of the job in milliseconds.
        collected: records by collect sink id, for ``execute_and_collect``.
    """

    job_name: str
    net_runtime_ms: int = 0
    collected: Mapping[str, list[Any]] = field(default_factory=dict)

    def get_net_runtime(self) -> int:
        """Wall-clock time of the job in milliseconds (PyFlink)."""
        return self.net_runtime_ms

    def is_job_execution_result(self) -> bool:
        """True: the job is over (PyFlink)."""
        return True
