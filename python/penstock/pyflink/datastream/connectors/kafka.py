"""The names of PyFlink's ``pyflink.datastream.connectors.kafka``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.row import Row
from penstock.common.scalar_types import TypeInformation
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import Types
from penstock.datastream.connectors import (
    DeliveryGuarantee,
    FlinkKafkaConsumer,
    FlinkKafkaConsumerBase,
    FlinkKafkaProducer,
    FlinkKafkaProducerBase,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaRecordSerializationSchemaBuilder,
    KafkaSink,
    KafkaSinkBuilder,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
    KafkaTopicSelector,
    Semantic,
    Sink,
    Source,
    StreamTransformer,
    SupportsPreprocessing,
)
from penstock.datastream.functions import SinkFunction, SourceFunction
from penstock.pyflink.deviating import get_gateway, to_jarray
from penstock.pyflink.missing import get_field, get_field_value

__all__ = [
    "DeliveryGuarantee",
    "DeserializationSchema",
    "FlinkKafkaConsumer",
    "FlinkKafkaConsumerBase",
    "FlinkKafkaProducer",
    "FlinkKafkaProducerBase",
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaRecordSerializationSchema",
    "KafkaRecordSerializationSchemaBuilder",
    "KafkaSink",
    "KafkaSinkBuilder",
    "KafkaSource",
    "KafkaSourceBuilder",
    "KafkaTopicPartition",
    "KafkaTopicSelector",
    "Row",
    "Semantic",
    "SerializationSchema",
    "Sink",
    "SinkFunction",
    "Source",
    "SourceFunction",
    "StreamTransformer",
    "SupportsPreprocessing",
    "TypeInformation",
    "Types",
    "get_field",
    "get_field_value",
    "get_gateway",
    "to_jarray",
]
