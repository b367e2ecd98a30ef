"""The names of PyFlink's ``pyflink.common.completable_future``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.completable_future import CompletableFuture
from penstock.pyflink.deviating import convert_py4j_exception

__all__ = [
    "CompletableFuture",
    "convert_py4j_exception",
]
