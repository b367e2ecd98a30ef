"""The names of PyFlink's ``pyflink.datastream.formats.csv``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.bulk_writer import BulkWriterFactory, RowDataBulkWriterFactory
from penstock.common.scalar_types import TypeInformation
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.datastream.connectors import StreamFormat
from penstock.datastream.formats import (
    CsvBulkWriters,
    CsvReaderFormat,
    CsvSchema,
    CsvSchemaBuilder,
)
from penstock.datastream.schemas import CsvRowDeserializationSchema, CsvRowSerializationSchema
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "BulkWriterFactory",
    "CsvBulkWriters",
    "CsvReaderFormat",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "CsvSchema",
    "CsvSchemaBuilder",
    "DeserializationSchema",
    "RowDataBulkWriterFactory",
    "SerializationSchema",
    "StreamFormat",
    "TypeInformation",
    "get_gateway",
]
