"""The names of PyFlink's ``pyflink.common.configuration``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import Configuration, get_gateway
from penstock.pyflink.missing import add_jars_to_context_class_loader

__all__ = [
    "Configuration",
    "add_jars_to_context_class_loader",
    "get_gateway",
]
