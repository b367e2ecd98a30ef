"""The names of PyFlink's ``pyflink.datastream.async_retry_predicates``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import (
    empty_result_predicate,
    exception_type_predicate,
    has_exception_predicate,
)

__all__ = [
    "empty_result_predicate",
    "exception_type_predicate",
    "has_exception_predicate",
]
