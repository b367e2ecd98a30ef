"""The names of PyFlink's ``pyflink.common.job_status``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.job_status import JobStatus
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "JobStatus",
    "get_gateway",
]
