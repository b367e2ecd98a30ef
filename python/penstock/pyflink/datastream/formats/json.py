"""The names of PyFlink's ``pyflink.datastream.formats.json``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.scalar_types import TypeInformation
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.datastream.schemas import JsonRowDeserializationSchema, JsonRowSerializationSchema
from penstock.pyflink.deviating import get_gateway

__all__ = [
    "DeserializationSchema",
    "JsonRowDeserializationSchema",
    "JsonRowSerializationSchema",
    "SerializationSchema",
    "TypeInformation",
    "get_gateway",
]
