"""The names of PyFlink's ``pyflink.common.execution_mode``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import ExecutionMode

__all__ = [
    "ExecutionMode",
    "get_gateway",
]
