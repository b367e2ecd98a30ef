"""The names of PyFlink's ``pyflink.datastream.formats.parquet``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.bulk_writer import BulkWriterFactory, RowDataBulkWriterFactory
from penstock.datastream.connectors import BulkFormat, StreamFormat
from penstock.datastream.formats import (
    AvroParquetReaders,
    AvroParquetWriters,
    AvroSchema,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from penstock.pyflink.deviating import Configuration, get_gateway
from penstock.pyflink.missing import create_hadoop_configuration

__all__ = [
    "AvroParquetReaders",
    "AvroParquetWriters",
    "AvroSchema",
    "BulkFormat",
    "BulkWriterFactory",
    "Configuration",
    "ParquetBulkWriters",
    "ParquetColumnarRowInputFormat",
    "RowDataBulkWriterFactory",
    "StreamFormat",
    "create_hadoop_configuration",
    "get_gateway",
]
