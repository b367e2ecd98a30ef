"""The names of PyFlink's ``pyflink.common.job_client``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.completable_future import CompletableFuture
from penstock.common.job import JobExecutionResult
from penstock.common.job_client import JobClient
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus

__all__ = [
    "CompletableFuture",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
]
