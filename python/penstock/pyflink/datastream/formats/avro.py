"""The names of PyFlink's ``pyflink.datastream.formats.avro``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.bulk_writer import BulkWriterFactory
from penstock.common.scalar_types import TypeInformation
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.datastream.formats import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroSchema,
    GenericRecordAvroTypeInfo,
    InputFormat,
)
from penstock.datastream.schemas import AvroRowDeserializationSchema, AvroRowSerializationSchema
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import ResultTypeQueryable, get_field_value, load_java_class

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "BulkWriterFactory",
    "DeserializationSchema",
    "GenericRecordAvroTypeInfo",
    "InputFormat",
    "ResultTypeQueryable",
    "SerializationSchema",
    "TypeInformation",
    "get_field_value",
    "get_gateway",
    "load_java_class",
]
