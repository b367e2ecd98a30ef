"""The names of PyFlink's ``pyflink.datastream.async_data_stream``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.async_retry import AsyncRetryStrategy
from penstock.common.scalar_types import TypeInformation
from penstock.common.time import Time
from penstock.datastream.async_data_stream import AsyncDataStream
from penstock.datastream.data_stream import DataStream
from penstock.datastream.functions import AsyncFunction
from penstock.pyflink.deviating import get_gateway, get_j_env_configuration
from penstock.pyflink.missing import AsyncFunctionDescriptor

__all__ = [
    "AsyncDataStream",
    "AsyncFunction",
    "AsyncFunctionDescriptor",
    "AsyncRetryStrategy",
    "DataStream",
    "Time",
    "TypeInformation",
    "get_gateway",
    "get_j_env_configuration",
]
