"""The names of PyFlink's ``pyflink.common.serialization``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.bulk_writer import BulkWriterFactory, RowDataBulkWriterFactory
from penstock.common.serialization import (
    DeserializationSchema,
    Encoder,
    SerializationSchema,
    SimpleStringSchema,
)
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import ByteArraySchema, JavaObjectWrapper, RowFieldExtractorSchema

__all__ = [
    "BulkWriterFactory",
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "JavaObjectWrapper",
    "RowDataBulkWriterFactory",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
    "get_gateway",
]
