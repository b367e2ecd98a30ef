"""Connectors under PyFlink's names: the sources and sinks of a program. Their implementation is in
:mod:`penstock.connectors`.

A custom source is a subclass of :class:`Source`.
"""

from __future__ import annotations

from typing import NoReturn

from penstock.datastream.connectors.base import DeliveryGuarantee, Sink, StreamTransformer, SupportsPreprocessing
from penstock.datastream.connectors.datagen import DataGeneratorSource, NumberSequenceSource, RateLimiterStrategy
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
from penstock.datastream.connectors.hybrid_source import HybridSource, HybridSourceBuilder
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
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
from penstock.datastream.connectors.spark import SparkSink
from penstock.datastream.sinks import TwoPhaseCommitSink
from penstock.errors import UnsupportedError
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
    "HybridSource",
    "HybridSourceBuilder",
    "JdbcConnectionOptions",
    "JdbcExecutionOptions",
    "JdbcSink",
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
    "RateLimiterStrategy",
    "Records",
    "RollingPolicy",
    "RowFormatBuilder",
    "Semantic",
    "Sink",
    "Source",
    "SparkSink",
    "Split",
    "StreamFormat",
    "StreamTransformer",
    "StreamingFileSink",
    "SupportsPreprocessing",
    "TwoPhaseCommitSink",
]

_PLANNED = ("Cassandra", "DynamicKafka", "Elasticsearch", "FlinkKinesis", "Kinesis", "Pulsar", "RMQ")
"""Prefixes of the connectors that can be planned but not run."""


def __getattr__(name: str) -> NoReturn:
    """Refuse a connector that can only be planned, and name its module."""
    if name.startswith(_PLANNED):
        raise UnsupportedError(
            f"{name} of penstock.datastream.connectors has moved: it cannot run here. To plan a program with it, "
            "import it from PyFlink's module below penstock.pyflink.datastream.connectors."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
