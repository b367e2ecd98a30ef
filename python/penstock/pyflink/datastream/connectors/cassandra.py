"""The names of PyFlink's ``pyflink.datastream.connectors.cassandra``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.time import Duration
from penstock.datastream.connectors import (
    CassandraCommitter,
    CassandraFailureHandler,
    CassandraSink,
    ClusterBuilder,
    ConsistencyLevel,
    MapperOptions,
)
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "CassandraCommitter",
    "CassandraFailureHandler",
    "CassandraSink",
    "ClusterBuilder",
    "ConsistencyLevel",
    "Duration",
    "MapperOptions",
    "get_gateway",
]
