"""Parses the types in state files, such as ``Types.LIST(Types.INT())``, without evaluating them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from penstock.common.typeinfo import TypeInformation, Types
from penstock.errors import TypeInfoError

_LONGEST = 100_000  # longer texts are refused
_MAKERS: dict[str, Callable[..., TypeInformation[Any]]] = {
    name: getattr(Types, name) for name in vars(Types) if name.isupper() or "_" in name.strip("_")
}


def type_of(text: str) -> TypeInformation[Any] | None:
    """The type that a text stands for; None for "", an undeclared type; ValueError for any other text."""
    if not text:
        return None
    try:
        if len(text) > _LONGEST:
            raise ValueError
        result = _value(ast.parse(text, mode="eval").body)
    except (KeyError, RecursionError, SyntaxError, TypeError, TypeInfoError, ValueError) as error:
        raise ValueError(f"{text[:200]!r} is not a type that this version knows") from error
    if not isinstance(result, TypeInformation):
        raise ValueError(f"{text[:200]!r} is not a type")
    return result


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.List):
        return [_value(element) for element in node.elts]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "Types"
        and not node.keywords
    ):
        return _MAKERS[node.func.attr](*map(_value, node.args))
    raise ValueError
