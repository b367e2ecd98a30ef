"""The names of PyFlink's ``pyflink.datastream.connectors.pulsar``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.time import Duration
from penstock.datastream.connectors import (
    DeliveryGuarantee,
    MessageDelayer,
    PulsarSink,
    PulsarSinkBuilder,
    PulsarSource,
    PulsarSourceBuilder,
    RangeGenerator,
    Sink,
    Source,
    StartCursor,
    StopCursor,
    TopicRoutingMode,
)
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import ConfigOption, ConfigOptions, load_java_class

__all__ = [
    "ConfigOption",
    "ConfigOptions",
    "DeliveryGuarantee",
    "DeserializationSchema",
    "Duration",
    "MessageDelayer",
    "PulsarSink",
    "PulsarSinkBuilder",
    "PulsarSource",
    "PulsarSourceBuilder",
    "RangeGenerator",
    "SerializationSchema",
    "Sink",
    "Source",
    "StartCursor",
    "StopCursor",
    "TopicRoutingMode",
    "get_gateway",
    "load_java_class",
]
