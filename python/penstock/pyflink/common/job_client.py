"""The names of PyFlink's ``pyflink.common.job_client``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.job import JobExecutionResult
from penstock.pyflink.missing import CompletableFuture, JobClient, JobID, JobStatus

__all__ = [
    "CompletableFuture",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
]
