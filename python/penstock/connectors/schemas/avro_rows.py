"""The schemas for rows in Avro, with PyFlink's names (``pyflink.datastream.formats.avro``), by fastavro, which is
loaded when a schema is made: ``pip install 'penstock[avro]'``."""

from __future__ import annotations

import io
import json
from functools import cached_property
from typing import Any

from penstock.common import checks
from penstock.common.extras import fastavro
from penstock.common.row import Row
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.common.typesystem.conversions import Convert
from penstock.connectors.schemas.avro_values import AvroForm, record_in, record_out, scalar_in, scalar_out
from penstock.connectors.schemas.base import unreadable, unwritable
from penstock.errors import UnsupportedError

__all__ = ["AvroRowDeserializationSchema", "AvroRowSerializationSchema"]


class _AvroRows:
    """What both schemas have.

    Args:
        record_class: the name of a class in Java, which is refused.
        avro_schema_string: the schema of a record, in JSON.

    Raises:
        ConfigurationError: fastavro is not installed.
        InvalidProgramError: it is not a schema of a record, or none was given.
        UnsupportedError: a class was given.
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        call = type(self).__name__
        if record_class is not None:
            raise UnsupportedError(
                f"{call}(record_class={record_class!r}): a class of Java has no schema here. Give "
                "avro_schema_string=…, the schema in JSON."
            )
        self.avro_schema_string: str = checks.text(avro_schema_string, call, "avro_schema_string")
        try:
            found, _ = self._form.type_info, self._parsed
        except (ValueError, KeyError, TypeError, fastavro().schema.SchemaParseException) as error:
            checks.illegal_argument(f"{call}(): it is not an Avro schema: {type(error).__name__}: {error}.")
        if not isinstance(found, RowTypeInfo):
            checks.illegal_argument(f"{call}(): the schema is that of {found!r}, and a record's is needed.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(avro_schema_string={self.avro_schema_string!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {"avro_schema_string": self.avro_schema_string}

    @cached_property
    def _form(self) -> AvroForm:
        return AvroForm(json.loads(self.avro_schema_string))

    @cached_property
    def _parsed(self) -> Any:
        return fastavro().parse_schema(self._form.schema)


class AvroRowDeserializationSchema(_AvroRows, DeserializationSchema[Row]):
    """Rows out of records of Avro, without a header (Flink: ``AvroRowDeserializationSchema``).

    Args:
        record_class: the name of a class in Java, which is refused.
        avro_schema_string: the schema of the record, in JSON.
    """

    @cached_property
    def _convert(self) -> Convert:
        return self._form.converter(scalar_in, record_in)

    def deserialize(self, message: bytes, /) -> Row:
        """The row of a record. O(the message).

        Raises:
            SerializationError: it is not a record of the schema.
        """
        try:
            return self._convert(fastavro().schemaless_reader(io.BytesIO(message), self._parsed, None))
        except Exception as failure:
            unreadable(self, message, failure, "Correct the schema: Avro's messages say nothing of theirs.")

    def get_produced_type(self) -> TypeInformation[Any]:
        """The type of the rows."""
        return self._form.type_info


class AvroRowSerializationSchema(_AvroRows, SerializationSchema[Any]):
    """Rows as records of Avro, without a header (Flink: ``AvroRowSerializationSchema``). Dicts are taken by name,
    tuples and lists by position. A decimal is written with the digits of the schema; Flink writes another number if it
    has fewer.

    Args:
        record_class: the name of a class in Java, which is refused.
        avro_schema_string: the schema of the record, in JSON.
    """

    @cached_property
    def _convert(self) -> Convert:
        return self._form.converter(scalar_out, record_out)

    def serialize(self, element: Any, /) -> bytes:
        """The record of a row. O(the row).

        Raises:
            SerializationError: it does not fit the schema.
        """
        buffer = io.BytesIO()
        try:
            fastavro().schemaless_writer(buffer, self._parsed, self._convert(element))
        except Exception as failure:
            unwritable(self, element, failure, "Make sure that the schema is that of the records.")
        return buffer.getvalue()
