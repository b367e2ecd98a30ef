"""Types as they stand in state files, back into types.

A header has each declared type as the text that would make it, such as ``Types.LIST(Types.INT())``. It is read without
running it: a file may be a stranger's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from penstock.common.typeinfo import TypeInformation, Types
from penstock.errors import TypeInfoError

_LONGEST = 100_000
"""Characters of a text that is looked at."""
_MAKERS: dict[str, Callable[..., TypeInformation[Any]]] = {
    name: getattr(Types, name) for name in vars(Types) if name.isupper() or "_" in name.strip("_")
}


def type_of(text: str) -> TypeInformation[Any] | None:
    """The type behind a text of a header; None for "", which is no declared type.

    Raises:
        ValueError: it is no text of a type, or one that this version does not know.
    """
    if not text:
        return None
    try:
        if len(text) > _LONGEST:
            raise ValueError
        made = _value(ast.parse(text, mode="eval").body)
    except (KeyError, RecursionError, SyntaxError, TypeError, TypeInfoError, ValueError) as error:
        raise ValueError(f"{text[:200]!r} is no type that this version knows") from error
    if not isinstance(made, TypeInformation):
        raise ValueError(f"{text[:200]!r} is no type")
    return made


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.List):
        return [_value(each) for each in node.elts]
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
