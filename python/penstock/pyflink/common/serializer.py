"""The names of PyFlink's ``pyflink.common.serializer``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.missing import TypeSerializer, VoidNamespaceSerializer

__all__ = [
    "TypeSerializer",
    "VoidNamespaceSerializer",
]
