"""A job's result as a drawing for terminals and notebooks."""

from __future__ import annotations

from rich.console import Group

from penstock.common.job import JobExecutionResult
from penstock.display.tables import Shown, heading
from penstock.metrics.drawing import job_metrics


def job_result(result: JobExecutionResult, shown: Shown) -> Group:
    """The job in a line, and its metrics."""
    return Group(heading(f'Job "{result.job_name}": {result.summary()}'), job_metrics(result.metrics, shown))
