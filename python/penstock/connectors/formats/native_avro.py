"""The blocks of Avro files as native batches, where the file has the fields of the schema in the same types."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from types import ModuleType
from typing import Any, cast

from penstock.common.extras import fastavro
from penstock.runtime.columns.layouts import Layout, NoForm, compiled_reading, layout_or_none
from penstock.runtime.native import BatchRecords

_CODECS: dict[str, Callable[[bytes], bytes]] = {
    "null": lambda data: data,
    "deflate": lambda data: zlib.decompressobj(-15).decompress(data),
}
_SCALARS: dict[str, Layout] = {
    "int": {"as": "int", "bits": 32},
    "long": {"as": "int", "bits": 64},
    "float": {"as": "single"},
    "double": {"as": "double"},
    "boolean": {"as": "bool"},
    "string": {"as": "text"},
    "bytes": {"as": "bytes"},
}


class NativeBlocks:
    """Reads the blocks of a file by a native reading, uncompressed."""

    def __init__(self, reading: Any, inflate: Callable[[bytes], bytes]) -> None:
        self._reading, self._inflate = reading, inflate

    def records(self, blocks: Sequence[bytes]) -> BatchRecords[Any] | None:
        """The records of blocks with their markers; None if native code cannot vouch for one."""
        try:
            batch = self._reading.blocks(list(map(self._content, blocks)))
        except (zlib.error, OverflowError):  # or there are fewer than none
            return None
        return None if batch is None else BatchRecords(batch)

    def _content(self, block: bytes) -> tuple[bytes, int]:
        count, at = _long(block, 0)
        size, at = _long(block, at)
        return self._inflate(block[at : at + size]), count


def _long(data: bytes, at: int) -> tuple[int, int]:
    """A number in zigzag coding, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7


def native_blocks(functions: ModuleType, header: bytes, wanted: Any) -> NativeBlocks | None:
    """Native code that reads the blocks behind a header as records of a parsed schema; None if there is none."""
    try:
        file = cast("Any", fastavro().reader(BytesIO(header)))
        codec, written = file.codec, fastavro().parse_schema(file.writer_schema)
    except Exception:  # the library raises almost anything, and says what is wrong when it reads records
        return None
    reading = native_reading(functions, written, wanted)
    return None if reading is None or codec not in _CODECS else NativeBlocks(reading, _CODECS[codec])


def native_reading(functions: ModuleType, written: Any, wanted: Any) -> Any:
    """Native code that reads records of a parsed schema as records of another one; None if there is none."""
    return compiled_reading(functions, layout_or_none(lambda: {"format": "avro", **_record(written, wanted)}))


def _record(written: Any, wanted: Any) -> Layout:
    """The form of a record of a schema, as another one wants it: with the fields that this has, in their order."""
    if not _is_record(written) or not _is_record(wanted) or written["name"] != wanted["name"]:
        raise NoForm
    left = {field["name"]: field for field in wanted["fields"]}
    names, fields = list[str](), list[Layout]()
    for field in written["fields"]:
        other = left.pop(field["name"], None)
        if other is None:
            fields.append({**_field(field["type"]), "skipped": True})
            continue
        if other["type"] != field["type"]:
            raise NoForm
        names.append(field["name"])
        fields.append(_field(field["type"]))
    if left or any("aliases" in field for field in wanted["fields"]):
        raise NoForm  # others have defaults
    return {"form": "dict", "names": names, "fields": fields}


def _is_record(schema: Any) -> bool:
    return isinstance(schema, dict) and cast("dict[str, Any]", schema).get("type") == "record"


def _field(schema: Any) -> Layout:
    """The form of a field, or of a union of it with null."""
    if isinstance(schema, list):
        branches = cast("list[Any]", schema)
        if len(branches) != 2 or branches.count("null") != 1:
            raise NoForm
        null = branches.index("null")
        return {**_field(branches[1 - null]), "null": null}
    if _is_record(schema):
        return {"as": "row", **_record(schema, schema)}
    if isinstance(schema, dict):
        parts = cast("dict[str, Any]", schema)
        if parts.get("type") == "array":
            return {"as": "list", "item": _field(parts["items"])}
        schema = None if "logicalType" in parts else parts.get("type")
    form = _SCALARS.get(schema) if isinstance(schema, str) else None
    if form is None:
        raise NoForm
    return form
