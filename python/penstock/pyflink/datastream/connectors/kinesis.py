"""The names of PyFlink's ``pyflink.datastream.connectors.kinesis``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.datastream.connectors import (
    FlinkKinesisConsumer,
    KinesisDeserializationSchema,
    KinesisFirehoseSink,
    KinesisFirehoseSinkBuilder,
    KinesisShardAssigner,
    KinesisStreamsSink,
    KinesisStreamsSinkBuilder,
    PartitionKeyGenerator,
    Sink,
    WatermarkTracker,
)
from penstock.datastream.functions import SourceFunction
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import AssignerWithPeriodicWatermarksWrapper

__all__ = [
    "AssignerWithPeriodicWatermarksWrapper",
    "DeserializationSchema",
    "FlinkKinesisConsumer",
    "KinesisDeserializationSchema",
    "KinesisFirehoseSink",
    "KinesisFirehoseSinkBuilder",
    "KinesisShardAssigner",
    "KinesisStreamsSink",
    "KinesisStreamsSinkBuilder",
    "PartitionKeyGenerator",
    "SerializationSchema",
    "Sink",
    "SourceFunction",
    "WatermarkTracker",
    "get_gateway",
]
