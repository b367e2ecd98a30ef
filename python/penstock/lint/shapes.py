"""The shape of the result of an expression, and whether it agrees with a type.

An uncertain shape is None, which differs from nothing. Cost: O(nodes of the expression).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.common.typeinfo import BasicType, BasicTypeInfo, RowTypeInfo, TupleTypeInfo
from penstock.lint.bodies import assigned_once, is_text
from penstock.lint.inspection import class_of
from penstock.lint.sources import Source

_NUMBERS = frozenset(
    {BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.BIG_INT, BasicType.BOOLEAN}
    | {BasicType.FLOAT, BasicType.DOUBLE}
)
_KINDS: Mapping[type, str] = {str: "text", int: "number", float: "number", dict: "dict"}


class Shape(NamedTuple):
    """The shape of a value: ``tuple``, ``row``, ``dict``, ``text`` or ``number`` (also for booleans), with the fields
    of a tuple or row, None for unknown ones."""

    kind: str
    fields: tuple[Shape | None, ...] = ()

    def __str__(self) -> str:
        return f"a {self.kind} of {len(self.fields)} fields" if self.fields else f"a {self.kind}"


def shape_of(node: ast.AST | None, source: Source) -> Shape | None:
    """The shape of an expression of a function; variables that are assigned once are followed. Recursive in the nesting
    of tuples."""
    for _ in range(20):  # assignments that are followed
        if not isinstance(node, ast.Name):
            break
        if node.id in source.parameters:
            return None
        node = assigned_once(source.tree, node)
    if isinstance(node, ast.Tuple):
        if any(isinstance(elt, ast.Starred) for elt in node.elts) or not node.elts:
            return None
        return Shape("tuple", tuple(shape_of(elt, source) for elt in node.elts))
    if isinstance(node, ast.Dict | ast.DictComp):
        return Shape("dict")
    if is_text(node, source):
        return Shape("text")
    return Shape("number") if _is_number(node) else None


def _is_number(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv):
        return _is_number(node.left) or _is_number(node.right)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("len", "int", "float")


def shape_of_value(value: Any) -> Shape | None:
    """The shape of a record in the program."""
    kind = class_of(value)
    if kind is tuple and value:
        return Shape("tuple", tuple(map(shape_of_value, value)))
    return Shape(_KINDS[kind]) if kind in _KINDS else None


def shape_of_type(declared: object) -> Shape | None:
    """The shape of the values of a type."""
    if isinstance(declared, TupleTypeInfo | RowTypeInfo):
        kind = "tuple" if isinstance(declared, TupleTypeInfo) else "row"
        return Shape(kind, tuple(map(shape_of_type, declared.field_types)))
    if isinstance(declared, BasicTypeInfo):
        kind = "text" if declared.basic_type is BasicType.STRING else "number"
        return Shape(kind) if kind == "text" or declared.basic_type in _NUMBERS else None
    return None


def difference(actual: Shape | None, wanted: Shape | None) -> str:
    """How two shapes differ, as messages say it; "" if they may be the same. A tuple or a dict may stand for a row."""
    if actual is None or wanted is None or (actual.kind == "dict" and wanted.kind == "row"):
        return ""
    if actual.kind != wanted.kind and (actual.kind, wanted.kind) != ("tuple", "row"):
        return f"{actual}, not {wanted}"
    if len(actual.fields) != len(wanted.fields):
        return f"{actual}, not of {len(wanted.fields)}"
    differences = map(difference, actual.fields, wanted.fields)
    return next((f"{text}, as field {index}" for index, text in enumerate(differences) if text), "")
