"""The names of PyFlink's ``pyflink.datastream.connectors.dynamic_kafka``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.serialization import DeserializationSchema
from penstock.datastream.connectors import (
    DynamicKafkaSource,
    DynamicKafkaSourceBuilder,
    KafkaMetadataService,
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaStreamSetSubscriber,
    KafkaStreamSubscriber,
    SingleClusterTopicMetadataService,
    Source,
    StreamPatternSubscriber,
)
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "DeserializationSchema",
    "DynamicKafkaSource",
    "DynamicKafkaSourceBuilder",
    "KafkaMetadataService",
    "KafkaOffsetsInitializer",
    "KafkaRecordDeserializationSchema",
    "KafkaStreamSetSubscriber",
    "KafkaStreamSubscriber",
    "SingleClusterTopicMetadataService",
    "Source",
    "StreamPatternSubscriber",
    "get_gateway",
]
