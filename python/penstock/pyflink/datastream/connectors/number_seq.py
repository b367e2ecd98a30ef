"""The names of PyFlink's ``pyflink.datastream.connectors.number_seq``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.datastream.connectors import Source
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import NumberSequenceSource

__all__ = [
    "NumberSequenceSource",
    "Source",
    "get_gateway",
]
