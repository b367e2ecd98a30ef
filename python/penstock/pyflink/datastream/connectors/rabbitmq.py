"""The names of PyFlink's ``pyflink.datastream.connectors.rabbitmq``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.datastream.connectors import RMQConnectionConfig, RMQSink, RMQSource
from penstock.datastream.functions import SinkFunction, SourceFunction
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "DeserializationSchema",
    "RMQConnectionConfig",
    "RMQSink",
    "RMQSource",
    "SerializationSchema",
    "SinkFunction",
    "SourceFunction",
    "get_gateway",
]
