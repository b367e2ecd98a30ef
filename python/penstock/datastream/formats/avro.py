"""Avro files (PyFlink: ``pyflink.datastream.formats.avro``). How they are read and written is in
:mod:`penstock.runtime.io.formats.avro`. They need the library fastavro: ``pip install 'penstock[avro]'``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from penstock.common import checks
from penstock.common.bulk_writer import BulkWriter, BulkWriterFactory
from penstock.common.extras import fastavro
from penstock.common.typeinfo import PickledBytesTypeInfo, TypeInformation
from penstock.datastream.input_formats import FileInputFormat
from penstock.errors import InvalidProgramError
from penstock.runtime.io.formats.avro import AvroRecords, AvroWriter
from penstock.runtime.io.formats.base import StreamFormat

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroReaderFormat",
    "AvroSchema",
    "AvroWriterFactory",
    "GenericRecordAvroTypeInfo",
]


@dataclass(frozen=True)
class AvroSchema:
    """The schema of Avro records. Made by :meth:`parse_string` and :meth:`parse_file`.

    Attributes:
        text: in JSON.
    """

    text: str

    def __str__(self) -> str:
        return self.text

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """The schema of a text.

        Args:
            json_schema: in JSON.

        Raises:
            InvalidProgramError: it is none.
            ConfigurationError: fastavro is not installed.
        """
        return _parsed(checks.text(json_schema, "AvroSchema.parse_string", "schema"), "AvroSchema.parse_string()")

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        """The schema of a file on the driver.

        Args:
            file_path: of the file.

        Raises:
            InvalidProgramError: it is no schema, or there is no such file.
            ConfigurationError: fastavro is not installed.
        """
        path = checks.path(file_path, "AvroSchema.parse_file")
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidProgramError(
                f"AvroSchema.parse_file({path!r}): the file cannot be read: {error}. Give the path of a file that this "
                "program sees."
            ) from error
        return _parsed(text, f"AvroSchema.parse_file({path!r})")


def _parsed(text: str, call: str) -> AvroSchema:
    library = fastavro()
    try:
        library.parse_schema(json.loads(text))
    except Exception as error:  # the library raises several kinds
        raise InvalidProgramError(
            f"{call} was given what is no Avro schema: {type(error).__name__}: {error}. Give a schema in JSON, such as "
            '{"type": "record", "name": "Pair", "fields": [{"name": "word", "type": "string"}]}.',
            flink_class="org.apache.avro.SchemaParseException",
        ) from error
    return AvroSchema(text)


def of_records(schema: Any, call: str) -> AvroSchema:
    """A schema of records.

    Args:
        schema: what a call was given.
        call: for messages.

    Raises:
        InvalidProgramError: it is none, or one of something else.
    """
    found = checks.instance(schema, call, AvroSchema, "Give what AvroSchema.parse_string(…) returns.")
    kind: Any = json.loads(found.text)
    if not isinstance(kind, dict) or kind.get("type") != "record":  # pyright: ignore[reportUnknownMemberType]
        checks.refuse(
            f"{call}() was given the schema {found.text}, which is not that of a record. Give one of a record."
        )
    return found


@dataclass(frozen=True)
class GenericRecordAvroTypeInfo(PickledBytesTypeInfo):
    """The type of records of an Avro schema, which are dicts. They travel as other undeclared records do.

    Attributes:
        schema: of the records.
    """

    schema: AvroSchema

    def __repr__(self) -> str:
        return f"GenericRecordAvroTypeInfo({self.schema.text})"


class AvroReaderFormat(AvroRecords, StreamFormat[Any]):
    """Records of Avro files, for ``FileSource.for_record_stream_format``. Made by :meth:`for_generic_record`. PyFlink
    has :class:`AvroInputFormat` alone."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> AvroReaderFormat:
        """Records of a schema, as dicts. Files may have been written with another schema that leads to it: fields that
        it has not are left out, fields that a file has not get their defaults.

        Args:
            schema: of a record.

        Raises:
            InvalidProgramError: no schema of a record.
        """
        return AvroReaderFormat(of_records(schema, "AvroReaderFormat.for_generic_record").text)


class AvroInputFormat(FileInputFormat[Any]):
    """Records of Avro files, as dicts, for ``create_input``.

    Args:
        path: of a file, of a folder for the files in it (not those of folders below), or a pattern.
        schema: of a record; files may have been written with another one that leads to it.

    Raises:
        InvalidProgramError: no path, or no schema of a record.
    """

    def __init__(self, path: str, schema: AvroSchema) -> None:
        super().__init__(checks.path(path, "AvroInputFormat"))
        self.schema: AvroSchema = of_records(schema, "AvroInputFormat")
        self._format = AvroReaderFormat(schema.text)

    def file_format(self) -> AvroReaderFormat:
        """How its files are read."""
        return self._format

    def get_produced_type(self) -> TypeInformation[Any]:
        """The type of its records."""
        return GenericRecordAvroTypeInfo(self.schema)


@dataclass(frozen=True)
class AvroWriterFactory(BulkWriterFactory[Any]):
    """Makes writers of Avro files. See :meth:`AvroBulkWriters.for_generic_record`.

    Attributes:
        schema: of the records.
    """

    schema: AvroSchema

    def create(self, out: IO[bytes], /) -> BulkWriter[Any]:
        """A writer of a file."""
        return AvroWriter(out, self.schema.text)


class AvroBulkWriters:
    """Writes Avro files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> AvroWriterFactory:
        """Records of a schema: dicts, or rows and tuples of as many fields. The stream needs no type.

        Args:
            schema: of a record.

        Raises:
            InvalidProgramError: no schema of a record.
        """
        return AvroWriterFactory(of_records(schema, "AvroBulkWriters.for_generic_record"))
