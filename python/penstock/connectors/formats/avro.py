"""Avro files, with PyFlink's names (``pyflink.datastream.formats.avro``). A piece of a file is the blocks whose marker
before them begins in it; some blocks at a time are in memory. The library fastavro is needed: ``pip install
'penstock[avro]'``. Sources of the semantics: ``AvroInputFormat``, ``AvroWriters`` (Flink 1.20); the container files of
Avro 1.11."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from penstock.common import checks
from penstock.common.bulk_writer import BulkWriter, BulkWriterFactory
from penstock.common.callables import shortened
from penstock.common.extras import fastavro
from penstock.common.row import Row, names_of
from penstock.common.time import Instant
from penstock.common.typeinfo import PickledBytesTypeInfo, TypeInformation, Types
from penstock.connectors.formats.native_avro import native_blocks, native_reading
from penstock.errors import FileFormatError, InvalidProgramError
from penstock.runtime.columns.records import fields_of
from penstock.runtime.io.file_format import FileInputFormat, StreamFormat, path_of
from penstock.runtime.io.file_source import opened, pieces_of
from penstock.runtime.io.files import ends_before
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


_DECODED = 1 << 18  # bytes of blocks that are decoded at a time


@dataclass(frozen=True)
class AvroReaderFormat(StreamFormat[Any]):
    """Records of Avro files, for ``FileSource.for_record_stream_format``. PyFlink has :class:`AvroInputFormat`
    alone."""

    schema: str

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> AvroReaderFormat:
        """Records of a schema of records, as dicts. Files may have been written with another schema that leads to it:
        fields that it has not are left out, fields that a file has not get their defaults."""
        return AvroReaderFormat(of_records(schema, "AvroReaderFormat.for_generic_record").text)

    @property
    def produced_type(self) -> TypeInformation[Any]:
        return Types.PICKLED_BYTE_ARRAY()

    def pieces(self, file: Dated, splittable: bool) -> list[Split]:
        return pieces_of(file, "UTF-8", splittable)

    def read(self, split: Split) -> Iterator[Records[Any]]:
        return self._read(split, None)

    def read_columns(self, split: Split, functions: ModuleType) -> Iterator[Records[Any]]:
        """As :meth:`read`; blocks that native code reads for certain become columns."""
        return self._read(split, functions) if type(self) is AvroReaderFormat else self.read(split)

    def why_objects(self, functions: ModuleType) -> str:
        """Of files that were written with the same schema."""
        wanted = fastavro().parse_schema(json.loads(self.schema))
        known = type(self) is AvroReaderFormat and native_reading(functions, wanted, wanted) is not None
        return "" if known else "native code does not read all of its types in Avro"

    def _read(self, split: Split, functions: ModuleType | None) -> Iterator[Records[Any]]:
        path = path_of(split)
        wanted = fastavro().parse_schema(json.loads(self.schema))
        with opened(path) as file:
            try:
                blocks = Blocks(file)
                native = None if functions is None else native_blocks(functions, blocks.header, wanted)
                for some, position in _some(blocks.of(split)):
                    records = None if native is None else native.records(some)
                    if records is None:
                        records = self._decoded(path, b"".join([blocks.header, *some]), position, wanted)
                    yield Records(records, position)
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


def _some(blocks: Iterator[tuple[bytes, int]]) -> Iterator[tuple[list[bytes], int]]:
    """Blocks, together as long as they are small; the position behind the last of them."""
    waiting, size, position = list[bytes](), 0, 0
    for block, position in blocks:
        waiting.append(block)
        size += len(block)
        if size >= _DECODED:
            yield waiting, position
            waiting, size = [], 0
    if waiting:
        yield waiting, position


MARKER = 16  # bytes of the marker behind the header and behind each block
_MAGIC = b"Obj\x01"
_LOOKED_AT = 1 << 16


class Damaged(Exception):
    """The file does not have the layout of an Avro file."""


class Blocks:
    """Reads header and blocks of a file that is open at its beginning. ``header`` ends with the marker."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._taken: list[bytes] = []
        self._at = 0
        self._next = b""  # read already, to see whether there is more
        if self._read(len(_MAGIC)) != _MAGIC:
            raise Damaged("it does not begin as an Avro file does")
        while count := self._long():
            if count < 0:
                self._long()
            for _ in range(2 * abs(count)):
                self._read(self._long())
        self._read(MARKER)
        self.header = self._took()
        self._marker = self.header[-MARKER:]

    def _took(self) -> bytes:
        taken, self._taken = self._taken, []
        return b"".join(taken)

    def _read(self, size: int) -> bytes:
        data = self._next + self._file.read(size - len(self._next)) if size >= len(self._next) else b""
        self._next = b""
        if len(data) != size:
            raise Damaged(f"it ends at byte {self._at + len(data)}, in the middle of what it holds")
        self._at += size
        self._taken.append(data)
        return data

    def _long(self) -> int:
        """A number in zigzag coding, of up to ten bytes."""
        value = shift = 0
        while True:
            byte = self._read(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
            shift += 7
            if shift > 63:
                raise Damaged(f"there is no number at byte {self._at}")

    def of(self, split: Split) -> Iterator[tuple[bytes, int]]:
        """The blocks whose marker before them begins in a split, and the position of the marker behind each. Raises
        FileFormatError if the file ends before the split, or has no marker where a reader has stopped."""
        if split.start is not None and split.start > self._at - MARKER:
            start, (path, _, begins) = split.start, split.id.rpartition(":")
            begun = split.end is None or start != int(begins)  # then a marker was seen there
            marked = self._sought(start)
            if (begun and self._at != start + MARKER) or (not marked and self._file.seek(0, os.SEEK_END) < start):
                raise ends_before(split.id if split.end is None else path, start)
            if not marked:
                return
        while split.end is None or self._at - MARKER < split.end:
            self._next = self._file.read(1)
            if not self._next:
                if split.end is not None and self._at < split.end:
                    raise ends_before(split.id.rpartition(":")[0], split.end)
                return
            yield self._block(), self._at - MARKER

    def _block(self) -> bytes:
        start = self._at
        self._long()
        self._read(self._long())
        if self._read(MARKER) != self._marker:
            raise Damaged(f"the block at byte {start} does not end where it should")
        return self._took()

    def _sought(self, start: int) -> bool:
        """Seek behind the first marker that begins at a position or later; False if there is none."""
        seen, self._at = b"", start
        self._file.seek(start)
        while more := self._file.read(_LOOKED_AT):
            seen += more
            place = seen.find(self._marker)
            if place >= 0:
                self._at += place + MARKER
                self._file.seek(self._at)
                return True
            kept = seen[-MARKER + 1 :]
            self._at += len(seen) - len(kept)
            seen = kept
        return False


class AvroWriter(BulkWriter[Any]):
    """Writes records into an Avro file, whose blocks are not compressed, as Flink's. The schema is in JSON."""

    def __init__(self, out: IO[bytes], schema: str) -> None:
        self._schema = fastavro().parse_schema(json.loads(schema))
        from fastavro.write import Writer

        self._names = tuple(field["name"] for field in self._schema["fields"])
        self._known = frozenset(self._names)
        marker = hashlib.md5(f"penstock {schema}".encode(), usedforsecurity=False).digest()  # of all attempts of a task
        options = {"strict_allow_default": True}
        self._writer: Any = Writer(out, self._schema, validator=True, sync_marker=marker, options=options)

    def add_element(self, element: Any, /) -> None:
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
        self._writer.flush()

    finish = flush


def plain(value: Any) -> Any:
    """A value as fastavro takes it: a row with names is a dict, a moment a datetime."""
    if isinstance(value, Row):
        names = names_of(value)
        if names is None:
            return tuple(map(plain, value))
        return {name: plain(field) for name, field in zip(names, value, strict=True)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return (list if isinstance(value, list) else tuple)(map(plain, value))
    return value.to_datetime() if isinstance(value, Instant) else value


@dataclass(frozen=True)
class AvroSchema:
    """The schema of Avro records, in JSON. Made by :meth:`parse_string` and :meth:`parse_file`."""

    text: str

    def __str__(self) -> str:
        return self.text

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """The schema of a text in JSON; InvalidProgramError if it is not one."""
        return _parsed(checks.text(json_schema, "AvroSchema.parse_string", "schema"), "AvroSchema.parse_string()")

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        """The schema of a file on the driver; InvalidProgramError if it is not one, or there is no such file."""
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
    schema = checks.instance(schema, call, AvroSchema, "Give what AvroSchema.parse_string(…) returns.")
    kind: Any = json.loads(schema.text)
    if not isinstance(kind, dict) or kind.get("type") != "record":  # pyright: ignore[reportUnknownMemberType]
        checks.refuse(f"{call}() was given the schema {schema.text}, which is not that of a record. Give one.")
    return schema


@dataclass(frozen=True)
class GenericRecordAvroTypeInfo(PickledBytesTypeInfo):
    """The type of records of an Avro schema, which are dicts. They travel as other undeclared records do."""

    schema: AvroSchema

    def __repr__(self) -> str:
        return f"GenericRecordAvroTypeInfo({self.schema.text})"


class AvroInputFormat(FileInputFormat[Any]):
    """Records of Avro files, as dicts, for ``create_input``.

    Args:
        path: of a file, of a folder for the files in it (not those of folders below), or a pattern.
        schema: of a record; files may have been written with another one that leads to it.
    """

    def __init__(self, path: str, schema: AvroSchema) -> None:
        super().__init__(checks.path(path, "AvroInputFormat"))
        self.schema: AvroSchema = of_records(schema, "AvroInputFormat")
        self._format = AvroReaderFormat(schema.text)

    def file_format(self) -> AvroReaderFormat:
        return self._format

    def get_produced_type(self) -> TypeInformation[Any]:
        return GenericRecordAvroTypeInfo(self.schema)


@dataclass(frozen=True)
class AvroWriterFactory(BulkWriterFactory[Any]):
    """Makes writers of Avro files. See :meth:`AvroBulkWriters.for_generic_record`."""

    schema: AvroSchema

    def create(self, out: IO[bytes], /) -> BulkWriter[Any]:
        return AvroWriter(out, self.schema.text)


class AvroBulkWriters:
    """Writes Avro files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> AvroWriterFactory:
        """Records of a schema of records: dicts, or rows and tuples of as many fields."""
        return AvroWriterFactory(of_records(schema, "AvroBulkWriters.for_generic_record"))
