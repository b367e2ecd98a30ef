"""Avro files. A piece of a file is the blocks whose marker before them begins in it; some blocks at a time are in
memory.

Sources of the semantics: ``AvroInputFormat``, ``AvroWriters`` (Flink 1.20); the container files of Avro 1.11.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any

from penstock.common.bulk_writer import BulkWriter
from penstock.common.callables import shortened
from penstock.common.extras import fastavro
from penstock.common.row import Row, names_of
from penstock.common.time import Instant
from penstock.common.typeinfo import TypeInformation, Types
from penstock.errors import FileFormatError
from penstock.runtime.io.file_source import opened, pieces_of
from penstock.runtime.io.formats.avro_blocks import Blocks, Damaged
from penstock.runtime.io.formats.base import FileFormat, path_of
from penstock.runtime.io.formats.fields import fields_of
from penstock.runtime.io.moments import datetime_of
from penstock.runtime.io.splits import Records, Split
from penstock.runtime.io.storage import Dated

_DECODED = 1 << 18
"""Bytes of blocks that are decoded at a time."""


@dataclass(frozen=True)
class AvroRecords(FileFormat[Any]):
    """Records of Avro files, as dicts. Positions are bytes of the file.

    Attributes:
        schema: of the records, in JSON; files may have been written with another one that leads to it.
    """

    schema: str

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
                    f"{path} is no Avro file, or a damaged one: {error}. Perhaps it has not been written to its end."
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
    """Writes records into an Avro file, whose blocks are not compressed, as Flink's.

    Args:
        out: where to.
        schema: of the records, in JSON.
    """

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
        """Write a record; what it fills is written a block at a time."""
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
        """Write what is left as a block."""
        self._writer.flush()

    def finish(self) -> None:
        """Write what is left as a block."""
        self._writer.flush()


def _marker(schema: str) -> bytes:
    """What stands between blocks: the same for attempts of a task, and in no record unless by design."""
    return hashlib.md5(f"penstock {schema}".encode(), usedforsecurity=False).digest()


def plain(value: Any) -> Any:
    """A value as Avro's library takes it: rows as dicts where they have names, moments as datetimes.

    Args:
        value: of a record. Its depth is that of the schema.
    """
    if isinstance(value, Row):
        names = names_of(value)
        if names is None:
            return tuple(map(plain, value))
        return {name: plain(each) for name, each in zip(names, value, strict=True)}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        made = list(map(plain, value))
        return made if isinstance(value, list) else tuple(made)
    if isinstance(value, Instant):
        return datetime_of(value)
    return value
