"""The names of PyFlink's ``pyflink.datastream.output_tag``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.output_tag import OutputTag
from penstock.common.record_types import RowTypeInfo
from penstock.common.scalar_types import TypeInformation
from penstock.common.typeinfo import Types
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "OutputTag",
    "RowTypeInfo",
    "TypeInformation",
    "Types",
    "get_gateway",
]
