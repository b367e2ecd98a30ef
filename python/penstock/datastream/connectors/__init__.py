"""Connectors, under PyFlink's names: what programs read from and write to. Reading and writing itself is
:mod:`penstock.runtime.io`.

A source of your own is a subclass of :class:`Source`.
"""

from __future__ import annotations

from penstock.datastream.connectors.base import DeliveryGuarantee, Sink, StreamTransformer, SupportsPreprocessing
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.connectors.file_system import (
    BucketAssigner,
    BulkFormat,
    BulkFormatBuilder,
    DefaultBulkFormatBuilder,
    DefaultRollingPolicy,
    DefaultRowFormatBuilder,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    OnCheckpointRollingPolicy,
    OutputFileConfig,
    RollingPolicy,
    RowFormatBuilder,
    StreamFormat,
    StreamingFileSink,
)
from penstock.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    FlinkKafkaConsumerBase,
    FlinkKafkaProducer,
    FlinkKafkaProducerBase,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecord,
    KafkaRecordDeserializationSchema,
    KafkaRecordSerializationSchema,
    KafkaRecordSerializationSchemaBuilder,
    KafkaSink,
    KafkaSinkBuilder,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
    KafkaTopicSelector,
    Semantic,
)
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.runtime.io.splits import Records, Source, Split

__all__ = [
    "BucketAssigner",
    "BulkFormat",
    "BulkFormatBuilder",
    "DataGeneratorSource",
    "DefaultBulkFormatBuilder",
    "DefaultRollingPolicy",
    "DefaultRowFormatBuilder",
    "DeliveryGuarantee",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "FlinkKafkaConsumer",
    "FlinkKafkaConsumerBase",
    "FlinkKafkaProducer",
    "FlinkKafkaProducerBase",
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaRecord",
    "KafkaRecordDeserializationSchema",
    "KafkaRecordSerializationSchema",
    "KafkaRecordSerializationSchemaBuilder",
    "KafkaSink",
    "KafkaSinkBuilder",
    "KafkaSource",
    "KafkaSourceBuilder",
    "KafkaTopicPartition",
    "KafkaTopicSelector",
    "NumberSequenceSource",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "Records",
    "RollingPolicy",
    "RowFormatBuilder",
    "Semantic",
    "Sink",
    "Source",
    "Split",
    "StreamFormat",
    "StreamTransformer",
    "StreamingFileSink",
    "SupportsPreprocessing",
]
