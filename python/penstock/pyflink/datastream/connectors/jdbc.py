"""The names of PyFlink's ``pyflink.datastream.connectors.jdbc``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.record_types import RowTypeInfo
from penstock.datastream.connectors import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from penstock.datastream.functions import SinkFunction
from penstock.pyflink.deviating import get_gateway, to_jarray

__all__ = [
    "JdbcConnectionOptions",
    "JdbcExecutionOptions",
    "JdbcSink",
    "RowTypeInfo",
    "SinkFunction",
    "get_gateway",
    "to_jarray",
]
