"""The names of PyFlink's ``pyflink.common.job_status``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import JobStatus

__all__ = [
    "JobStatus",
    "get_gateway",
]
