"""The names of PyFlink's ``pyflink.datastream.execution_mode``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.execution_mode import RuntimeExecutionMode
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "RuntimeExecutionMode",
    "get_gateway",
]
