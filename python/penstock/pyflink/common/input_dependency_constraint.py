"""The names of PyFlink's ``pyflink.common.input_dependency_constraint``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import InputDependencyConstraint

__all__ = [
    "InputDependencyConstraint",
    "get_gateway",
]
