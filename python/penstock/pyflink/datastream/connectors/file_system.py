"""The names of PyFlink's ``pyflink.datastream.connectors.file_system``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.bulk_writer import BulkWriterFactory, RowDataBulkWriterFactory
from penstock.common.serialization import Encoder
from penstock.common.time import Duration
from penstock.datastream.connectors import (
    BucketAssigner,
    BulkFormat,
    DefaultRollingPolicy,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    OnCheckpointRollingPolicy,
    OutputFileConfig,
    RollingPolicy,
    Sink,
    Source,
    StreamFormat,
    StreamingFileSink,
    StreamTransformer,
    SupportsPreprocessing,
)
from penstock.datastream.functions import SinkFunction
from penstock.pyflink.deviating import get_gateway, to_jarray
from penstock.pyflink.missing import (
    FileCompactor,
    FileCompactStrategy,
    JavaObjectWrapper,
    is_instance_of,
)

__all__ = [
    "BucketAssigner",
    "BulkFormat",
    "BulkWriterFactory",
    "DefaultRollingPolicy",
    "Duration",
    "Encoder",
    "FileCompactStrategy",
    "FileCompactor",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "JavaObjectWrapper",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RollingPolicy",
    "RowDataBulkWriterFactory",
    "Sink",
    "SinkFunction",
    "Source",
    "StreamFormat",
    "StreamTransformer",
    "StreamingFileSink",
    "SupportsPreprocessing",
    "get_gateway",
    "is_instance_of",
    "to_jarray",
]
