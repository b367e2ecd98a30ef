"""The type of the values that a JSON schema describes: drafts up to 7. Source of the semantics: Flink's
``JsonRowSchemaConverter``."""

from __future__ import annotations

import json
from typing import Any, NoReturn, cast

from penstock.common import checks
from penstock.common.typeinfo import TypeInformation, Types

_DEEPEST = 200
_FORMATS = {"date": Types.SQL_DATE(), "time": Types.SQL_TIME(), "date-time": Types.SQL_TIMESTAMP()}
_PLAIN = {"null": None, "boolean": Types.BOOLEAN(), "number": Types.BIG_DEC(), "integer": Types.BIG_DEC()}
_UNIONS = ("allOf", "anyOf", "not", "extends", "disallow")


def type_of_schema(json_schema: str, call: str) -> TypeInformation[Any]:
    """The type of the values of a JSON schema, a text that a call was given."""
    checks.text(json_schema, call, "JSON schema")
    try:
        root = json.loads(json_schema)
    except ValueError as error:
        _refuse(call, f"is not JSON: {error}")
    return _Schema(root, call).type_of(root, "<root>", 0) or _refuse(call, "is null only")


def _refuse(call: str, why: str) -> NoReturn:
    checks.illegal_argument(f"{call}(): the JSON schema {why}. Give the type by Types.ROW_NAMED(…) instead.")


class _Schema:
    def __init__(self, root: Any, call: str) -> None:
        self.root, self.call = root, call

    def type_of(self, node: Any, place: str, depth: int) -> TypeInformation[Any] | None:
        """The type of a node; None for null."""
        if not isinstance(node, dict) or depth > _DEEPEST:
            _refuse(self.call, f"has no schema at {place}, or leads round in a circle there")
        schema = cast("dict[str, Any]", node)
        named = self.types_of(schema, place, depth)
        if any(union in schema for union in _UNIONS):
            _refuse(self.call, f"has one of {', '.join(_UNIONS)} at {place}, which no type is there for")
        types = [type_info for type_info in named if type_info is not None]
        if not named or any(type_info != types[0] for type_info in types):
            _refuse(self.call, f"has {'several types' if named else 'no type'} at {place}")
        return types[0] if types else None

    def types_of(self, node: dict[str, Any], place: str, depth: int) -> list[TypeInformation[Any] | None]:
        reference = node.get("$ref")
        other = self.resolved(reference, node) if isinstance(reference, str) else {}
        types: list[TypeInformation[Any] | None] = []
        if "type" in node:
            kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
            types += [self.named(name, node, place, depth) for name in kinds]
        elif "type" in other:
            types.append(self.type_of(other, str(reference), depth + 1))
        choices = node.get("oneOf", other.get("oneOf"))
        if isinstance(choices, list):
            types += [self.type_of(choice, f"{place}/oneOf", depth + 1) for choice in choices]
        return types

    def named(self, name: Any, node: dict[str, Any], place: str, depth: int) -> TypeInformation[Any] | None:
        if name in _PLAIN:
            return _PLAIN[name]
        if name == "array":
            return self.array(node, place, depth)
        if name == "object":
            parts = node.get("properties", {})
            if node.get("additionalProperties") is True and "properties" in node:
                _refuse(self.call, f"allows additional properties at {place}, and a row has no place for them")
            types = [self.needed(part, f"{place}/{name}", depth) for name, part in parts.items()]
            return Types.ROW_NAMED(list(parts), types)
        if name != "string":
            _refuse(self.call, f"has the type {name!r} at {place}, which JSON does not have")
        if "format" in node or "contentEncoding" not in node:
            return _FORMATS.get(node.get("format", ""), Types.STRING())
        if node["contentEncoding"] != "base64":
            _refuse(self.call, f"has the encoding {node['contentEncoding']!r} at {place}, where only base64 is known")
        return Types.PRIMITIVE_ARRAY(Types.BYTE())

    def array(self, node: dict[str, Any], place: str, depth: int) -> TypeInformation[Any]:
        """An array of one type, or a tuple as a row."""
        items = node.get("items")
        if isinstance(items, dict):
            return Types.OBJECT_ARRAY(self.needed(items, f"{place}/items", depth))
        if not isinstance(items, list):
            _refuse(self.call, f"does not say what the items of the array at {place} are")
        if node.get("additionalItems") is True:
            _refuse(self.call, f"allows additional items at {place}, and a row has no place for them")
        return Types.ROW([self.needed(item, f"{place}/items", depth) for item in items])

    def needed(self, node: Any, place: str, depth: int) -> TypeInformation[Any]:
        """A type that is not null only."""
        return self.type_of(node, place, depth + 1) or _refuse(self.call, f"is null only at {place}")

    def resolved(self, reference: str, origin: dict[str, Any]) -> dict[str, Any]:
        if not reference.startswith("#"):
            _refuse(self.call, f"refers to {reference!r}, which is another document")
        target: Any = self.root
        for part in filter(None, reference[1:].split("/")):
            target = target.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
        if not isinstance(target, dict) or target is origin:
            _refuse(self.call, f"refers to {reference!r}, where nothing else is")
        return cast("dict[str, Any]", target)
