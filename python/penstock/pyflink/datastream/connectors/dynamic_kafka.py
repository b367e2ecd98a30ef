"""The names of PyFlink's ``pyflink.datastream.connectors.dynamic_kafka``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.serialization import DeserializationSchema
from penstock.datastream.connectors import (
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    Source,
)
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import (
    DynamicKafkaSource,
    DynamicKafkaSourceBuilder,
    KafkaMetadataService,
    KafkaStreamSetSubscriber,
    KafkaStreamSubscriber,
    SingleClusterTopicMetadataService,
    StreamPatternSubscriber,
)

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
