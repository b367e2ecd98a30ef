"""The names of PyFlink's ``pyflink.datastream.connectors.hybrid_source``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.datastream.connectors import HybridSource, HybridSourceBuilder, Source
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "HybridSource",
    "HybridSourceBuilder",
    "Source",
    "get_gateway",
]
