"""JobExecutionResult under PyFlink's path."""

from __future__ import annotations

from penstock.common.job import JobExecutionResult

__all__ = ["JobExecutionResult"]
