"""The names of PyFlink's ``pyflink.common.serializer``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.serializer import TypeSerializer
from penstock.pyflink.missing import VoidNamespaceSerializer

__all__ = [
    "TypeSerializer",
    "VoidNamespaceSerializer",
]
