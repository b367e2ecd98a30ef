"""The names of PyFlink's ``pyflink.datastream.connectors.elasticsearch``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.datastream.connectors import (
    DeliveryGuarantee,
    Elasticsearch6SinkBuilder,
    Elasticsearch7SinkBuilder,
    ElasticsearchEmitter,
    ElasticsearchSink,
    ElasticsearchSinkBuilderBase,
    FlushBackoffType,
    Sink,
)
from penstock.pyflink.deviating import get_gateway, to_jarray

__all__ = [
    "DeliveryGuarantee",
    "Elasticsearch6SinkBuilder",
    "Elasticsearch7SinkBuilder",
    "ElasticsearchEmitter",
    "ElasticsearchSink",
    "ElasticsearchSinkBuilderBase",
    "FlushBackoffType",
    "Sink",
    "get_gateway",
    "to_jarray",
]
