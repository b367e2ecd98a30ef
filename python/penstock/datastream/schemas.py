"""Schemas between records and bytes under PyFlink's names, defined in :mod:`penstock.connectors.schemas`."""

from __future__ import annotations

from penstock.connectors.schemas.avro_rows import AvroRowDeserializationSchema, AvroRowSerializationSchema
from penstock.connectors.schemas.csv_rows import CsvRowDeserializationSchema, CsvRowSerializationSchema
from penstock.connectors.schemas.json_rows import JsonRowDeserializationSchema, JsonRowSerializationSchema

__all__ = [
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "JsonRowDeserializationSchema",
    "JsonRowSerializationSchema",
]
