"""The columns for values of Avro, by their schema. Logical types are the numbers and bytes that they are."""

from __future__ import annotations

import json
from typing import Any, cast

from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.typesystem.conversions import optional
from penstock.flink.columns.column import Column, NoColumn, list_of, map_of, row_of
from penstock.flink.cursor import plain
from penstock.flink.entries.avro import full_name

_MOST_PARTS = 10_000  # a few names of a stranger's schema could stand for more than memory holds
_PRIMITIVES: dict[str, TypeInformation[Any]] = {
    "boolean": Types.BOOLEAN(),
    "int": Types.INT(),
    "long": Types.LONG(),
    "float": Types.FLOAT(),
    "double": Types.DOUBLE(),
    "bytes": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "string": Types.STRING(),
}


def avro_column(schema: str) -> Column:
    """The column for a schema's values: records are rows, maps maps, enums texts, a union with null what else is in it.

    Args:
        schema: in JSON, one that :func:`~penstock.flink.entries.avro.avro_reader` reads.

    Raises:
        NoColumn: it has a union of more than one type and null, a record that contains itself, or too many parts.

    Cost: linear in the schema with each name replaced by its type.
    """
    return _Schemas().column(json.loads(schema), "")


class _Schemas:
    """The columns of a schema and of its named types."""

    def __init__(self) -> None:
        self._named: dict[str, tuple[Column, int] | None] = {}  # with the number of parts; None while a record is open
        self._parts = 0

    def column(self, schema: Any, namespace: str) -> Column:
        self._count(1)
        if isinstance(schema, str):
            return Column(_PRIMITIVES[schema]) if schema in _PRIMITIVES else self._by_name(schema, namespace)
        if isinstance(schema, list):
            branches = [branch for branch in cast("list[Any]", schema) if branch != "null"]
            if len(branches) != 1:
                raise NoColumn(f"a union of Avro with {len(branches)} types beside null has no common one")
            return self.column(branches[0], namespace)
        kind = schema["type"]
        if kind == "array":
            return list_of(self.column(schema["items"], namespace))
        if kind == "map":
            return map_of(Column(Types.STRING()), self.column(schema["values"], namespace), hashable=True)
        if kind in ("record", "error", "enum", "fixed"):
            return self._of_a_name(kind, schema, namespace)
        return self.column(kind, namespace)

    def _by_name(self, name: str, namespace: str) -> Column:
        if name == "null":
            raise NoColumn("null of Avro has no values")
        named = self._named[full_name(name, namespace)]
        if named is None:
            raise NoColumn(f"the record {plain(name)} of Avro contains itself")
        column, parts = named
        self._count(parts)
        return column

    def _count(self, parts: int) -> None:
        self._parts += parts
        if self._parts > _MOST_PARTS:
            raise NoColumn(f"its schema of Avro has more than {_MOST_PARTS:,} parts")

    def _of_a_name(self, kind: str, schema: dict[str, Any], namespace: str) -> Column:
        name: str = schema["name"]
        name = full_name(name, schema.get("namespace", namespace))
        before = self._parts
        if kind == "enum":
            column = Column(Types.STRING())
        elif kind == "fixed":
            column = Column(_PRIMITIVES["bytes"])
        else:
            self._named[name] = None
            inner = name.rpartition(".")[0]
            names = [field["name"] for field in schema["fields"]]
            columns = [self.column(field["type"], inner) for field in schema["fields"]]
            row, make = row_of(names, columns, name)
            column = Column(row, optional(lambda value: make(list(value.fields.values()))))
        self._named[name] = column, self._parts - before
        return column
