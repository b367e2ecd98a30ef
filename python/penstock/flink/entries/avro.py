"""Readers of values of Avro, by the schema of who wrote them.

Flink writes them in a form of its own, not that of Avro files: numbers have 4 and 8 bytes, lengths 4, and only the
counts of arrays and maps take as many bytes as they need. Logical types are read as the numbers and bytes that they
are. Source of the semantics: ``flink-avro``'s ``DataOutputEncoder``.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any, cast

from penstock.flink.entries.scalars import Reader, counted, number, read_bytes
from penstock.flink.entries.values import Pojo

_INT = struct.Struct(">i").unpack_from
_DEEPEST = 100


def avro_reader(schema: str) -> Reader:
    """The reader of a schema's values: records are :class:`Pojo`, maps dictionaries, enums texts.

    Args:
        schema: in JSON.

    Raises:
        ValueError: it is not a schema of Avro.

    Cost: linear in the schema.
    """
    try:
        return _Schemas().reader(json.loads(schema), "", 0)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _null(data: bytes, at: int) -> tuple[None, int]:
    return None, at


def _text(data: bytes, at: int) -> tuple[str, int]:
    raw, at = read_bytes(data, at)
    return raw.decode("utf-8"), at


_PRIMITIVES: dict[str, Reader] = {
    "null": _null,
    "boolean": number("?"),
    "int": number("i"),
    "long": number("q"),
    "float": number("f"),
    "double": number("d"),
    "bytes": read_bytes,
    "string": _text,
}


class _Schemas:
    """The readers of a schema, with those of its named types, which may contain themselves."""

    def __init__(self) -> None:
        self._named: dict[str, Reader] = {}

    def reader(self, schema: Any, namespace: str, depth: int) -> Reader:
        if depth > _DEEPEST:
            raise ValueError(f"types are nested more than {_DEEPEST} deep")
        if isinstance(schema, str):
            return _PRIMITIVES.get(schema) or self._named[full_name(schema, namespace)]
        if isinstance(schema, list):
            return _union([self.reader(branch, namespace, depth + 1) for branch in cast(list[Any], schema)])
        kind = schema["type"]
        if not isinstance(kind, str):
            return self.reader(kind, namespace, depth + 1)
        if kind == "array":
            return _blocks(self.reader(schema["items"], namespace, depth + 1), list)
        if kind == "map":
            read_item = self.reader(schema["values"], namespace, depth + 1)
            return _blocks(_pair(read_item), dict)
        if kind in ("record", "error", "enum", "fixed"):
            return self._of_a_name(kind, schema, namespace, depth)
        return self.reader(kind, namespace, depth + 1)

    def _of_a_name(self, kind: str, schema: dict[str, Any], namespace: str, depth: int) -> Reader:
        name: str = schema["name"]
        name = full_name(name, schema.get("namespace", namespace))
        if kind == "enum":
            self._named[name] = read = _enum(schema["symbols"])
        elif kind == "fixed":
            self._named[name] = read = _fixed(schema["size"])
        else:
            fields: list[tuple[str, Reader]] = []
            self._named[name] = read = _record(fields)
            inner = name.rpartition(".")[0]
            fields += [(field["name"], self.reader(field["type"], inner, depth + 1)) for field in schema["fields"]]
        return read


def full_name(name: str, namespace: str | None) -> str:
    """A name with its namespace, if it has none of its own."""
    return f"{namespace}.{name}" if namespace and "." not in name else name


def _record(fields: list[tuple[str, Reader]]) -> Reader:
    def read(data: bytes, at: int) -> tuple[Pojo, int]:
        values: dict[str, Any] = {}
        for name, read_field in fields:
            values[name], at = read_field(data, at)
        return Pojo(values), at

    return read


def _union(branches: list[Reader]) -> Reader:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        index: int = _INT(data, at)[0]
        if not 0 <= index < len(branches):
            raise ValueError(f"branch {index} of a union that has {len(branches)}")
        return branches[index](data, at + 4)

    return read


def _enum(symbols: list[str]) -> Reader:
    def read(data: bytes, at: int) -> tuple[str, int]:
        index: int = _INT(data, at)[0]
        if not 0 <= index < len(symbols):
            raise ValueError(f"symbol {index} of an enum that has {len(symbols)}")
        return symbols[index], at + 4

    return read


def _fixed(size: int) -> Reader:
    def read(data: bytes, at: int) -> tuple[bytes, int]:
        end = at + size
        if end > len(data):
            raise IndexError
        return data[at:end], end

    return read


def _pair(read_item: Reader) -> Reader:
    def read(data: bytes, at: int) -> tuple[tuple[str, Any], int]:
        key, at = _text(data, at)
        item, at = read_item(data, at)
        return (key, item), at

    return read


def _blocks(read_item: Reader, whole: Callable[[list[Any]], Any]) -> Reader:
    """Blocks of items, each after its count, until a count of 0."""

    def read(data: bytes, at: int) -> tuple[Any, int]:
        items: list[Any] = []
        while True:
            count = shift = 0
            while True:
                byte = data[at]
                at += 1
                count |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    break
                if shift > 63:
                    raise ValueError("a count has more than 9 bytes")
            if not count:
                return whole(items), at
            for _ in range(counted(count, data, at)):
                item, at = read_item(data, at)
                items.append(item)

    return read
