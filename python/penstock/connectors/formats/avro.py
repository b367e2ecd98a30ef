"""Avro files, with PyFlink's names (``pyflink.datastream.formats.avro``). A piece of a file is the blocks whose marker
before them begins in it; some blocks at a time are in memory. The library fastavro is needed: ``pip install
'penstock[avro]'``.

Sources of the semantics: ``AvroInputFormat``, ``AvroWriters`` (Flink 1.20); the container files of Avro 1.11.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from penstock.common import checks
from penstock.common.bulk_writer import BulkWriter, BulkWriterFactory
from penstock.common.callables import shortened
from penstock.common.extras import fastavro
from penstock.common.row import Row, names_of
from penstock.common.time import Instant
from penstock.common.typeinfo import PickledBytesTypeInfo, TypeInformation, Types
from penstock.connectors.formats.avro_blocks import Blocks, Damaged
from penstock.connectors.formats.fields import fields_of
from penstock.errors import FileFormatError, InvalidProgramError
from penstock.runtime.io.file_format import FileInputFormat, StreamFormat, path_of
from penstock.runtime.io.file_source import opened, pieces_of
from penstock.runtime.io.splits import Records, Split
from penstock.storage.storage import Dated

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroReaderFormat",
    "AvroSchema",
    "AvroWriterFactory",
    "GenericRecordAvroTypeInfo",
]


_DECODED = 1 << 18
"""Bytes of blocks that are decoded at a time."""


@dataclass(frozen=True)
class AvroReaderFormat(StreamFormat[Any]):
    """Records of Avro files, for ``FileSource.for_record_stream_format``. Made by :meth:`for_generic_record`. PyFlink
    has :class:`AvroInputFormat` alone."""

    schema: str

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

    @property
    def produced_type(self) -> TypeInformation[Any]:
        """Dicts have no type."""
        return Types.PICKLED_BYTE_ARRAY()

    def pieces(self, file: Dated, splittable: bool) -> list[Split]:
        """The file, or pieces of 32 MiB."""
        return pieces_of(file, "UTF-8", splittable)

    def read(self, split: Split) -> Iterator[Records[Any]]:
        """The records of a piece of a file, some blocks at a time."""
        path = path_of(split)
        wanted = fastavro().parse_schema(json.loads(self.schema))
        with opened(path) as file:
            try:
                blocks = Blocks(file)
                for data, position in _some(blocks.of(split)):
                    yield Records(self._decoded(path, blocks.header + data, position, wanted), position)
            except Damaged as error:
                raise FileFormatError(
                    f"{path} is not an Avro file, or it is damaged: {error}. Perhaps it is not complete."
                ) from error

    def _decoded(self, path: str, data: bytes, position: int, wanted: Any) -> list[Any]:
        try:
            return list(fastavro().reader(BytesIO(data), wanted))
        except Exception as error:  # of damaged records the library raises almost anything
            raise FileFormatError(
                f"{path}, before byte {position}: the records do not lead to the schema, or are damaged: "
                f"{type(error).__name__}: {error}. Compare the schema with that of the file."
            ) from error


def _some(blocks: Iterator[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    """Blocks, joined as long as they are small; the position behind the last of them."""
    waiting, size = list[bytes](), 0
    position = 0
    for block, position in blocks:
        waiting.append(block)
        size += len(block)
        if size >= _DECODED:
            yield b"".join(waiting), position
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting), position


class AvroWriter(BulkWriter[Any]):
    """Writes records into an Avro file, whose blocks are not compressed, as Flink's. The schema is in JSON."""

    def __init__(self, out: IO[bytes], schema: str) -> None:
        library = fastavro()
        from fastavro.write import Writer

        self._library = library
        self._schema = library.parse_schema(json.loads(schema))
        self._names = tuple(each["name"] for each in self._schema["fields"])
        self._known = frozenset(self._names)
        self._writer: Any = Writer(
            out, self._schema, validator=True, sync_marker=_marker(schema), options={"strict_allow_default": True}
        )

    def add_element(self, element: Any, /) -> None:
        """Write a record; full blocks go to the file."""
        record = plain(element)
        try:
            if not isinstance(record, dict):
                record = dict(zip(self._names, fields_of(record, self._names, self._known), strict=True))
            self._writer.write(record)
        except FileFormatError:
            raise
        except Exception as error:  # the library raises almost anything
            raise FileFormatError(
                f"The record {shortened(element)} does not fit the Avro schema {self._schema.get('name')!r}: "
                f"{' '.join(str(error).split())}. Convert it in a map() before the sink, or correct the schema."
            ) from error

    def flush(self) -> None:
        """Write the last block."""
        self._writer.flush()

    def finish(self) -> None:
        """Write the last block."""
        self._writer.flush()


def _marker(schema: str) -> bytes:
    """The marker between blocks: the same for each attempt of a task, and in no record unless by design."""
    return hashlib.md5(f"penstock {schema}".encode(), usedforsecurity=False).digest()


def plain(value: Any) -> Any:
    """A value as fastavro takes it: a row with names is a dict, a moment a datetime."""
    if isinstance(value, Row):
        names = names_of(value)
        if names is None:
            return tuple(map(plain, value))
        return {name: plain(field) for name, field in zip(names, value, strict=True)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(plain, value))
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, Instant):
        return value.to_datetime()
    return value


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
            InvalidProgramError: it is not a schema, or there is no such file.
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
            f"{call} was given text that is not an Avro schema: {type(error).__name__}: {error}. Give a schema in "
            'JSON, such as {"type": "record", "name": "Pair", "fields": [{"name": "word", "type": "string"}]}.',
            flink_class="org.apache.avro.SchemaParseException",
        ) from error
    return AvroSchema(text)


def of_records(schema: Any, call: str) -> AvroSchema:
    """The schema that a call was given; refuses anything but a schema of records."""
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
