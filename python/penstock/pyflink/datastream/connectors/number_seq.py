"""The names of PyFlink's ``pyflink.datastream.connectors.number_seq``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.datastream.connectors import NumberSequenceSource, Source
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "NumberSequenceSource",
    "Source",
    "get_gateway",
]
