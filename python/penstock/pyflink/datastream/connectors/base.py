"""The names of PyFlink's ``pyflink.datastream.connectors.base``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.datastream.connectors import (
    DeliveryGuarantee,
    Sink,
    Source,
    StreamTransformer,
    SupportsPreprocessing,
)
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import JavaFunctionWrapper

__all__ = [
    "DeliveryGuarantee",
    "JavaFunctionWrapper",
    "Sink",
    "Source",
    "StreamTransformer",
    "SupportsPreprocessing",
    "get_gateway",
]
