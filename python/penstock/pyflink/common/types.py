"""The names of PyFlink's ``pyflink.common.types``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.row import Row, RowKind
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "Row",
    "RowKind",
    "get_gateway",
]
