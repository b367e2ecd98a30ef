"""The names of PyFlink's ``pyflink.common.job_execution_result``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.job import JobExecutionResult
from penstock.common.job_id import JobID

__all__ = [
    "JobExecutionResult",
    "JobID",
]
