"""The names of PyFlink's ``pyflink.datastream.connectors.jdbc``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.record_types import RowTypeInfo
from penstock.datastream.functions import SinkFunction
from penstock.pyflink.deviating import get_gateway, to_jarray
from penstock.pyflink.missing import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink

__all__ = [
    "JdbcConnectionOptions",
    "JdbcExecutionOptions",
    "JdbcSink",
    "RowTypeInfo",
    "SinkFunction",
    "get_gateway",
    "to_jarray",
]
