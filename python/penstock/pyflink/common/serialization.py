"""The names of PyFlink's ``pyflink.common.serialization``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import (
    BulkWriterFactory,
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    JavaObjectWrapper,
    RowDataBulkWriterFactory,
    RowFieldExtractorSchema,
    SerializationSchema,
    SimpleStringSchema,
)

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
