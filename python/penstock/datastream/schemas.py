"""Schemas between records and bytes under PyFlink's names (``pyflink.datastream.formats``); what they do is in
:mod:`penstock.runtime.schemas`."""

from __future__ import annotations

from penstock.runtime.schemas.avro_rows import AvroRowDeserializationSchema, AvroRowSerializationSchema
from penstock.runtime.schemas.csv_rows import CsvRowDeserializationSchema, CsvRowSerializationSchema
from penstock.runtime.schemas.json_rows import JsonRowDeserializationSchema, JsonRowSerializationSchema

__all__ = [
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "JsonRowDeserializationSchema",
    "JsonRowSerializationSchema",
]
