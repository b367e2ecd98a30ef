"""The names of PyFlink's ``pyflink.common``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.job import JobExecutionResult
from penstock.common.restart_strategy import RestartStrategies
from penstock.common.row import Row, RowKind
from penstock.common.time import Duration, Time
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.pyflink.deviating import Configuration
from penstock.pyflink.missing import (
    AssignerWithPeriodicWatermarksWrapper,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    ByteArraySchema,
    CompletableFuture,
    ConfigOption,
    ConfigOptions,
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    DeserializationSchema,
    Encoder,
    ExecutionConfig,
    ExecutionMode,
    InputDependencyConstraint,
    Instant,
    JobClient,
    JobID,
    JobStatus,
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
    RestartStrategyConfiguration,
    SerializationSchema,
    SimpleStringSchema,
    TypeSerializer,
)

__all__ = [
    "AssignerWithPeriodicWatermarksWrapper",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "ByteArraySchema",
    "CompletableFuture",
    "ConfigOption",
    "ConfigOptions",
    "Configuration",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "DeserializationSchema",
    "Duration",
    "Encoder",
    "ExecutionConfig",
    "ExecutionMode",
    "InputDependencyConstraint",
    "Instant",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
    "JsonRowDeserializationSchema",
    "JsonRowSerializationSchema",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "Row",
    "RowKind",
    "SerializationSchema",
    "SimpleStringSchema",
    "Time",
    "TypeInformation",
    "TypeSerializer",
    "Types",
    "WatermarkStrategy",
]
