"""The type that a JSON schema means.

Source of the semantics: Flink's ``JsonRowSchemaConverter``. Numbers are BIG_DEC, objects and tuples rows, other arrays
OBJECT_ARRAY; a union is taken with null only; ``$ref`` leads to a place in the same document.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn, cast

from penstock.common import checks
from penstock.common.typeinfo import TypeInformation, Types

_DEEPEST = 200
_FORMATS = {"date": Types.SQL_DATE(), "time": Types.SQL_TIME(), "date-time": Types.SQL_TIMESTAMP()}
_PLAIN = {"boolean": Types.BOOLEAN(), "number": Types.BIG_DEC(), "integer": Types.BIG_DEC()}
_UNIONS = ("allOf", "anyOf", "not", "extends", "disallow")


def type_of_schema(json_schema: str, call: str) -> TypeInformation[Any]:
    """The type of the values of a JSON schema, a text that a call was given."""
    checks.text(json_schema, call, "JSON schema")
    try:
        root = json.loads(json_schema)
    except ValueError as error:
        _refuse(call, f"is not JSON: {error}")
    found = _Schema(root, call).type_of(root, "<root>", 0)
    return found or _refuse(call, "is null only")


def _refuse(call: str, why: str) -> NoReturn:
    checks.illegal_argument(f"{call}(): the JSON schema {why}. Give the type by Types.ROW_NAMED(…) instead.")


class _Schema:
    """A whole schema, for its references."""

    def __init__(self, root: Any, call: str) -> None:
        self.root, self.call = root, call

    def type_of(self, node: Any, place: str, depth: int) -> TypeInformation[Any] | None:
        """The type of a node; None for null."""
        if not isinstance(node, dict) or depth > _DEEPEST:
            _refuse(self.call, f"has no schema at {place}, or leads round in a circle there")
        schema = cast("dict[str, Any]", node)
        found = self.types_of(schema, place, depth)
        if any(union in schema for union in _UNIONS):
            _refuse(self.call, f"has one of {', '.join(_UNIONS)} at {place}, which no type is there for")
        types = [each for each in found if each is not None]
        if not found or any(each != types[0] for each in types):
            _refuse(self.call, f"has {'no type' if not found else 'several types'} at {place}")
        return types[0] if types else None

    def types_of(self, node: dict[str, Any], place: str, depth: int) -> list[TypeInformation[Any] | None]:
        """The types that a node names, of itself or of what it refers to."""
        reference = node.get("$ref")
        other = self.resolved(reference, node) if isinstance(reference, str) else {}
        found: list[TypeInformation[Any] | None] = []
        if "type" in node:
            named = node["type"] if isinstance(node["type"], list) else [node["type"]]
            found += [self.named(name, node, place, depth) for name in named]
        elif "type" in other:
            found.append(self.type_of(other, str(reference), depth + 1))
        choices = node.get("oneOf") if "oneOf" in node else other.get("oneOf")
        if isinstance(choices, list):
            found += [self.type_of(each, f"{place}/oneOf", depth + 1) for each in choices]
        return found

    def named(self, name: Any, node: dict[str, Any], place: str, depth: int) -> TypeInformation[Any] | None:
        if name == "null":
            return None
        if name in _PLAIN:
            return _PLAIN[name]
        if name == "string":
            return self.string(node, place)
        if name == "object":
            return self.row(node, place, depth)
        if name == "array":
            return self.array(node, place, depth)
        return _refuse(self.call, f"has the type {name!r} at {place}, which is none of JSON's")

    def string(self, node: dict[str, Any], place: str) -> TypeInformation[Any]:
        if "format" in node:
            return _FORMATS.get(node["format"], Types.STRING())
        if "contentEncoding" not in node:
            return Types.STRING()
        if node["contentEncoding"] != "base64":
            _refuse(self.call, f"has the encoding {node['contentEncoding']!r} at {place}, where only base64 is known")
        return Types.PRIMITIVE_ARRAY(Types.BYTE())

    def row(self, node: dict[str, Any], place: str, depth: int) -> TypeInformation[Any]:
        fields = node.get("properties", {})
        if node.get("additionalProperties") is True and "properties" in node:
            _refuse(self.call, f"allows additional properties at {place}, and a row has no place for them")
        types = [self.needed(each, f"{place}/{name}", depth) for name, each in fields.items()]
        return Types.ROW_NAMED(list(fields), types)

    def array(self, node: dict[str, Any], place: str, depth: int) -> TypeInformation[Any]:
        """An array of one type, or a tuple as a row."""
        items = node.get("items")
        if isinstance(items, dict):
            return Types.OBJECT_ARRAY(self.needed(items, f"{place}/items", depth))
        if not isinstance(items, list):
            _refuse(self.call, f"does not say what the items of the array at {place} are")
        if node.get("additionalItems") is True:
            _refuse(self.call, f"allows additional items at {place}, and a row has no place for them")
        return Types.ROW([self.needed(each, f"{place}/items", depth) for each in items])

    def needed(self, node: Any, place: str, depth: int) -> TypeInformation[Any]:
        """A type that is not null only."""
        return self.type_of(node, place, depth + 1) or _refuse(self.call, f"is null only at {place}")

    def resolved(self, reference: str, origin: dict[str, Any]) -> dict[str, Any]:
        if not reference.startswith("#"):
            _refuse(self.call, f"refers to {reference!r}, which is another document")
        found: Any = self.root
        for part in filter(None, reference[1:].split("/")):
            found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        if not isinstance(found, dict) or found is origin:
            _refuse(self.call, f"refers to {reference!r}, where nothing else is")
        return cast("dict[str, Any]", found)
